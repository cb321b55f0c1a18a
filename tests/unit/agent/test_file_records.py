"""What transcripts tell of files: Claude Code's both forms, ours, and what a fork takes along."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.agent.file_records import history_records, lefts_of, load_history
from app.checkpoints.blobs import BlobStore
from app.checkpoints.planning import make_plan
from app.checkpoints.states import state_of
from app.sessions.codec import parse_transcript
from app.sessions.foreign.adopt import adopt
from app.sessions.graph import MessageGraph
from app.sessions.prompts import CUT_OFF_RESULT
from app.sessions.records import Record, new_record
from tests.unit.sessions.real_files import EXPECTED, NO_TRANSCRIPTS, TRANSCRIPTS

V1, V2 = "0123456789abcdef@v1", "0123456789abcdef@v2"


def prompt(uuid: str, cwd: Path) -> Record:
    message = {"role": "user", "content": "go"}
    return new_record(
        {"type": "user", "uuid": uuid, "parentUuid": None, "cwd": str(cwd), "message": message}
    )


def snapshot(message: str, backups: dict[str, str | None], **more: Any) -> Record:
    entries = {path: {"backupFileName": name, "version": 1} for path, name in backups.items()}
    inner = {"messageId": message, "trackedFileBackups": entries, "timestamp": "t"}
    return new_record(
        {"type": "file-history-snapshot", "messageId": message, "snapshot": inner, **more}
    )


def delta(message: str, path: str, name: str | None) -> Record:
    return new_record(
        {
            "type": "file-history-delta",
            "messageId": "some-call",
            "snapshotMessageId": message,
            "trackingPath": path,
            "backup": {"backupFileName": name, "version": 1, "backupTime": "t"},
            "timestamp": "t",
        }
    )


def written(path: Path, content: str) -> Record:
    block = {"type": "tool_result", "tool_use_id": "t", "content": "ok"}
    return new_record(
        {
            "type": "user",
            "uuid": f"result-{content}",
            "parentUuid": None,
            "message": {"role": "user", "content": [block]},
            "toolUseResult": {"type": "create", "filePath": str(path), "content": content},
        }
    )


@pytest.mark.parametrize("form", ["snapshot", "delta"])
def test_both_forms_of_claude_code_are_read(tmp_path: Path, form: str) -> None:
    changed = (
        snapshot("p2", {"a.txt": V2, "new.txt": None}, isSnapshotUpdate=True)
        if form == "snapshot"
        else delta("p2", "a.txt", V2)
    )
    graph = MessageGraph(
        [
            snapshot("p1", {"a.txt": V1}),
            prompt("p1", tmp_path),
            written(tmp_path / "a.txt", "two"),
            snapshot("p2", {}),
            prompt("p2", tmp_path),
            changed,
            written(tmp_path / "a.txt", "three"),
        ]
    )
    store = BlobStore(tmp_path / "file-history")
    store.folder.mkdir()
    (store.folder / V1).write_bytes(b"one")
    (store.folder / V2).write_bytes(b"two")
    (tmp_path / "a.txt").write_bytes(b"three")
    history = load_history(graph)
    assert history.restorable() == {"p1", "p2"}

    (step,) = make_plan(history, store, "p2", (tmp_path,), lefts_of(graph)).steps
    assert (step.path, step.blob, step.problem) == (str(tmp_path / "a.txt"), V2, "")
    (step,) = make_plan(history, store, "p1", (tmp_path,), lefts_of(graph)).steps
    assert (step.blob, step.problem) == (V1, "")

    (tmp_path / "a.txt").write_bytes(b"by hand")
    (step,) = make_plan(history, store, "p1", (tmp_path,), lefts_of(graph)).steps
    assert step.problem == "changed"
    (step,) = make_plan(history, store, "p1", (tmp_path,)).steps
    assert step.problem == "unknown"


def test_a_backup_that_was_pruned_is_said(tmp_path: Path) -> None:
    graph = MessageGraph([snapshot("p1", {"a.txt": V1}), prompt("p1", tmp_path)])
    (tmp_path / "a.txt").write_bytes(b"now")
    plan = make_plan(load_history(graph), BlobStore(tmp_path / "x"), "p1", (tmp_path,))
    assert [step.problem for step in plan.steps] == ["missing"]


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../outside.txt", "sub/../../outside.txt", ".git/config", "a/.git/hooks/x"],
)
def test_a_foreign_path_outside_the_project_needs_a_word(tmp_path: Path, path: str) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "outside.txt").write_bytes(b"theirs")
    for name in (".git/config", "a/.git/hooks/x"):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_bytes(b"theirs")
    graph = MessageGraph([snapshot("p1", {path: None}), prompt("p1", root)])
    theirs = {str(root / path): state_of(str(root / path)), path: state_of(path)}
    plan = make_plan(load_history(graph), BlobStore(tmp_path / "x"), "p1", (root,), theirs)
    assert [bool(step.problem) for step in plan.steps] == [True]


@pytest.mark.parametrize("name", ["../../secret", "x" * 64, "/etc/passwd", 7, "0123@v1", ["x"]])
def test_a_name_that_no_backup_has_is_left_out(tmp_path: Path, name: Any) -> None:
    graph = MessageGraph([snapshot("p1", {"a.txt": name}), prompt("p1", tmp_path)])
    assert load_history(graph).changes == []


@pytest.mark.parametrize("name", [name for name in EXPECTED if name not in NO_TRANSCRIPTS])
def test_real_histories_are_read_and_forked(name: str) -> None:
    records = parse_transcript((TRANSCRIPTS / name).read_bytes()).records
    history = load_history(MessageGraph(records))
    renamed = {uuid: f"new-{uuid}" for uuid, _ in history.points()}
    again = load_history(MessageGraph(history_records(history, renamed, "s", "t")))
    assert again.restorable() == set(renamed.values())
    assert [c.path for c in again.changes] == [c.path for c in history.live()]
    for uuid, new in renamed.items():
        before = {path: c[0].blob for path, c in history.since(uuid).items()}
        assert {path: c[0].blob for path, c in again.since(new).items()} == before


def called(uuid: str, tool_id: str, command: str) -> Record:
    block = {"type": "tool_use", "id": tool_id, "name": "Bash", "input": {"command": command}}
    message = {"role": "assistant", "id": uuid, "content": [block]}
    return new_record({"type": "assistant", "uuid": uuid, "parentUuid": "p1", "message": message})


def answered(tool_id: str, content: str, **more: Any) -> Record:
    block = {"type": "tool_result", "tool_use_id": tool_id, "content": content}
    message = {"role": "user", "content": [block]}
    uuid = f"r-{tool_id}"
    return new_record(
        {"type": "user", "uuid": uuid, "parentUuid": "p1", "message": message, **more}
    )


def test_commands_whose_changes_nobody_saw_are_told(tmp_path: Path) -> None:
    gap = {"type": "file-history-gap", "snapshotMessageId": "p1", "what": "make", "reason": "large"}
    graph = MessageGraph(
        [
            snapshot("p0", {}),
            called("a0", "t0", "before"),
            snapshot("p1", {}),
            prompt("p1", tmp_path),
            called("a1", "t1", "killed"),
            called("a2", "t2", "made a result later"),
            called("a3", "t3", "ended"),
            called("a4", "t4", "was never run"),
            new_record(gap),
            answered("t2", CUT_OFF_RESULT),
            answered("t3", CUT_OFF_RESULT, toolUseResult={"stdout": "", "interrupted": False}),
            answered("t4", "The call was too long."),
        ]
    )
    history = load_history(graph)
    assert history.gaps_since("p1") == ("killed", "made a result later", "make")
    plan = make_plan(history, BlobStore(tmp_path / "x"), "p1", (tmp_path,))
    assert plan.untracked == ("killed", "made a result later", "make")
    fork = load_history(MessageGraph(history_records(history, {"p1": "q1"}, "s", "t")))
    assert fork.gaps_since("q1") == plan.untracked


def test_an_imported_history_cannot_pass_for_our_own(tmp_path: Path) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_bytes(b"mine")
    ours = delta("p1", str(mine), None).data | {
        "by": "tool",
        "left": {"kind": "file", "sha256": state_of(str(mine)).sha256, "size": 4},
        "madeFolders": [str(tmp_path)],
    }
    records = [snapshot("p1", {}), prompt("p1", tmp_path), new_record(ours)]
    own = make_plan(load_history(MessageGraph(records)), BlobStore(tmp_path), "p1", (tmp_path,))
    assert [step.problem for step in own.steps] == [""]

    adopted = adopt(records, session_id="s", new_uuid=iter(["new"] * 9).__next__)
    history = load_history(MessageGraph(adopted))
    (uuid,) = history.restorable()
    (step,) = make_plan(history, BlobStore(tmp_path), uuid, (tmp_path,)).steps
    assert (step.problem, step.writers, step.folders) == ("unknown", ("unknown",), ())


@pytest.mark.parametrize("path", ["\udcff\ud800x", "a\0b", "", 7, None, ["a"]])
def test_a_path_that_no_file_has_is_left_out(tmp_path: Path, path: Any) -> None:
    graph = MessageGraph([prompt("p1", tmp_path), delta("p1", path, None)])
    assert load_history(graph).changes == []
