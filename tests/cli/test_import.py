from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.cli.import_command import add_import_parser, run_import
from app.cli.parser import Parser
from app.cli.transcript import read_transcript
from app.errors import ReverieError, SessionNotFound, StorageError, UsageError
from app.installation import Installation
from app.paths import Places
from app.sessions.foreign.find import project_key
from app.sessions.foreign.read import read_any
from app.sessions.graph import open_view
from app.sessions.view import request_view
from tests.unit.sessions.foreign_files import CODEX, LINEAR_PI, OLD_CODEX, PI
from tests.unit.sessions.real_files import NO_TRANSCRIPTS, TRANSCRIPTS

CLAUDE = TRANSCRIPTS / "16-parallel-tools.jsonl"
CLAUDE_ID = "1b2c3d4e-0000-4111-8222-abcdefabcdef"
CODEX_ID = "019d4b11-7c20-7a31-9d10-5a0c6f1b2e44"
PI_ID = "0190aa77-5b3e-7d10-8e21-c0ffee123456"


@dataclass
class Desk:
    """An installation whose home folder holds other tools' sessions."""

    home: Path
    folder: Path
    capture: pytest.CaptureFixture[str]

    def __post_init__(self) -> None:
        self.places = Places(self.home / "config", self.home / "data", self.home / "logs")
        self.environment = {"HOME": str(self.home)}

    def run(self, *words: str) -> int:
        parser = Parser(prog="reverie sessions")
        actions = parser.add_subparsers(dest="action", required=True)
        add_import_parser(actions)
        here = Installation(self.places, self.folder, self.environment)
        return run_import(here, parser.parse_args(["import", *map(str, words)]))

    def json(self, *words: str) -> dict[str, Any]:
        self.run(*words, "--json")
        return json.loads(self.capture.readouterr().out)

    @property
    def transcripts(self) -> list[Path]:
        return sorted(self.places.projects.glob("*/*.jsonl"))

    @property
    def files(self) -> list[Path]:
        return [file for file in self.home.rglob("*") if file.is_file()]

    def put(self, source: Path, *place: str, cwd: str | None = None) -> Path:
        """A copy of a session in another tool's folder, as if it had begun in `cwd`."""
        file = self.home.joinpath(*place)
        file.parent.mkdir(parents=True, exist_ok=True)
        content = source.read_bytes()
        if cwd is not None:
            named = next(r.data["cwd"] for r in read_any(content).records if r.data.get("cwd"))
            content = content.replace(json.dumps(named)[1:-1].encode(), cwd.encode())
        file.write_bytes(content)
        return file


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Desk:
    folder = tmp_path / "home" / "orchard"
    folder.mkdir(parents=True)
    return Desk(tmp_path / "home", folder, capsys)


