"""All or nothing: whatever fails, and wherever the process is killed, files are whole."""

from __future__ import annotations

import errno
import os
import shutil
import signal
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from app.agent.rewinder import FilesPart
from app.checkpoints import apply, moves
from app.checkpoints.moves import settle
from app.checkpoints.plan import RewindError, select
from tests.fakes.going_back import GoingBack

CALLS = ("open", "link", "rename", "unlink", "mkdir", "rmdir", "fchmod", "fsync")
"""What a rewind asks of the system: each is a moment at which it may fail or end."""


def prepare(session: GoingBack) -> str:
    """Files to be restored, made, removed, and a folder that gives way."""
    root = session.root
    (root / "edited").write_bytes(b"edited before\n")
    (root / "gone").write_bytes(b"gone before\n")
    (root / "was-file").write_bytes(b"a file before\n")
    (root / "deep" / "er").mkdir(parents=True)
    (root / "deep" / "er" / "lost").write_bytes(b"lost before\n")
    first = session.prompt()
    session.write("edited", b"edited after\n")
    session.write("new/made", b"made after\n")

    def command() -> None:
        (root / "gone").unlink()
        (root / "was-file").unlink()
        (root / "was-file").mkdir()
        (root / "was-file" / "inside").write_bytes(b"inside after\n")
        (root / "deep" / "er" / "lost").unlink()
        (root / "deep" / "er").rmdir()

    session.shell(command)
    return first


def counted(monkeypatch: pytest.MonkeyPatch, act: Callable[[int, str], None]) -> list[int]:
    """Have `act` called before each call of the system that a rewind makes; returns the count."""
    count = [0]

    class System:
        def __getattr__(self, name: str) -> Any:
            real = getattr(os, name)
            if name not in CALLS:
                return real

            def call(*args: Any, **more: Any) -> Any:
                count[0] += 1
                act(count[0], name)
                return real(*args, **more)

            return call

    monkeypatch.setattr(apply, "os", System())
    monkeypatch.setattr(moves, "os", System())
    return count


def moments(session: GoingBack, message: str, monkeypatch: pytest.MonkeyPatch) -> int:
    with monkeypatch.context() as patch:
        count = counted(patch, lambda _number, _name: None)
        session.files(message, with_shell=True)
    session.undo()
    return count[0]


def test_each_failure_leaves_everything_as_it_was(
    session: GoingBack, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = prepare(session)
    before = session.tree()
    session.files(first, with_shell=True)
    after = session.tree()
    session.undo()
    assert session.tree() == before
    failed = 0
    for moment in range(1, moments(session, first, monkeypatch) + 1):

        def fail(number: int, name: str, moment: int = moment) -> None:
            if number == moment:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), name)

        with monkeypatch.context() as patch:
            counted(patch, fail)
            try:
                session.files(first, with_shell=True)
            except RewindError as error:
                failed += 1
                assert error.happened.startswith("Failed to rewind: ")
                assert session.tree() == before, moment
                assert not session.note.exists()
                continue
        assert {k: v for k, v in session.tree().items() if ".reverie-" not in k} == after, moment
        session.undo()
    assert failed > 15


