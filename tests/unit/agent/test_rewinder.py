"""Rewinds as records: what counts, what is undone, and what an end in the middle leaves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.agent.file_tracker import BROKEN_OFF
from app.agent.rewinder import NOTHING_TO_UNDO, WENT_ON, FilesPart, last_rewind
from app.checkpoints.history import MOST_CHECKPOINTS
from app.checkpoints.plan import RewindError
from app.errors import StorageError
from app.installation import Options
from app.sessions.graph import open_view
from app.sessions.journal import Journal
from app.sessions.records import new_record
from tests.fakes.going_back import GoingBack
from tests.fakes.provider import calls, reply
from tests.fakes.stage import SESSION, stage

FREE = Options(mode="bypassPermissions")


@pytest.fixture
def session(tmp_path: Path) -> Iterator[GoingBack]:
    (tmp_path / "project").mkdir()
    made = GoingBack(tmp_path / "project", tmp_path / "data")
    yield made
    made.close()


def bytes_of(session: GoingBack) -> dict[str, bytes]:
    return {name: data for name, (_, data) in session.tree().items()}


class FullLog:
    """A disk that is full from some moment on."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.is_full = False

    def append(self, lines: Any) -> None:
        if self.is_full:
            raise StorageError("The disk is full.")
        self.lines += lines

    def read(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)

    def sync(self) -> None:
        pass

    def close(self) -> None:
        pass


def test_a_rewind_that_cannot_be_written_down_is_taken_back(session: GoingBack) -> None:
    log = FullLog()
    session.talk.journal = Journal("s", log)
    first = session.prompt()
    session.write("a", b"one")
    log.is_full = True
    written, length = list(log.lines), session.talk.view.length
    with pytest.raises(RewindError, match=r"Failed to rewind: The disk is full") as told:
        session.files(first)
    assert "Nothing was changed" in str(told.value)
    assert bytes_of(session) == {"a": b"one"}
    assert not session.note.exists()
    assert (log.lines, session.talk.view.length) == (written, length)
    assert session.talk.journal.unsaved == 0
    log.is_full = False
    session.prompt()
    assert b'"rewind"' not in log.read()
    session.files(first)
    assert bytes_of(session) == {}


async def test_a_rewind_that_is_cancelled_is_carried_through(tmp_path: Path) -> None:
    play = await stage(
        tmp_path,
        calls(("Write", {"file_path": "a.txt", "content": "v1\n"}, "t1")),
        reply("done", 2),
        options=FREE,
    )
    await play.turn("write")
    rewinder = play.runtime.rewinder
    (prompt,) = [r.uuid or "" for r in play.records() if r.data.get("promptSource") == "typed"]
    plan = await rewinder.plan(prompt)
    work = asyncio.create_task(rewinder.rewind(prompt, "files", FilesPart(plan)))
    await asyncio.sleep(0)
    work.cancel()
    done = await work
    assert not (play.here.folder / "a.txt").exists()
    assert done.uuid in [record.uuid for record in play.records()]
    assert not (play.file.with_suffix("") / "rewind.json").exists()
    await rewinder.undo()
    assert (play.here.folder / "a.txt").read_text() == "v1\n"
    await play.runtime.close()


def test_undo_does_nothing_but_undo_the_rewind(session: GoingBack) -> None:
    first = session.prompt()
    session.write("a", b"1")
    session.write("b", b"1")
    session.files(first)
    (session.root / "mine").write_bytes(b"mine")
    session.shell(lambda: (session.root / "made").write_bytes(b"made"))
    session.undo()
    assert bytes_of(session) == {"a": b"1", "b": b"1", "mine": b"mine", "made": b"made"}


