"""All or nothing: whatever fails, and wherever the process is killed, files are whole."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from app.agent.rewinder import FilesPart
from app.checkpoints.plan import RewindError
from tests.fakes.going_back import GoingBack
from tests.fakes.killed_rewind import counted, prepare

ROOT = Path(__file__).parents[3]


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


@pytest.mark.slow
def test_kill_at_every_moment_is_taken_back_or_completed(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "tests.fakes.killed_rewind", str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr.decode()
    outcome = json.loads(done.stdout)
    assert outcome["taken back"] > 15
    assert outcome["completed"] > 3
