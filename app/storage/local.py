"""Record logs as local files: one file a log, one record a line (spec/sessions.md, Transcript)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from app.errors import StorageError
from app.paths import make_private_folder

_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW

_PIECE = 1 << 22


class FileLog:
    """A log in one file, 0600, made on the first append.

    One append is one write on an `O_APPEND` descriptor. A file that does not end in a newline
    (a crash in mid-write) gets one first, so that the torn line stays confined (cases/B02).
    """

    def __init__(self, path: Path, what: str = "transcript") -> None:
        """`what` is what the log is called in a sentence."""
        self.path = path
        self._what = what
        self._descriptor: int | None = None
        self._dirty = False

    def append(self, lines: Sequence[bytes]) -> None:
        data = b"".join(line + b"\n" for line in lines)
        try:
            descriptor = self._open()
            size = os.fstat(descriptor).st_size
            if not _ends_in_newline(descriptor):
                data = b"\n" + data
            self._dirty = True
            try:
                _write_all(descriptor, data)
            except OSError:
                with contextlib.suppress(OSError):  # half a batch would be written again later
                    os.ftruncate(descriptor, size)
                raise
        except OSError as error:
            raise StorageError(
                f"The {self._what} {self.path} could not be written: {error.strerror or error}.",
                kept="Everything said so far stays in this window.",
                todo="Free some space or mend the permissions; saving is tried again by itself.",
            ) from error

    def _open(self) -> int:
        deleted = b""
        if self._descriptor is not None and os.fstat(self._descriptor).st_nlink == 0:
            deleted = _whole(self._descriptor)  # the file was deleted under us; it is still there
            os.close(self._descriptor)
            self._descriptor = None
        if self._descriptor is None:
            make_private_folder(self.path.parent)
            self._descriptor = os.open(self.path, _FLAGS, 0o600)
            if deleted and os.fstat(self._descriptor).st_size == 0:
                _write_all(self._descriptor, deleted)
        return self._descriptor

    def read(self) -> bytes:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise StorageError(
                f"The {self._what} {self.path} cannot be read: {error.strerror or error}.",
                kept="It was not changed.",
            ) from error

    def sync(self) -> None:
        if self._descriptor is None or not self._dirty:
            return
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            raise StorageError(
                f"The {self._what} {self.path} could not be flushed: {error.strerror or error}."
            ) from error
        self._dirty = False

    def close(self) -> None:
        if self._descriptor is not None:
            try:
                self.sync()
            finally:
                os.close(self._descriptor)
                self._descriptor = None


def _write_all(descriptor: int, data: bytes) -> None:
    written = os.write(descriptor, data)
    while written < len(data):
        written += os.write(descriptor, data[written:])


def _whole(descriptor: int) -> bytes:
    parts: list[bytes] = []
    position = 0
    while part := os.pread(descriptor, _PIECE, position):
        parts.append(part)
        position += len(part)
    return b"".join(parts)


def _ends_in_newline(descriptor: int) -> bool:
    size = os.fstat(descriptor).st_size
    return size == 0 or os.pread(descriptor, 1, size - 1) == b"\n"