def test_undo_stops_at_what_was_written_since(session: GoingBack) -> None:
    first = session.prompt()
    session.write("a", b"1")
    second = session.prompt()
    session.write("a", b"2")
    session.files(second)
    session.prompt()
    session.write("a", b"3")
    with pytest.raises(RewindError, match="Failed to rewind"):
        session.undo()
    assert bytes_of(session) == {"a": b"3"}
    session.files(first)
    session.undo()
    assert bytes_of(session) == {"a": b"3"}


def test_undo_of_a_conversation_stops_when_it_has_gone_on(session: GoingBack) -> None:
    session.prompt("one")
    second = session.prompt("two")
    session.run(session.rewinder.rewind(second, "conversation"))
    session.prompt("another two")
    with pytest.raises(RewindError) as told:
        session.undo()
    assert told.value.happened == WENT_ON


def test_going_back_to_before_an_undo_can_be_undone_too(session: GoingBack) -> None:
    first = session.prompt()
    session.write("a", b"1")
    session.files(first)
    undone = session.undo()
    session.files(undone.uuid)
    assert bytes_of(session) == {}
    session.undo()
    assert bytes_of(session) == {"a": b"1"}


def test_each_step_back_is_undone_in_its_turn(session: GoingBack) -> None:
    first = session.prompt()
    session.write("a", b"1")
    second = session.prompt()
    session.write("a", b"2")
    third = session.prompt()
    session.write("a", b"3")
    back = session.files(third)
    session.files(second)
    session.files(back.uuid)
    assert bytes_of(session) == {"a": b"3"}
    for wanted in (b"1", b"2", b"3"):
        session.undo()
        assert bytes_of(session) == {"a": wanted}
    with pytest.raises(RewindError) as told:
        session.undo()
    assert told.value.happened == NOTHING_TO_UNDO
    session.files(first)


def test_to_where_one_is_writes_nothing(session: GoingBack) -> None:
    session.prompt()
    session.write("a", b"1")
    last = session.prompt()
    length = session.talk.view.length
    assert session.files(last).uuid == ""
    assert session.talk.view.length == length
    assert last_rewind(session.talk.view.graph) is None


def test_going_back_and_forth_costs_no_checkpoint(session: GoingBack) -> None:
    first = session.prompt()
    session.write("a", b"1")
    for _ in range(MOST_CHECKPOINTS):
        session.files(first)
        session.undo()
    session.files(first)
    assert bytes_of(session) == {}


def test_a_write_that_never_came_is_no_conflict(session: GoingBack) -> None:
    (session.root / "a").write_bytes(b"0")
    first = session.prompt()
    session.write("a", b"1")
    target = session.root / "a"
    session.run(session.tracker.keep(target, b"2", what="Write", old=b"1"))
    (step,) = session.plan(first).steps
    assert (step.problem, step.writers) == ("", ("tool",))
    session.files(first)
    assert bytes_of(session) == {"a": b"0"}


def test_a_rewound_session_opens_where_it_was_left(session: GoingBack) -> None:
    session.prompt("one")
    second = session.prompt("two")
    session.run(session.rewinder.rewind(second, "conversation"))
    read = open_view([new_record(r.data) for r in session.talk.view.graph.records])
    assert read.leaf_uuid == session.talk.leaf
    first = read.graph.records[read.leaf or 0].uuid or ""
    session.run(session.rewinder.rewind(first, "conversation"))
    read = open_view([new_record(r.data) for r in session.talk.view.graph.records])
    assert (read.leaf, session.talk.leaf) == (None, None)


