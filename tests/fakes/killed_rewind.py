"""Kills a rewind at each of its moments, and looks at what the next start makes of it.

Run as `python -m tests.fakes.killed_rewind FOLDER`: a process of its own, without threads, since it
forks. Prints how many rewinds were taken back and how many completed; ends with 1 and a reason when
one left files in any other state.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.checkpoints import apply, moves
from app.checkpoints.moves import settle
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


Tree = dict[str, tuple[int, bytes]]


def main(folder: Path) -> dict[str, int]:
    (folder / "project").mkdir()
    session = GoingBack(folder / "project", folder / "data")
    message = prepare(session)
    before = session.tree()
    session.files(message, with_shell=True)
    after = session.tree()
    session.undo()
    outcome = {"taken back": 0, "completed": 0}
    recorded = session.data / "recorded"
    for moment in range(1, 1_000):
        recorded.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            die(session, message, moment, recorded)
        if not os.WIFSIGNALED(os.waitpid(child, 0)[1]):
            return outcome  # it had no so many moments
        settle(session.note, lambda _: recorded.exists())
        done = recorded.exists()
        assert session.tree() == (after if done else before), f"moment {moment}"
        assert not session.note.exists(), f"moment {moment}"
        outcome["completed" if done else "taken back"] += 1
        restore(session, before)
    raise AssertionError("it never ended")


def die(session: GoingBack, message: str, moment: int, recorded: Path) -> None:
    def kill(number: int, _name: str) -> None:
        if number == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    counted(pytest.MonkeyPatch(), kill)
    real = session.tracker.record

    def record(*changes: Any, **more: Any) -> None:
        real(*changes, **more)
        recorded.touch()

    session.tracker.record = record
    try:
        session.files(message, with_shell=True)
    finally:
        os._exit(0)


def restore(session: GoingBack, before: Tree) -> None:
    """Put the tree back as it was, for the next moment."""
    for entry in session.root.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    for name, (mode, data) in before.items():
        path = session.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(mode)


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
