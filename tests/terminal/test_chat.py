from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.messages_server import MessagesServer
from tests.fakes.script import Gate, Reply, Stall, text, thinking, tool_use
from tests.terminal.conftest import READY, Place, answer, spoken
from tests.terminal.terminal import CTRL_C, CTRL_D, DELETE, DOWN, ENTER, ESC, HOME, UP, Terminal

CASES = Path(__file__).parents[1] / "data" / "cases"


def lines_of(case: str, name: str) -> list[dict[str, Any]]:
    (folder,) = CASES.glob(f"{case}-*")
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def bash(command: str, tool_id: str = "toolu_1") -> Reply:
    return Reply((text("I run it."), tool_use("Bash", {"command": command}, tool_id)), "tool_use")


def results_of(server: MessagesServer) -> list[dict[str, Any]]:
    content = spoken(server)[-1]["messages"][-1]["content"]
    return [block for block in content if block["type"] == "tool_result"]


ANSWERS = [
    ("1", False, ""),
    ("2", False, ""),
    ("3", False, ""),
    ("4", True, ""),
    (DOWN + ENTER, False, ""),
    (UP + UP + ENTER, True, ""),
    ("5", True, "not on a Monday"),
]


@pytest.mark.parametrize("keys,refused,reason", ANSWERS, ids=repr)
def test_each_answer_to_a_permission_request(
    place: Place, server: MessagesServer, keys: str, refused: bool, reason: str
) -> None:
    marker = place.folder / "made-by-the-tool"
    server.queue(bash(f"touch {marker.name}"))
    server.say("All done now.")
    terminal = place.serve(server)
    terminal.say("go on").until("Allow once")
    shown = terminal.text
    assert all(word in shown.lower() for word in ("once", "session", "always", "no"))
    assert f"touch {marker.name}" in shown
    terminal.settled().send(keys)
    if reason:
        terminal.until("Why not?").send(reason).until(reason).send(ENTER)
    ended = (
        f"● blocked · you refused: touch {marker.name}" if refused else "● completed · All done now"
    )
    terminal.until("All done now.").until(ended)
    assert marker.exists() is not refused
    (result,) = results_of(server)
    assert bool(result.get("is_error")) is refused
    assert reason in str(result["content"])
    assert place.fault() is None
    assert terminal.quit() == 0


def test_esc_on_a_permission_request_stops_the_turn(place: Place, server: MessagesServer) -> None:
    server.queue(bash("touch never"))
    terminal = place.serve(server)
    terminal.say("go on").until("Allow once").settled().send(ESC).until("interrupted")
    terminal.until(READY)
    server.say("Onwards.")
    terminal.say("and again").until("Onwards.")
    assert not (place.folder / "never").exists()
    assert place.fault() is None


def test_a_partial_answer_stays_and_goes_along(place: Place, server: MessagesServer) -> None:
    gate = Gate()
    long = "The first half is here. " * 10
    server.queue(Reply((text(long),), fault=Stall(12, gate)))
    terminal = place.serve(server)
    terminal.say("tell me").until("The first half is here.")
    gate.reached.wait(5)
    terminal.send("next idea").until("next idea").send(ESC).until("interrupted")
    assert "The first half is here." in terminal.text
    assert "› next idea" in terminal.text
    answer(server, "Second answer.")
    terminal.send(ENTER).until("Second answer.")
    messages = spoken(server)[-1]["messages"]
    assert "The first half is here." in json.dumps(messages)
    assert "next idea" in json.dumps(messages[-1])
    assert place.fault() is None


def test_interrupting_a_command_leaves_no_process(place: Place, server: MessagesServer) -> None:
    server.queue(bash("echo $$ > pid; sleep 300 & echo $! >> pid; wait"))
    terminal = place.serve(server)
    terminal.say("run").until("Allow once").settled().send("1")
    file = place.folder / "pid"
    terminal.until(lambda _: file.exists() and len(file.read_text().split()) == 2)
    terminal.send(ESC).until("interrupted")
    pids = [int(word) for word in file.read_text().split()]
    terminal.until(lambda _: not any(alive(pid) for pid in pids))
    assert place.fault() is None


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_messages_queue_while_the_model_answers(place: Place, server: MessagesServer) -> None:
    gate = Gate()
    server.queue(Reply((text("One moment please, thinking."),), fault=Stall(3, gate), piece=40))
    server.say("Second reply.", "Third reply.")
    terminal = place.serve(server)
    terminal.say("first").until("One moment")
    terminal.say("second").until("queued  second")
    terminal.say("third").until("queued  third")
    terminal.send(UP).gone("queued")
    assert "second" in terminal.text and "third" in terminal.text
    terminal.send(ENTER).until("queued")
    gate.release()
    terminal.until("Second reply.").gone("queued").until("completed")
    assert place.fault() is None


def test_del_drops_a_queued_message(place: Place, server: MessagesServer) -> None:
    gate = Gate()
    server.queue(Reply((text("One moment please, thinking."),), fault=Stall(3, gate), piece=40))
    terminal = place.serve(server)
    terminal.say("first").until("One moment")
    terminal.say("second").until("queued  second")
    terminal.send(DELETE).gone("queued  second")
    gate.release()
    terminal.until("completed")
    assert len(server.calls) == 1


def test_interrupting_returns_what_was_queued(place: Place, server: MessagesServer) -> None:
    server.queue(Reply((text("One moment please, thinking."),), fault=Stall(3), piece=40))
    terminal = place.serve(server)
    terminal.say("first").until("One moment")
    terminal.say("second").until("queued  second")
    terminal.send("draft").until("draft").send(ESC).until("interrupted").gone("queued")
    terminal.until("› second")
    assert "draft" in terminal.text
    assert len(server.calls) == 1