def test_the_disk_fills_up_while_bytes_are_written(
    session: GoingBack, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = prepare(session)
    before = session.tree()
    real = session.store.copy_to

    def full(name: str, target: Any) -> str:
        if isinstance(target, BytesIO):
            return real(name, target)
        target.write(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(session.store, "copy_to", full)
    with pytest.raises(RewindError, match="No space left"):
        session.files(first, with_shell=True)
    assert session.tree() == before
    monkeypatch.setattr(session.store, "copy_to", real)
    session.files(first, with_shell=True)


def test_the_data_folder_is_full(session: GoingBack, monkeypatch: pytest.MonkeyPatch) -> None:
    first = prepare(session)
    before = session.tree()

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("app.checkpoints.blobs.os.fsync", full)
    with pytest.raises(RewindError, match=r"Failed to rewind: .*No space left"):
        session.files(first, with_shell=True)
    assert session.tree() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written(session: GoingBack) -> None:
    first = prepare(session)
    before = session.tree()
    (session.root / "new").chmod(0o555)
    with pytest.raises(RewindError, match="ermission"):
        session.files(first, with_shell=True)
    assert session.tree() == before


def test_a_file_that_changes_while_one_looks_at_the_plan(session: GoingBack) -> None:
    first = session.prompt()
    session.write("a", b"ours")
    session.write("b", b"ours")
    plan = session.plan(first)
    (session.root / "a").write_bytes(b"theirs, in the meantime")
    with pytest.raises(RewindError, match="changed in the meantime"):
        session.run(session.rewinder.rewind(first, "files", FilesPart(plan)))
    assert session.tree()["a"][1] == b"theirs, in the meantime"
    assert session.tree()["b"][1] == b"ours"


def test_a_file_that_appears_in_the_very_moment_is_not_overwritten(
    session: GoingBack, monkeypatch: pytest.MonkeyPatch
) -> None:
    (session.root / "a").write_bytes(b"before")
    first = session.prompt()
    session.shell((session.root / "a").unlink)
    theirs = session.root / "a"

    def appear(_number: int, name: str) -> None:
        if name == "link" and not theirs.exists():
            theirs.write_bytes(b"theirs")

    with monkeypatch.context() as patch:
        counted(patch, appear)
        with pytest.raises(RewindError, match="changed in the meantime"):
            session.files(first, with_shell=True)
    assert theirs.read_bytes() == b"theirs"


def test_bytes_written_to_a_file_that_was_put_aside_are_kept(
    session: GoingBack, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = session.prompt()
    session.write("a", b"ours")
    late = (session.root / "a").open("ab")

    def write_late(_number: int, name: str) -> None:
        if name == "fsync" and not late.closed:
            late.write(b" and theirs")
            late.close()

    with monkeypatch.context() as patch:
        counted(patch, write_late)
        done = session.files(first)
    (kept,) = done.left
    assert Path(kept).read_bytes() == b"ours and theirs"


def test_kill_at_every_moment_is_taken_back_or_completed(
    session: GoingBack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The child is killed; the parent plays the next start, which finds the note."""
    first = prepare(session)
    before = session.tree()
    session.files(first, with_shell=True)
    after = session.tree()
    session.undo()
    last = moments(session, first, monkeypatch)
    taken_back = 0
    recorded = session.data / "recorded"
    for moment in range(1, last + 1):
        recorded.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            try:
                die_at(session, first, moment, recorded, monkeypatch)
            finally:
                os._exit(1)
        assert os.WIFSIGNALED(os.waitpid(child, 0)[1]), moment
        done = settle(session.note, lambda _: recorded.exists())
        if recorded.exists():
            assert session.tree() == after, moment
            restore(session, before)
        else:
            taken_back += done is not None
            assert session.tree() == before, moment
        assert not session.note.exists()
        assert settle(session.note, lambda _: False) is None
    assert taken_back > 20


def die_at(
    session: GoingBack, message: str, moment: int, recorded: Path, patch: pytest.MonkeyPatch
) -> None:
    def die(number: int, _name: str) -> None:
        if number == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    counted(patch, die)
    real = session.tracker.record

    def record(*changes: Any, **more: Any) -> None:
        real(*changes, **more)
        recorded.write_text(changes[0].message)

    patch.setattr(session.tracker, "record", record)
    # The threads of the parent do not live here, so it is done without them.
    steps = select(session.plan_here(message), with_shell=True, force=False).steps
    applied = apply.carry_out(steps, session.store, session.note, "r" * 36)
    record(*applied.changes)
    applied.finish()


def restore(session: GoingBack, before: dict[str, tuple[int, bytes]]) -> None:
    """Put the tree back as it was, for the next moment."""
    for entry in session.root.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    for name, (mode, data) in before.items():
        path = session.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(mode)