@pytest.mark.parametrize(
    ("source", "origin"),
    [
        (CLAUDE, "claude-code"),
        (CODEX, "codex"),
        (OLD_CODEX, "codex"),
        (PI, "pi"),
        (LINEAR_PI, "pi"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_a_file_becomes_a_session_of_this_project(desk: Desk, source: Path, origin: str) -> None:
    before = source.read_bytes(), source.stat().st_mtime_ns
    assert desk.run(str(source)) == 0
    (file,) = desk.transcripts
    assert file == desk.places.transcript(desk.folder, file.stem)
    assert file.stat().st_mode & 0o777 == 0o600
    imported = read_transcript(file)
    old = open_view(read_any(source.read_bytes()).records)
    new = imported.view
    assert request_view(new.graph, new.leaf).messages == request_view(old.graph, old.leaf).messages
    assert imported.session_id == file.stem
    assert {r.session_id for r in imported.parsed.records} <= {file.stem, None}
    count = sum(1 for r in old.graph.records if r.type in {"user", "assistant"})
    out = desk.capture.readouterr().out
    assert out == f"Imported {source} as {file.stem} ({count} messages)\n"
    head = imported.parsed.records[0].data
    assert head["type"] == "imported-from"
    assert (head["origin"], head["sourcePath"]) == (origin, str(source))
    assert (source.read_bytes(), source.stat().st_mtime_ns) == before


def test_json_names_what_was_imported_and_what_was_not(desk: Desk) -> None:
    first = desk.json(str(PI))
    (entry,) = first["imported"]
    (file,) = desk.transcripts
    assert entry == {
        "session_id": file.stem,
        "source": str(PI),
        "origin": "pi",
        "messages": 20,
        "path": str(file),
    }
    assert first["skipped"] == []
    second = desk.json(str(PI), str(LINEAR_PI))
    assert [each["source"] for each in second["imported"]] == [str(LINEAR_PI)]
    reason = f"already imported as {file.stem}"
    assert second["skipped"] == [{"source": str(PI), "reason": reason}]


def test_a_session_is_imported_once_unless_asked(desk: Desk) -> None:
    assert desk.run(str(CODEX)) == 0
    (file,) = desk.transcripts
    desk.capture.readouterr()
    assert desk.run(str(CODEX)) == 0
    assert desk.transcripts == [file]
    out = desk.capture.readouterr().out
    assert f"already imported as {file.stem}" in out
    assert "--again" in out
    assert desk.run(str(CODEX), "--again") == 0
    assert len(desk.transcripts) == 2


def test_another_project_has_imports_of_its_own(desk: Desk) -> None:
    assert desk.run(str(CODEX)) == 0
    desk.folder = desk.home
    assert desk.run(str(CODEX)) == 0
    assert len(desk.transcripts) == 2


def test_an_imported_session_can_be_imported_itself(desk: Desk) -> None:
    desk.json(str(CODEX))
    (file,) = desk.transcripts
    assert desk.json(str(file))["imported"][0]["origin"] == "claude-code"
    assert desk.run(str(file)) == 0
    assert len(desk.transcripts) == 2


@pytest.mark.parametrize("source", [PI, CLAUDE], ids=lambda file: file.name)
def test_a_file_of_another_tool_than_asked_for_is_refused(desk: Desk, source: Path) -> None:
    with pytest.raises(ReverieError, match="not of Codex"):
        desk.run("--from", "codex", str(CODEX), str(source))
    assert desk.files == []


@pytest.mark.parametrize("name", NO_TRANSCRIPTS[:2])
def test_what_is_no_session_is_refused(desk: Desk, name: str) -> None:
    assert desk.run(str(TRANSCRIPTS / name)) == 1
    assert "is not a session of Claude Code, Codex, pi" in desk.capture.readouterr().err
    assert desk.files == []


def test_a_session_without_messages_is_refused(desk: Desk) -> None:
    file = desk.put(CODEX, "empty.jsonl")
    file.write_bytes(CODEX.read_bytes().splitlines(keepends=True)[0])
    assert desk.run(str(file)) == 1
    assert "holds no messages" in desk.capture.readouterr().err
    assert desk.transcripts == []


def test_what_cannot_be_read_does_not_hold_up_the_rest(desk: Desk) -> None:
    os.mkfifo(desk.folder / "pipe")
    assert desk.run("pipe", "../orchard", str(PI)) == 0
    assert len(desk.transcripts) == 1
    said = desk.capture.readouterr().err.splitlines()
    assert len(said) == 2
    assert all("cannot be read" in line for line in said)
    assert desk.run("pipe") == 1


def test_damage_is_told(desk: Desk) -> None:
    assert desk.run(str(CODEX)) == 0
    assert "line 41: the last record is incomplete" in desk.capture.readouterr().err


def test_a_project_that_cannot_be_written_is_left_as_it_was(desk: Desk) -> None:
    desk.places.data.mkdir()
    desk.places.projects.write_text("in the way")
    assert desk.run(str(CODEX)) == 1
    assert "cannot be made" in desk.capture.readouterr().err
    assert desk.places.projects.read_text() == "in the way"


def test_a_transcript_that_cannot_be_written_leaves_nothing_beside_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = desk.put(CLAUDE, "other", f"{CLAUDE_ID}.jsonl")
    beside = source.with_suffix("") / "subagents" / "agent-1.jsonl"
    beside.parent.mkdir(parents=True)
    beside.write_text("{}")
    before = desk.files

    def full(path: Path, _content: bytes) -> None:
        if path.parent.name == "subagents":
            return
        assert list(path.with_suffix("").rglob("agent-1.jsonl"))
        raise StorageError("The disk is full.")

    monkeypatch.setattr("app.cli.import_command.write_private", full)
    assert desk.run(str(source)) == 1
    assert "The disk is full." in desk.capture.readouterr().err
    assert desk.files == before


AGENT = {"type": "user", "uuid": "a1", "parentUuid": None, "isSidechain": True}
SAID = {"message": {"role": "user", "content": "look around"}}


def test_sub_agents_of_both_layouts_come_along_under_new_ids(desk: Desk) -> None:
    source = desk.put(CLAUDE, "other", f"{CLAUDE_ID}.jsonl")
    inside = source.with_suffix("") / "subagents" / "agent-new.jsonl"
    inside.parent.mkdir(parents=True)
    for file in (inside, source.parent / "agent-0ld.jsonl"):
        file.write_text(json.dumps({**AGENT, **SAID, "sessionId": CLAUDE_ID}) + "\n")
    stranger = source.parent / "agent-els3.jsonl"
    stranger.write_text(json.dumps({**AGENT, **SAID, "sessionId": "another"}) + "\n")
    assert desk.run(str(source)) == 0
    (file,) = desk.transcripts
    agents = sorted((file.with_suffix("") / "subagents").iterdir())
    assert [agent.name for agent in agents] == ["agent-0ld.jsonl", "agent-new.jsonl"]
    for agent in agents:
        record = json.loads(agent.read_text())
        assert record["sessionId"] == file.stem
        assert record["uuid"] != "a1"
        assert record["message"] == SAID["message"]
        assert agent.stat().st_mode & 0o777 == 0o600


def test_texts_name_the_copy_of_what_lies_beside_the_session(desk: Desk) -> None:
    old = f"/home/somebody/.claude/projects/-home-somebody/{CLAUDE_ID}/tool-results/long.txt"
    text = f"<persisted-output>\nSaved to: {old} (2 KB)</persisted-output>"
    line = {
        "type": "user",
        "uuid": "r1",
        "parentUuid": None,
        "sessionId": CLAUDE_ID,
        "message": {"role": "user", "content": text},
        "toolUseResult": {"persistedOutputPath": old},
    }
    source = desk.put(CLAUDE, "other", f"{CLAUDE_ID}.jsonl")
    source.write_text(json.dumps(line) + "\n")
    beside = source.with_suffix("") / "tool-results" / "long.txt"
    beside.parent.mkdir(parents=True)
    beside.write_text("all of it")
    assert desk.run(str(source)) == 0
    (file,) = desk.transcripts
    copy = file.with_suffix("") / "tool-results" / "long.txt"
    assert copy.read_text() == "all of it"
    record = json.loads(file.read_text().splitlines()[-1])
    assert record["toolUseResult"] == {"persistedOutputPath": str(copy)}
    assert record["message"]["content"] == text.replace(old, str(copy))


# by id


def test_a_claude_code_session_is_found_by_its_id_with_what_lies_beside_it(desk: Desk) -> None:
    source = desk.put(CLAUDE, ".claude", "projects", "-x", f"{CLAUDE_ID}.jsonl")
    beside = source.with_suffix("") / "tool-results" / "long.txt"
    beside.parent.mkdir(parents=True)
    beside.write_text("all of it")
    assert desk.run("--from", "claude-code", CLAUDE_ID) == 0
    (file,) = desk.transcripts
    assert (file.with_suffix("") / "tool-results" / "long.txt").read_text() == "all of it"
    assert json.loads(file.read_bytes().split(b"\n")[0])["sourceSessionId"] == CLAUDE_ID


def test_codex_and_pi_sessions_are_found_by_their_ids(desk: Desk) -> None:
    day = (".codex", "sessions", "2026", "04", "02")
    desk.put(CODEX, *day, f"rollout-2026-04-02T08-00-00-{CODEX_ID}.jsonl")
    desk.put(PI, ".pi", "agent", "sessions", "--srv--", f"2026-05-03T09-00-00-000Z_{PI_ID}.jsonl")
    assert desk.run("--from", "codex", CODEX_ID) == 0
    assert desk.run("--from", "pi", PI_ID) == 0
    assert len(desk.transcripts) == 2


def test_the_tools_own_variables_are_followed(desk: Desk) -> None:
    desk.put(CLAUDE, "a", "projects", "-x", f"{CLAUDE_ID}.jsonl")
    desk.put(CODEX, "b", "archived_sessions", f"rollout-2026-04-02T08-00-00-{CODEX_ID}.jsonl")
    desk.put(PI, "c", "sessions", "--srv--", f"2026_{PI_ID}.jsonl")
    for name, folder in (
        ("CLAUDE_CONFIG_DIR", "a"),
        ("CODEX_HOME", "b"),
        ("PI_CODING_AGENT_DIR", "~/c"),
    ):
        value = folder if folder.startswith("~") else str(desk.home / folder)
        desk.environment[name] = value
    for origin, session in (("claude-code", CLAUDE_ID), ("codex", CODEX_ID), ("pi", PI_ID)):
        assert desk.run("--from", origin, session) == 0
    shutil.move(desk.home / "c" / "sessions", desk.home / "d")
    desk.environment["PI_CODING_AGENT_SESSION_DIR"] = str(desk.home / "d")
    assert desk.run("--from", "pi", PI_ID, "--again") == 0


@pytest.mark.parametrize("text", [CODEX_ID, "../x", "*", "x" * 5000, "~nobody-here/x", "a\0b"])
def test_an_unknown_id_is_an_error(desk: Desk, text: str) -> None:
    desk.put(PI, ".codex", "sessions", "rollout-2026.jsonl")
    with pytest.raises(ReverieError):
        desk.run("--from", "codex", text)
    assert desk.transcripts == []


def test_an_id_needs_the_tool_s_name(desk: Desk) -> None:
    with pytest.raises(SessionNotFound, match="--from"):
        desk.run(CODEX_ID)


# all of a folder


def test_all_sessions_of_this_folder_are_imported_oldest_first(desk: Desk) -> None:
    here = str(desk.folder)
    key = project_key(here)
    old = desk.put(CLAUDE, ".claude", "projects", key, f"{CLAUDE_ID}.jsonl", cwd=here)
    new_id = CLAUDE_ID.replace("1b2c", "0000")
    new = desk.put(CLAUDE, ".claude", "projects", key, f"{new_id}.jsonl", cwd=here)
    desk.put(CLAUDE, ".claude", "projects", key, f"{CLAUDE_ID[:-1]}0.jsonl", cwd=here + "-2")
    desk.put(CLAUDE, ".claude", "projects", key, "agent-1234abcd.jsonl", cwd=here)
    os.utime(old, (1, 1))
    os.utime(new, (2, 2))
    found = desk.json("--from", "claude-code")
    assert [entry["source"] for entry in found["imported"]] == [str(old), str(new)]
    assert desk.run("--from", "claude-code") == 0
    assert len(desk.transcripts) == 2


def test_sessions_of_codex_and_pi_are_found_by_the_folder_they_name(desk: Desk) -> None:
    here = str(desk.folder)
    desk.put(CODEX, ".codex", "sessions", "2026", "rollout-1.jsonl", cwd=here)
    desk.put(OLD_CODEX, ".codex", "sessions", "rollout-2.jsonl", cwd=here)
    desk.put(CODEX, ".codex", "sessions", "rollout-3.jsonl")
    desk.put(PI, ".pi", "agent", "sessions", "--x--", "2026_1.jsonl", cwd=here)
    desk.put(LINEAR_PI, ".pi", "agent", "sessions", "--x--", "2026_2.jsonl")
    assert len(desk.json("--from", "codex")["imported"]) == 2
    assert len(desk.json("--from", "pi")["imported"]) == 1


def test_a_folder_that_cannot_exist_is_no_hindrance(desk: Desk) -> None:
    desk.put(CODEX, ".codex", "sessions", "rollout-1.jsonl", cwd="/x\\u0000y")
    desk.put(OLD_CODEX, ".codex", "sessions", "rollout-2.jsonl", cwd="\\ud800")
    with pytest.raises(SessionNotFound):
        desk.run("--from", "codex")
    assert desk.run("--from", "codex", "--all-projects") == 0
    assert len(desk.transcripts) == 2


def test_sessions_of_all_projects_go_to_their_own(desk: Desk) -> None:
    desk.put(CODEX, ".codex", "sessions", "rollout-1.jsonl")
    desk.put(OLD_CODEX, ".codex", "sessions", "rollout-2.jsonl")
    found = desk.json("--from", "codex", "--all-projects")
    for entry, folder in zip(found["imported"], ("/srv/orchard", "/srv/mill"), strict=True):
        wanted = desk.places.transcript(Path(folder), entry["session_id"])
        assert entry["path"] == str(wanted)
        assert wanted.is_file()
    assert desk.run("--from", "codex", "--all-projects") == 0
    assert len(desk.transcripts) == 2


def test_a_folder_without_sessions_is_an_error(desk: Desk) -> None:
    for origin in ("claude-code", "codex", "pi"):
        with pytest.raises(SessionNotFound, match="No session of"):
            desk.run("--from", origin)
    assert desk.files == []


def test_without_anything_named_the_tool_is_asked_for(desk: Desk) -> None:
    with pytest.raises(UsageError, match="--from"):
        desk.run()


@pytest.mark.parametrize(
    ("folder", "key"),
    [
        ("/home/ann/my_app.v2", "-home-ann-my-app-v2"),
        ("/home/ann/café", "-home-ann-caf-"),
        ("/home/ann/cafe\u0301", "-home-ann-caf-"),
        ("/home/ann/🌳", "-home-ann---"),
    ],
)
def test_claude_code_s_folder_names_are_known(folder: str, key: str) -> None:
    assert project_key(folder) == key
