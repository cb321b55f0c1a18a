"""`--rewind-files`: the messages, keys and exit codes of spec/cli.md, with the real program."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from tests.cli.runner import Cli
from tests.fakes.messages_server import MessagesServer
from tests.fakes.script import Gate, Reply, Stall, text, tool_use

SKIP = "--dangerously-skip-permissions"


def play(cli: Cli, server: MessagesServer) -> tuple[str, list[str]]:
    """Two turns: one writes a.txt, the next one changes it, makes b.txt and runs a command."""
    (cli.project / "mine.txt").write_text("mine\n")
    (cli.project / "old.txt").write_text("old\n")
    path = str(cli.project / "a.txt")
    first = tool_use("Write", {"file_path": path, "content": "v1\n"}, "t1")
    server.queue(Reply((first,), stop_reason="tool_use"))
    server.say("done")
    session = cli.run("-p", "write", SKIP, "--output-format", "json").json["session_id"]
    read = tool_use("Read", {"file_path": path}, "t2")
    edit = tool_use("Edit", {"file_path": path, "old_string": "v1", "new_string": "v2"}, "t3")
    made = tool_use("Write", {"file_path": "sub/b.txt", "content": "b\n"}, "t4")
    shell = tool_use("Bash", {"command": "rm old.txt"}, "t5")
    for call in (read, edit, made, shell):
        server.queue(Reply((call,), stop_reason="tool_use"))
    server.say("done again")
    cli.run("-p", "change", SKIP, "--resume", session)
    prompts = [
        each["uuid"] for each in cli.records if each["type"] == "user" and "promptSource" in each
    ]
    return session, prompts


def files(cli: Cli) -> dict[str, str]:
    return {
        str(file.relative_to(cli.project)): file.read_text()
        for file in cli.project.rglob("*")
        if file.is_file()
    }


def rewind(cli: Cli, session: str, uuid: str, *words: str) -> Any:
    return cli.run("--resume", session, "--rewind-files", uuid, *words)


def test_files_go_back_and_forth_again(cli: Cli, server: MessagesServer) -> None:
    session, (first, second) = play(cli, server)
    asked = len(server.calls)
    before = files(cli)
    assert before == {"mine.txt": "mine\n", "a.txt": "v2\n", "sub/b.txt": "b\n"}

    dry = rewind(cli, session, second, "--dry-run")
    assert dry.code == 0
    assert dry.out.splitlines()[:3] == ["filesChanged: 2", "insertions: 1", "deletions: 2"]
    assert "a.txt" in dry.out and "sub/b.txt" in dry.out
    assert "old.txt" in dry.err and "--shell" in dry.err
    assert files(cli) == before

    done = rewind(cli, session, second)
    assert (done.code, done.out) == (0, f"Files rewound to state at message {second}\n")
    assert files(cli) == {"mine.txt": "mine\n", "a.txt": "v1\n"}
    assert not (cli.project / "sub").exists()

    told = rewind(cli, session, first, "--shell", "--output-format", "json").json
    assert files(cli) == {"mine.txt": "mine\n", "old.txt": "old\n"}
    assert told["can_rewind"] is True and told["error"] is None
    assert sorted(told["files_changed"]) == ["a.txt", "old.txt"]
    assert (told["insertions"], told["deletions"]) == (1, 1)
    assert (told["skipped_links"], told["conflicts"]) == ([], [])

    assert rewind(cli, session, told["undo"]).code == 0
    assert files(cli) == {"mine.txt": "mine\n", "a.txt": "v1\n"}
    assert len(server.calls) == asked, "no model request"


def test_a_conflict_changes_nothing_without_force(cli: Cli, server: MessagesServer) -> None:
    session, (first, _) = play(cli, server)
    (cli.project / "a.txt").write_text("by hand\n")
    before = files(cli)
    done = rewind(cli, session, first)
    assert done.code == 1
    assert "Failed to rewind: a.txt" in done.err
    told = rewind(cli, session, first, "--output-format", "json")
    assert told.code == 1
    assert told.json["can_rewind"] is False
    assert told.json["conflicts"] == ["a.txt"]
    assert files(cli) == before
    forced = rewind(cli, session, first, "--force", "--output-format", "json").json
    assert "a.txt" not in files(cli)
    rewind(cli, session, forced["undo"])
    assert files(cli) == before


def test_a_message_without_a_checkpoint(cli: Cli, server: MessagesServer) -> None:
    session, _ = play(cli, server)
    unknown = "99999999-2222-4333-8444-555555555555"
    done = rewind(cli, session, unknown)
    assert (done.code, done.out) == (1, "")
    assert "No file checkpoint found for this message." in done.err
    told = rewind(cli, session, unknown, "--dry-run", "--output-format", "json")
    assert told.code == 1
    assert told.json["error"] == "No file checkpoint found for this message."
    assert told.json["can_rewind"] is False


def test_rewinding_can_be_switched_off(cli: Cli, server: MessagesServer) -> None:
    cli.config.mkdir()
    (cli.config / "settings.toml").write_text("checkpoints = false\n")
    server.say("hello")
    session = cli.run("-p", "hi", "--output-format", "json").json["session_id"]
    done = rewind(cli, session, cli.records[0]["uuid"])
    assert done.code == 1
    assert "File rewinding is not enabled." in done.err


@pytest.mark.parametrize(
    "words",
    [
        ("--rewind-files", "99999999-2222-4333-8444-555555555555"),
        ("--dry-run",),
        ("--resume", "x", "--rewind-files", "y", "--output-format", "stream-json"),
    ],
)
def test_bad_usage(offline: Cli, words: tuple[str, ...]) -> None:
    assert offline.run(*words).code == 2


def test_the_process_that_has_the_session_owns_its_files(cli: Cli, server: MessagesServer) -> None:
    session, (first, _) = play(cli, server)
    gate = Gate()
    server.queue(Reply((text("slowly"),), fault=Stall(2, gate)))
    owner = cli.start("-p", "third", "--resume", session, stdin=subprocess.DEVNULL)
    assert gate.reached.wait(20)
    before = files(cli)
    done = rewind(cli, session, first)
    assert done.code == 1
    assert "open in another process" in done.err
    assert files(cli) == before
    server.say("a branch")
    branch = cli.run("-p", "x", "--resume", session, "--output-format", "json")
    assert "cannot be rewound here" in branch.err
    gate.release()
    cli.wait(owner)


def test_a_fork_shares_the_checkpoints(cli: Cli, server: MessagesServer) -> None:
    session, _ = play(cli, server)
    server.say("in the fork")
    fork = cli.run(
        "-p", "go on", "--resume", session, "--fork-session", "--output-format", "json"
    ).json["session_id"]
    file = next(each for each in cli.transcripts if each.stem == fork)
    copied = [json.loads(line) for line in file.read_text().splitlines()]
    prompts = [r["uuid"] for r in copied if r["type"] == "user" and "promptSource" in r]
    for blob in (file.with_suffix("") / "file-history").iterdir():
        assert blob.stat().st_nlink == 2, "the bytes are on disk once"
    assert rewind(cli, fork, prompts[1]).code == 0
    assert files(cli) == {"mine.txt": "mine\n", "a.txt": "v1\n"}
