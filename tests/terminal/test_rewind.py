"""Going back in the installed program, on a real terminal."""

from __future__ import annotations

from tests.fakes.messages_server import MessagesServer
from tests.fakes.script import Reply, tool_use
from tests.terminal.conftest import Place
from tests.terminal.terminal import CTRL_C, ESC


def test_a_file_and_the_conversation_go_back_and_forth(
    place: Place, server: MessagesServer
) -> None:
    made = place.folder / "a.txt"
    for number, text in enumerate(("v1\n", "v2\n")):
        call = tool_use("Write", {"file_path": "a.txt", "content": text}, f"t{number}")
        server.queue(Reply((call,), "tool_use"))
        server.say(f"wrote {text.strip()}")
    terminal = place.serve(server, "--dangerously-skip-permissions")
    terminal.say("write one").until("wrote v1").until("completed")
    terminal.say("write two").until("wrote v2").until("completed")
    assert made.read_text() == "v2\n"
    terminal.settled(0.2).send(ESC).settled(0.1).send(ESC)
    terminal.until("← here").until("enter Switch").send("r")
    terminal.until("Rewind to “write two”").until("Summarise from here").until("not undone")
    terminal.send("3").until("Went back").until(lambda _: made.read_text() == "v1\n")
    terminal.until("› write two")
    terminal.send("\x1bOR").until("enter Switch").send("u")
    terminal.until(lambda _: made.read_text() == "v2\n")
    terminal.until("A rewind was undone").send(ESC).until("wrote v2")
    terminal.send(CTRL_C).settled(0.2)  # the prompt still holds what was said before
    assert terminal.quit() == 0
