"""`--rewind-files`: the messages, keys and exit codes of spec/cli.md, with the real program."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli.runner import Cli
from tests.fakes.messages_server import MessagesServer
from tests.fakes.script import Reply, tool_use

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
