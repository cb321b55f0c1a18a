from __future__ import annotations

import re
import signal
import sys

import pytest

from tests.terminal.conftest import Place
from tests.terminal.terminal import CTRL_C, Terminal

MODES = ("1000", "1002", "1003", "1006", "1015", "1016", "1004", "2004", "1049")


def left_as_it_was(terminal: Terminal) -> list[str]:
    """The modes that the bytes leave set, by their last mention."""
    raw = bytes(terminal.raw).decode("utf-8", "replace")
    last: dict[str, str] = {}
    for numbers, letter in re.findall(r"\x1b\[\?([\d;]+)([hl])", raw):
        for number in numbers.split(";"):
            last[number] = letter
    wrong = [mode for mode in MODES if last.get(mode, "l") != "l"]
    if last.get("25", "h") != "h":
        wrong.append("cursor")
    pushed = len(re.findall(r"\x1b\[>\d+u", raw))
    if pushed != len(re.findall(r"\x1b\[<\d*u", raw)):
        wrong.append("keyboard")
    if raw.count("\x1b[22;2t") != raw.count("\x1b[23;2t"):
        wrong.append("title")
    return wrong


def test_quitting_leaves_the_terminal_as_it_was(place: Place) -> None:
    terminal = place.start("--demo")
    assert terminal.quit() == 0
    assert left_as_it_was(terminal) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_the_terminal_as_it_was(place: Place, number: int) -> None:
    terminal = place.start("--demo")
    terminal.send("unsent words").until("unsent words")
    assert terminal.signal(number).wait() == 128 + number
    assert left_as_it_was(terminal) == []


CRASH = """
import sys
from widgets.conversation.conversation import Conversation
def broken(self, step):
    raise LookupError("broken on purpose")
Conversation.action_cursor = broken
sys.argv = ["reverie", "--demo"]
from app.__main__ import main
main()
"""


def script(place: Place, text: str, wait: str) -> Terminal:
    words = [sys.executable, "-c", text]
    terminal = Terminal(words, place.folder, place.environment({}))
    place.running.append(terminal)
    return terminal.until(wait) if wait else terminal


def test_a_crash_leaves_the_terminal_as_it_was(place: Place) -> None:
    terminal = script(place, CRASH, "enter Send")
    terminal.say("hello").until("completed")
    terminal.send("\t").until("tab Prompt")
    assert terminal.send("k").wait() == 1
    assert left_as_it_was(terminal) == []
    assert b"broken on purpose" in terminal.raw


NO_START = """
import sys
from app.controller import Controller
async def broken(self):
    raise LookupError("broken on purpose")
Controller.start = broken
sys.argv = ["reverie", "--demo"]
from app.__main__ import main
main()
"""


def test_a_fault_while_starting_ends_the_app(place: Place) -> None:
    terminal = script(place, NO_START, "")
    assert terminal.wait() == 1
    assert left_as_it_was(terminal) == []
    assert b"broken on purpose" in terminal.raw


def test_broken_settings_are_named_and_the_app_starts(place: Place) -> None:
    place.places.config.mkdir()
    (place.places.config / "settings.toml").write_text("model = [unclosed\ntheme = 7\n")
    terminal = place.start("--demo", wait="settings.toml")
    assert "Traceback" not in terminal.text
    assert terminal.quit() == 0


def test_wrong_settings_are_named_and_the_rest_counts(place: Place) -> None:
    place.places.config.mkdir()
    (place.places.config / "settings.toml").write_text('theme = "dawn"\nno_such_key = 1\n')
    terminal = place.start("--demo", wait="no_such_key")
    assert terminal.quit() == 0


def test_a_data_folder_that_cannot_be_used_is_said(place: Place) -> None:
    place.places.data.write_text("a file where a folder should be")
    terminal = place.start("--demo", wait="")
    terminal.until(lambda t: t.exit_code is not None or "enter Send" in t.text)
    if terminal.exit_code is None:
        terminal.say("hello").until(lambda t: "cannot" in t.text or "not be" in t.text)
        terminal.settled()
        terminal.quit()
    assert b"Traceback" not in terminal.raw


def test_a_deleted_working_folder_is_said(place: Place) -> None:
    gone = place.folder / "gone"
    gone.mkdir()
    text = (
        f"import os, sys; os.chdir({str(gone)!r}); os.rmdir({str(gone)!r}); "
        "sys.argv = ['reverie', '--demo']; from app.__main__ import main; main()"
    )
    terminal = script(place, text, "")
    assert terminal.wait() == 1
    assert "does not exist any more" in terminal.text
    assert "Traceback" not in terminal.text


PLAIN = [
    {"NO_COLOR": "1"},
    {"TERM": "linux"},
    {"TERM": "xterm-16color"},
    {"TERM": "dumb"},
]


@pytest.mark.parametrize("more", PLAIN, ids=lambda more: "-".join(more.values()))
def test_a_plain_terminal_can_chat(place: Place, more: dict[str, str]) -> None:
    terminal = place.start("--demo", columns=80, lines=24, more=more)
    terminal.say("hello").until("With a key or a local server").until("completed")
    assert terminal.quit() == 0
    assert left_as_it_was(terminal) == []


def test_a_very_small_terminal_can_chat(place: Place) -> None:
    terminal = place.start("--demo", columns=20, lines=5, wait="›")
    terminal.settled()
    terminal.say("hello")
    terminal.until(lambda t: len(place.transcripts()) == 1)
    terminal.settled(1.0)
    terminal.send(CTRL_C).settled()
    terminal.send(CTRL_C)
    assert terminal.wait() == 0