async def test_any_start_in_the_project_ends_what_a_kill_left(tmp_path: Path) -> None:
    play = await stage(tmp_path, reply("done"))
    await play.turn("go")
    await play.runtime.close()
    root = play.here.folder
    aside = root / ".reverie-cut-0.old"
    aside.write_text("what a.txt held")
    state = {"kind": "file", "sha256": "0" * 64, "size": 3, "mode": 420, "names": 1}
    move = {
        "path": str(root / "a.txt"),
        "aside": str(aside),
        "staged": None,
        "now": state,
        "then": {"kind": "absent"},
    }
    note = play.file.with_suffix("") / "rewind.json"
    note.parent.mkdir(exist_ok=True)
    note.write_text(json.dumps({"rewind": "cut", "moves": [move], "folders": []}))
    other = Options(session_id="33333333-2222-4333-8444-555555555555")
    again = await stage(tmp_path, options=other)
    assert (root / "a.txt").read_text() == "what a.txt held"
    assert "a rewind of 1 file was cut off" in " ".join(again.runtime.opened.session.warnings)
    assert not note.exists() and SESSION in play.file.name
    await again.runtime.close()


async def test_a_note_that_cannot_be_read_is_kept_and_told(tmp_path: Path) -> None:
    play = await stage(tmp_path, reply("done"))
    await play.turn("go")
    await play.runtime.close()
    note = play.file.with_suffix("") / "rewind.json"
    note.parent.mkdir(exist_ok=True)
    note.write_text("{")
    again = await stage(tmp_path, options=Options(resume=play.file))
    assert "cannot be read" in " ".join(again.runtime.opened.session.warnings)
    assert note.with_name("rewind.damaged.json").read_text() == "{"
    await again.runtime.close()


def test_what_somebody_wrote_is_theirs_also_after_a_rewind_brought_it_back(
    session: GoingBack,
) -> None:
    first = session.prompt()
    session.write("a", b"ours")
    (session.root / "a").write_bytes(b"theirs")
    session.files(first, force=True)
    session.undo()
    assert bytes_of(session) == {"a": b"theirs"}
    with pytest.raises(RewindError):
        session.files(first)
    assert bytes_of(session) == {"a": b"theirs"}


def test_an_undo_with_nothing_left_to_do_makes_room_for_the_one_before(
    session: GoingBack,
) -> None:
    first = session.prompt()
    session.write("a", b"1")
    session.write("b", b"1")
    second = session.prompt()
    session.write("b", b"2")
    session.files(second)
    session.files(first)
    session.write("a", b"1")
    session.write("b", b"1")
    session.undo()
    session.undo()
    assert bytes_of(session) == {"a": b"1", "b": b"2"}


def test_a_file_and_a_file_beneath_it_cannot_both_come_back(session: GoingBack) -> None:
    root = session.root
    session.write("a", b"a file")
    point = session.prompt()
    session.shell((root / "a").unlink)
    (root / "a").mkdir()
    (root / "a" / "x").write_bytes(b"theirs")
    session.shell((root / "a" / "x").unlink)
    before = session.tree()
    with pytest.raises(RewindError, match="a/x"):
        session.files(point, with_shell=True, force=True)
    assert session.tree() == before


async def test_backups_that_cannot_be_copied_hold_up_no_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> int:
        raise StorageError("The disk is full.")

    monkeypatch.setattr("app.agent.file_tracker.copy_backups", full)
    source = tmp_path / "theirs.jsonl"
    said = {"type": "user", "uuid": "u", "parentUuid": None, "sessionId": "x", "cwd": "/"}
    said["message"] = {"role": "user", "content": "before"}
    source.write_bytes(new_record(said).raw + b"\n")
    play = await stage(tmp_path, reply("On.", 2), options=Options(resume=source))
    assert (await play.turn("go on")).outcome == "completed"
    assert "Backups of files were not copied. The disk is full." in play.told
    await play.runtime.close()


def test_a_command_that_is_broken_off_while_one_looks_is_told(
    session: GoingBack, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = session.prompt()

    def cancelled(_: Any) -> Any:
        raise asyncio.CancelledError

    monkeypatch.setattr("app.checkpoints.watch.FolderWatch.after", cancelled)
    with pytest.raises(asyncio.CancelledError):
        session.shell(lambda: (session.root / "made").write_bytes(b"x"), "make things")
    assert session.plan(first).untracked == ("make things",)
    assert BROKEN_OFF in session.told
