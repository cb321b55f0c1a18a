"""`--resume FILE`: a file of any origin is opened as it is, and never written (spec/cli.md)."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.cli.runner import TRANSCRIPTS, Cli
from tests.fakes.history_rules import history_fault
from tests.fakes.messages_server import MessagesServer

FOREIGN = Path(__file__).parents[1] / "data" / "foreign"
FILES = [TRANSCRIPTS / "16-parallel-tools.jsonl", *sorted(FOREIGN.glob("*.jsonl"))]


@pytest.mark.parametrize("source", FILES, ids=lambda file: file.name)
def test_a_file_goes_on_in_a_session_of_ours(
    cli: Cli, server: MessagesServer, tmp_path: Path, source: Path
) -> None:
    file = Path(shutil.copy(source, tmp_path / "theirs.jsonl"))
    before = file.read_bytes()
    server.say("On we go.", "And on.")
    done = cli.ask("go on", "--resume", str(file), "--output-format", "json")
    assert done.code == 0
    assert "its file is only read" in done.err
    assert file.read_bytes() == before
    assert not file.with_suffix(".lock").exists()
    assert history_fault(server.last) is None
    assert len(server.last["messages"]) > 2
    session_id = done.json["session_id"]
    ours = next(each for each in cli.transcripts if each.stem == session_id)
    assert ours.stat().st_mode & 0o777 == 0o600
    ids = {json.loads(line).get("sessionId") for line in ours.read_text().splitlines()}
    assert ids - {None} == {session_id}
    again = cli.ask("and on", "--resume", session_id, "--output-format", "json").json
    assert again["session_id"] == session_id
    assert history_fault(server.last) is None


def test_a_file_that_is_only_looked_at_leaves_nothing(cli: Cli, tmp_path: Path) -> None:
    file = Path(shutil.copy(FILES[0], tmp_path / "theirs.jsonl"))
    assert cli.ask("/cost", "--resume", str(file)).code == 0
    assert cli.transcripts == []


def test_a_path_without_a_file_is_no_session(cli: Cli) -> None:
    done = cli.ask("hi", "--resume", "nowhere/theirs.jsonl")
    assert (done.code, "Invalid session ID" in done.err) == (1, True)


def test_a_file_that_is_no_transcript_is_refused(cli: Cli, server: MessagesServer) -> None:
    (cli.project / "notes.md").write_text("# Notes\n")
    done = cli.ask("hi", "--resume", "notes.md")
    assert (done.code, done.out, len(done.told)) == (1, "", 1)
    assert "is not a transcript" in done.err
    assert server.calls == []
    assert cli.transcripts == []


def test_a_file_beside_a_session_of_ours_is_only_read_too(cli: Cli, server: MessagesServer) -> None:
    first = cli.ask("first", "--output-format", "json").json["session_id"]
    beside = cli.transcripts[0].with_suffix("") / "subagents" / "agent-1.jsonl"
    beside.parent.mkdir(parents=True)
    shutil.copy(FILES[0], beside)
    before = beside.read_bytes()
    done = cli.ask("go on", "--resume", str(beside), "--output-format", "json")
    assert done.code == 0
    assert beside.read_bytes() == before
    assert done.json["session_id"] not in {first, beside.stem}
    assert "its file is only read" in done.err


@pytest.mark.parametrize("name", ["~nosuchperson/x", "a" * 300, "pipe", "folder"])
def test_names_that_are_no_file_are_told_in_a_sentence(cli: Cli, name: str) -> None:
    os.mkfifo(cli.project / "pipe")
    (cli.project / "folder").mkdir()
    for words in (("-p", "hi", "--resume", name), ("sessions", "show", name)):
        done = cli.run(*words)
        assert (done.code, done.out, len(done.told)) == (1, "", 1)
        assert "Invalid session ID" in done.err


def test_debug_goes_with_every_subcommand(cli: Cli) -> None:
    for words in (("--debug", "sessions", "list"), ("sessions", "list", "--debug")):
        assert cli.run(*words).code == 0
