"""Memory in the installed program: the model notes, the person edits and leaves."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.messages_server import MessagesServer
from tests.fakes.script import Reply, tool_use
from tests.terminal.conftest import READY, Place
from tests.terminal.terminal import ESC, Terminal

F4, CTRL_S = "\x1bOS", "\x13"


def memory_of(place: Place) -> Path:
    (folder,) = place.places.data.glob("projects/*/memory")
    return folder


def text_of(place: Place, name: str) -> str:
    file = memory_of(place) / name
    return file.read_text() if file.exists() else ""


def test_a_note_is_allowed_and_another_one_written_by_hand(
    place: Place, server: MessagesServer
) -> None:
    note = {"command": "create", "path": "/memories/wrong.md", "file_text": "# Wrong\n"}
    server.queue(Reply((tool_use("memory", note, "t1"),), "tool_use"))
    server.say("noted")
    terminal: Terminal = place.serve(server)
    terminal.say("remember this").until("wants to change what is remembered").until("# Wrong")
    terminal.settled(0.4).send("1").until("noted").until("completed")
    assert text_of(place, "wrong.md") == "# Wrong\n"
    terminal.until("x strike").send(F4).until("orphan")
    terminal.until("MEMORY.md   0 / 200 lines, 0 / 25 000 units")
    terminal.send("n").until("name of the new document").send("\r").until("ctrl+s Save")
    terminal.send("# Shop", CTRL_S).until("Saved MEMORY.md")
    assert text_of(place, "MEMORY.md") == "# Shop"
    terminal.send("x").until("unsaved").send(ESC).settled(0.2).send(ESC)
    terminal.until("Leave the memory?").send("2").gone("Leave the memory?").until(READY)
    assert text_of(place, "MEMORY.md") == "# Shop"
    assert terminal.quit() == 0