def type_lines(terminal: Terminal, words: str) -> None:
    for number, line in enumerate(words.split("\n")):
        if number:
            terminal.send("\n")
        terminal.send(line)
        terminal.until(line)


def test_ctrl_c_and_ctrl_d_keep_the_draft(place: Place) -> None:
    terminal = place.start("--demo")
    for case in lines_of("B34", "keys.jsonl")[:2]:
        type_lines(terminal, case["type"])
        names = {"ctrl+c": CTRL_C, "up": UP, "home": HOME, "ctrl+d": CTRL_D}
        for name in case["keys"]:
            terminal.send(names[name]).settled()
        for line in case["want_input"].split("\n"):
            terminal.until(line)
        assert "abc def" not in terminal.text
        terminal.send(CTRL_C).settled()
    terminal.send(CTRL_D).until("again to leave")
    assert terminal.exit_code is None
    assert terminal.send(CTRL_D).wait() == 0


def test_a_draft_survives_a_kill(place: Place) -> None:
    terminal = place.start("--demo")
    terminal.send("unsent words of mine").until("unsent words of mine")
    folder = place.places.project(place.folder)
    terminal.until(
        lambda _: any(b"unsent words" in f.read_bytes() for f in folder.rglob("*") if f.is_file())
    )
    terminal.signal(signal.SIGKILL).wait()
    again = place.start("--demo", wait="unsent words of mine")
    again.send(CTRL_C).gone("unsent words of mine").settled()
    again.send(UP).until("unsent words of mine")


BYTES = [row for row in lines_of("B32", "bytes.jsonl") if "newline" in row["want"]]


def test_every_spelling_of_enter(place: Place, server: MessagesServer) -> None:
    terminal = place.serve(server)
    terminal.settled()
    for row in BYTES:
        terminal.send("aq").until("aq").send(row["bytes"]).settled(0.15)
        terminal.send("qb").until("qb")
        shown = [line.strip(" ›") for line in terminal.text.split("\n")]
        assert "aq" in shown and "qb" in shown, (row, terminal.text)
        assert not server.calls, row
        terminal.send(CTRL_C).gone("qb")
    terminal.send("sent by enter").until("sent by enter").send("\r").until("ok")
    assert server.last["messages"][-1]["content"][0]["text"] == "sent by enter"


def test_esc_alone_is_quick_and_a_later_enter_sends(place: Place, server: MessagesServer) -> None:
    terminal = place.serve(server)
    terminal.send("/he").until("/help")
    began = time.monotonic()
    terminal.send(ESC).gone("/help")
    waited = time.monotonic() - began
    assert waited < 5, "esc was held back"
    terminal.send("llo").until("/hello").send(CTRL_C).gone("/hello")
    terminal.send("words").until("words").send(ESC).settled(1.0)
    terminal.send("\r").until("ok")
    assert len(server.calls) == 1


def test_the_rehearsal_shows_thinking_tools_and_a_diff(place: Place) -> None:
    (place.folder / "README.md").write_text("# Project\n")
    terminal = place.start("--demo", columns=120, lines=40)
    terminal.say("look at the files").until("Allow once")
    assert "Write wants to write" in terminal.text
    terminal.settled().send("1").until("completed")
    assert (place.folder / "reverie-rehearsal.md").exists()
    assert place.fault() is None
    assert terminal.quit() == 0


def test_thinking_is_folded(place: Place, server: MessagesServer) -> None:
    server.queue(Reply((thinking("secret steps of thought"), text("The result."))))
    terminal = place.serve(server)
    terminal.say("think").until("The result.").until("completed")
    assert "secret steps" not in terminal.text
    assert "thought" in terminal.text


def test_without_credentials_the_four_ways_are_shown(place: Place) -> None:
    terminal = place.start(wait="rehearsal")
    for words in ("key", "local server", "built-in", "SmolLM2"):
        terminal.until(words)
    terminal.settled().send("4").gone("Welcome")
    terminal.say("hello").until("With a key or a local server")
    terminal.until(lambda t: t.text.split("\n")[0].endswith("rehearsal   default"))
    terminal.until("● completed")
    assert terminal.quit() == 0


def test_the_built_in_model_answers(place: Place) -> None:
    pytest.importorskip("xllamacpp", reason="the built-in model needs xllamacpp")
    weights = os.environ.get("REVERIE_LOCAL_MODEL", "")
    more = {"REVERIE_LOCAL_MODEL": weights} if weights else {}
    terminal = place.start(wait="built-in", more=more)
    terminal.settled().send("3").gone("Welcome")
    ended = ("● completed", "● waiting · asks: ")  # it may well ask something back
    terminal.say("Say hello.").until(
        lambda t: any(words in t.text for words in (*ended, "failed", "missing")), 60
    )
    if not any(words in terminal.text for words in ended):
        pytest.skip("the weights of the built-in model are not here")
    assert place.fault() is None


def test_an_editor_that_fails_leaves_the_app_as_it_was(place: Place) -> None:
    terminal = place.start("--model", "rehearsal", more={"EDITOR": "false"})
    terminal.send("a draft").until("a draft").send("\x07").until("The editor ended with status 1")
    terminal.send(" goes on").until("a draft goes on").send("\x03").settled(0.2)
    assert terminal.quit() == 0
