"""Focus, title and suggestions in the installed program."""

from __future__ import annotations

from tests.fakes.messages_server import MessagesServer
from tests.terminal.conftest import Place

FOCUS_IN, FOCUS_OUT = "\x1b[I", "\x1b[O"


def test_a_bare_terminal_is_watched_by_its_keys_until_it_tells_its_focus(
    place: Place, server: MessagesServer
) -> None:
    server.say("Which clock do you mean?", "Mended the clock.", "run the tests again")
    keys = {"ANTHROPIC_BASE_URL": server.base_url, "ANTHROPIC_API_KEY": "sk-ant-test"}
    terminal = place.start(columns=160, more=keys | {"REVERIE_ENABLE_PROMPT_SUGGESTION": "1"})
    terminal.say("look at the clock").until("waiting · asks").until("away by idle keys")
    assert terminal.screen.title == "? look at the clock"
    terminal.send(FOCUS_OUT).settled(0.2).send(FOCUS_IN).gone("away by idle keys")
    terminal.say("the one of the session").until("run the tests again").until("tab accept")
    assert terminal.screen.title.startswith("✓ ")
    terminal.send("\t").gone("tab accept").send(" please").until("run the tests again please")
    assert len(server.calls) == 3
    terminal.send("\x03").settled(0.2)
    assert terminal.quit() == 0
