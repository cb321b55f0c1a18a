"""One owner of a live session: who writes a transcript, and whether that process still lives.

The lock file `<session-id>.lock` names the holder (pid and start time); the lock itself is the
kernel's, so that it ends with its process whatever kills it (spec/sessions.md, Resume 4).
"""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from app.errors import ReverieError, StorageError
from app.paths import make_private_folder

_SAME_START = 1.0
"""Seconds by which two readings of one process's start may differ."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that owns a session; `pid` 0 when the lock file does not say."""

    pid: int
    started: float
    """Seconds since the epoch."""


class Ownership:
    """The right to append to one transcript; ends with `release` or with the process."""

    def __init__(self, descriptor: int, file: Path) -> None:
        self._descriptor: int | None = descriptor
        self._file = file

    def release(self) -> None:
        """Give the session up; releasing twice is harmless."""
        if self._descriptor is not None:
            self._file.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None


def lock_file(transcript: Path) -> Path:
    """Where the owner of a transcript is named."""
    return transcript.with_suffix(".lock")


def own(transcript: Path) -> Ownership | Holder:
    """Become the owner of a transcript, or learn who is.

    Raises `StorageError` when the folder cannot be made and `OSError` when it cannot be written.
    """
    file = lock_file(transcript)
    make_private_folder(file.parent)
    while True:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(file, flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _read_holder(descriptor)
            os.close(descriptor)
            return holder
        if _is_still(file, descriptor):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, json.dumps(_myself()).encode(), 0)
            return Ownership(descriptor, file)
        os.close(descriptor)  # its owner removed the file between our opening and locking it


def claim(transcript: Path, kept: str) -> Ownership:
    """Become the owner for the moment of one change.

    Raises `ReverieError`, with `kept` in it, when another one is, and `StorageError` when the
    folder cannot hold a lock.
    """
    try:
        owner = own(transcript)
    except OSError as error:
        raise StorageError(
            f"{transcript.parent} cannot be written: {error.strerror or error}.", kept=kept
        ) from error
    if isinstance(owner, Ownership):
        return owner
    raise ReverieError(f"The session {transcript.stem} is open {_where(owner)}.", kept=kept)


def _where(holder: Holder) -> str:
    if holder.pid == os.getpid():
        return "in this window"
    return f"in another process ({holder.pid})" if holder.pid else "in another process"


def holder_of(transcript: Path) -> Holder | None:
    """The living process that owns a transcript, None when there is none; nothing is locked.

    A lock file that was left behind names a process that is gone, or by now another one.
    """
    try:
        descriptor = os.open(lock_file(transcript), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        holder = _read_holder(descriptor)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return holder if holder.pid and _lives(holder) else None


def _lives(holder: Holder) -> bool:
    import psutil

    try:
        started = psutil.Process(holder.pid).create_time()
    except (psutil.Error, ValueError, OverflowError):
        return False
    return abs(started - holder.started) < _SAME_START


def _is_still(file: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(file.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _myself() -> dict[str, Any]:
    import psutil

    return {"pid": os.getpid(), "started": psutil.Process().create_time()}


def _read_holder(descriptor: int) -> Holder:
    try:
        found: object = json.loads(os.pread(descriptor, 4096, 0))
    except ValueError:
        return Holder(0, 0.0)
    fields = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    pid, started = fields.get("pid"), fields.get("started")
    return Holder(
        pid if isinstance(pid, int) else 0,
        float(started) if isinstance(started, (int, float)) else 0,
    )
