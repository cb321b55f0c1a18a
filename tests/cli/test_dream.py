"""`reverie dream` and the dream's boundary, in child processes."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.runner import Cli
from tests.fakes.messages_server import MessagesServer
from tests.fakes.script import Reply, Stall, Status, text, tool_use

ENTRY = "# Shop\n- [Clock](clock.md)\n- [Clock](clock.md)\n"
ONCE = "# Shop\n- [Clock](clock.md)\n"
CLOCK = "# Clock\nmonotonic\n"


@pytest.fixture
def memory(cli: Cli) -> Path:
    for name, held in (("MEMORY.md", ENTRY), ("clock.md", CLOCK)):
        done = cli.run("memory", "write", name, "--if-version", "new", stdin=held.encode())
        assert done.code == 0, done.err
    (folder,) = cli.data.glob("projects/*/memory")
    return folder


def texts(memory: Path) -> dict[str, str]:
    return {str(p.relative_to(memory)): p.read_text() for p in memory.rglob("*.md")}


def stage_of(memory: Path) -> Path:
    return memory.with_name("memory-history") / "dreams" / "stage"


def script(server: MessagesServer, memory: Path, name: str, content: str) -> None:
    path = str(stage_of(memory) / name)
    write = {"file_path": path, "content": content, "evidence": "session 1"}
    read = tool_use("Read", {"file_path": path}, "toolu_1")
    server.queue(Reply((read, tool_use("Write", write, "toolu_2")), stop_reason="tool_use"))
    server.say("I said it once.")


def test_a_dream_now_shows_and_is_taken_back(
    cli: Cli, server: MessagesServer, memory: Path
) -> None:
    script(server, memory, "MEMORY.md", ONCE)
    done = cli.run("dream", "now", "--json")
    assert done.code == 0, done.err
    made = done.json
    assert (made["status"], made["files_touched"], made["reason"]) == (
        "completed", ["MEMORY.md"], ""
    )  # fmt: skip
    assert made["usage"]["output_tokens"] > 0 and made["sessions_reviewed"] == 0
    assert texts(memory) == {"MEMORY.md": ONCE, "clock.md": CLOCK}
    shown = cli.run("dream", "show", made["id"][:12])
    assert shown.code == 0 and "-- [Clock](clock.md)" in shown.out and "session 1" in shown.out
    listed = cli.run("dream", "log", "--json").json["dreams"]
    assert [each["id"] for each in listed] == [made["id"]]
    changes = cli.run("memory", "history", "MEMORY.md", "--json").json
    assert "dream" in json.dumps(changes)
    back = cli.run("dream", "revert", made["id"])
    assert (back.code, back.out) == (0, "Taken back: MEMORY.md.\n")
    again = cli.run("dream", "revert", made["id"])
    assert (again.code, again.out) == (0, "Taken back: nothing.\n")
    assert texts(memory) == {"MEMORY.md": ENTRY, "clock.md": CLOCK}
    ledger = cli.run("ledger", "--json").json["days"]
    assert [(each["mechanism"], each["calls"]) for each in ledger] == [("dream", 2)]


def test_the_gates_are_told(cli: Cli, memory: Path) -> None:
    status = cli.run("dream", "status", "--json").json
    assert [gate["name"] for gate in status["gates"]] == [
        "enabled", "idle", "time", "throttle", "sessions", "lock"
    ]  # fmt: skip
    holds = {gate["name"]: gate["holds"] for gate in status["gates"]}
    assert holds == {
        "enabled": True, "idle": True, "time": True, "throttle": True, "sessions": False,
        "lock": True,
    }  # fmt: skip
    assert status["last"] is None
    (memory / ".consolidate-lock").touch()
    assert not cli.run("dream", "status", "--json").json["gates"][2]["holds"]
    assert "closed  sessions" in cli.run("dream", "status").out
    assert cli.run("dream", "--json").json == cli.run("dream", "status", "--json").json


def test_however_it_ends_the_same_keys_are_told(
    cli: Cli, server: MessagesServer, memory: Path
) -> None:
    script(server, memory, "MEMORY.md", ONCE)
    keys = cli.run("dream", "now", "--json").json.keys()
    server.queue(Status(400, "invalid_request_error"))
    failed = cli.run("dream", "now", "--json")
    assert (failed.code, failed.json["status"], failed.json.keys()) == (1, "failed", keys)
    assert failed.json["id"]
    assert cli.run("config", "set", "dream.enabled", "false").code == 0
    skipped = cli.run("dream", "now", "--json")
    assert (skipped.code, skipped.json["status"], skipped.json.keys()) == (3, "skipped", keys)


def test_the_time_of_a_killed_dream_does_not_count(
    cli: Cli, server: MessagesServer, memory: Path
) -> None:
    server.queue(Reply((text("a long dream"),), fault=Stall(1)))
    killed = cli.start("dream", "now")
    while not server.calls:
        time.sleep(0.01)
    killed.kill()
    killed.wait()
    assert (memory / ".consolidate-lock").exists()
    gates = {gate["name"]: gate["holds"] for gate in cli.run("dream", "--json").json["gates"]}
    assert gates["time"] and gates["lock"]
    assert not (memory / ".consolidate-lock").exists()


def test_review_holds_accept_publishes_discard_does_not(
    cli: Cli, server: MessagesServer, memory: Path
) -> None:
    assert cli.run("config", "set", "dream.review", "true").code == 0
    ids: list[str] = []
    for content in ("# Clock\nquartz\n", "# Clock\natomic\n"):
        script(server, memory, "clock.md", content)
        done = cli.run("dream", "now", "--json")
        assert (done.code, done.json["status"]) == (3, "held")
        assert texts(memory)["clock.md"] == CLOCK
        ids.append(done.json["id"])
    assert cli.run("dream", "discard", ids[0], "--json").json["status"] == "discarded"
    assert cli.run("dream", "accept", ids[0]).code == 1
    done = cli.run("dream", "accept", ids[1], "--json")
    assert (done.code, done.json["status"]) == (0, "completed")
    assert texts(memory)["clock.md"] == "# Clock\natomic\n"


def test_a_later_edit_that_conflicts_is_left_and_named(
    cli: Cli, server: MessagesServer, memory: Path
) -> None:
    script(server, memory, "clock.md", "# Clock\nquartz\n")
    made = cli.run("dream", "now", "--json").json
    (memory / "clock.md").write_text("# Clock\nby hand\n")
    done = cli.run("dream", "revert", made["id"], "clock.md")
    assert done.code == 1 and "clock.md" in done.out
    assert texts(memory)["clock.md"] == "# Clock\nby hand\n"


def test_a_living_holder_is_not_disturbed(cli: Cli, server: MessagesServer, memory: Path) -> None:
    server.queue(Reply((text("a long dream"),), fault=Stall(1)))
    first = cli.start("dream", "now", "--json")
    lock = memory / ".consolidate-lock"
    while not server.calls:
        time.sleep(0.01)
    second = cli.run("dream", "now", "--json")
    assert (second.code, second.json["status"]) == (3, "skipped")
    assert str(first.pid) in second.json["reason"]
    first.send_signal(signal.SIGINT)
    ended = cli.wait(first)
    assert (ended.code, json.loads(ended.out)["status"]) == (130, "aborted")
    assert not lock.exists() and texts(memory) == {"MEMORY.md": ENTRY, "clock.md": CLOCK}


def test_without_a_key_the_ways_in_are_named(offline: Cli) -> None:
    done = offline.run("dream", "now")
    assert done.code == 1 and "no key for Claude" in done.err
    told = offline.run("dream", "now", "--json")
    assert (told.code, told.json["status"], told.json["files_touched"]) == (1, "failed", [])


@pytest.mark.parametrize(
    ("tool", "given", "verdict"),
    [
        ("Inspect", "grep -rn clock .", "allow"),
        ("Inspect", "find . -name '*.md' -delete", "deny"),
        ("Inspect", "cat a; rm -rf .", "deny"),
        ("Inspect", "tail -f log", "deny"),
        ("Read", "/etc/passwd", "deny"),
        ("Bash", "ls", "deny"),
        ("WebSearch", "x", "deny"),
        ("Write", "notes.md", "allow"),
        ("Write", '{"file_path": "notes.md"}', "allow"),
        ("Edit", "MEMORY.md", "allow"),
        ("Write", '{"file_path": "notes.md", "content": "x"}', "allow"),
        ("Write", '{"file_path": "../x.md", "content": "x"}', "deny"),
        ("Write", '{"file_path": "run.sh", "content": "x"}', "deny"),
        ("Delete", "MEMORY.md", "allow"),
        ("Delete", ".consolidate-lock", "deny"),
    ],
)
def test_the_boundary_is_asked_without_running_anything(
    cli: Cli, memory: Path, tool: str, given: str, verdict: str
) -> None:
    done = cli.run("permissions", "check", tool, given, "--as", "dream", "--json")
    assert (done.code, done.json["verdict"]) == (0, verdict), done.json
    assert texts(memory) == {"MEMORY.md": ENTRY, "clock.md": CLOCK}


def test_print_mode_never_dreams(cli: Cli, server: MessagesServer, memory: Path) -> None:
    folder: Any = memory.parent
    for number in range(9):
        file = folder / f"{number}1111111-2222-4333-8444-555555555555.jsonl"
        file.write_text("{}\n")
        os.utime(file)
    server.say("hello")
    assert cli.ask("hi").code == 0
    assert len(server.calls) == 1 and not (memory / ".consolidate-lock").exists()
