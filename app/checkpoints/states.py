"""What is at a path, told without following a link, and read from what was looked at."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from app.paths import open_resolved

Kind: TypeAlias = Literal["absent", "file", "link", "folder", "beneath", "other"]
"""`link`: a symbolic link there or on the way there; `beneath`: a folder on the way is a file;
`other`: a device, pipe or socket, or something that may not be read."""


class FileState(Struct, frozen=True):
    """What is at a path. Of a file: SHA-256 of its bytes, their number, permission bits."""

    kind: Kind
    sha256: str = ""
    size: int = 0
    mode: int | None = None
    """None where it is not known."""
    names: int = 1
    """Hard links to the file."""

    def same(self, other: FileState) -> bool:
        """Whether both hold the same: kind and bytes; permission bits where both know them."""
        modes = (self.mode, other.mode)
        return (
            self.kind == other.kind
            and self.sha256 == other.sha256
            and (None in modes or modes[0] == modes[1])
        )

    def same_bytes(self, other: FileState) -> bool:
        """Whether both hold the same, permission bits aside."""
        return self.kind == other.kind and self.sha256 == other.sha256


ABSENT = FileState("absent")


def state_of(path: str) -> FileState:
    """What is at the absolute `path` now; never raises for what it finds."""
    descriptor, state = open_file(path)
    if descriptor is None:
        return state
    with os.fdopen(descriptor, "rb") as file:
        try:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            return FileState("other")
        return _of_file(os.fstat(file.fileno()), digest)


def open_file(path: str) -> tuple[int | None, FileState]:
    """A descriptor of the plain file at `path`, else None and what is there.

    With a descriptor the state has no digest yet.
    """
    folder, name = os.path.split(path)
    try:
        parent = open_resolved(Path(folder), os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        return None, _of_failure(path, error)
    try:
        return _open_in(parent, name)
    finally:
        os.close(parent)


def _open_in(parent: int, name: str) -> tuple[int | None, FileState]:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        before = os.stat(name, dir_fd=parent, follow_symlinks=False)
        if not stat.S_ISREG(before.st_mode):
            return None, FileState(_kind(before.st_mode))
        descriptor = os.open(name, flags, dir_fd=parent)
    except OSError as error:
        return None, FileState("absent" if error.errno == errno.ENOENT else "other")
    now = os.fstat(descriptor)
    if not stat.S_ISREG(now.st_mode):
        os.close(descriptor)
        return None, FileState(_kind(now.st_mode))
    return descriptor, _of_file(now, "")


def _of_file(state: os.stat_result, digest: str) -> FileState:
    return FileState("file", digest, state.st_size, stat.S_IMODE(state.st_mode), state.st_nlink)


def _kind(mode: int) -> Kind:
    if stat.S_ISLNK(mode):
        return "link"
    return "folder" if stat.S_ISDIR(mode) else "other"


def _of_failure(path: str, error: OSError) -> FileState:
    """Why the folder of `path` could not be opened, by the first thing on the way that is none."""
    if error.errno == errno.ENOENT:
        return ABSENT
    for folder in reversed(Path(path).parents):
        if folder.is_symlink():
            return FileState("link")
        if folder.is_file():
            return FileState("beneath")
    return FileState("other")
