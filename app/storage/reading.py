"""The one safe way to read what requests load: never out of a folder, never a pipe, never too much.

Nothing here raises for what it finds: what cannot be used has a `trouble` in words.
"""

from __future__ import annotations

import codecs
import errno
import os
import stat
from pathlib import Path
from typing import Final

from msgspec import Struct

from app.paths import open_resolved

BOM: Final = "\ufeff"
LAST_SECOND: Final = 253_402_300_799
"""Of the year 9999: a file may claim to be of a later one."""
_BOM_BYTES: Final = 3
_WORDS: Final = {
    errno.ENOENT: "there is no such file",
    errno.ENOTDIR: "there is no such file",
    errno.ELOOP: "it is a link that leads to no file",
    errno.ENXIO: "it is not a regular file",
    errno.EACCES: "it may not be read",
    errno.EISDIR: "it is not a regular file",
}


class Read(Struct, frozen=True):
    """The beginning of a file, or why there is none."""

    data: bytes = b""
    size: int = 0
    """Bytes of the whole file."""
    modified: int = 0
    """Nanoseconds since the epoch."""
    owner: int = -1
    """The user's number."""
    mode: int = 0
    trouble: str = ""
    """Why it was not read, as the end of a sentence about it."""
    is_missing: bool = False
    is_linked: bool = False
    """Whether a link may be why it was not read."""

    @property
    def seconds(self) -> float:
        """When it was modified, in seconds since the epoch, within the years that have a name."""
        return min(max(self.modified / 1e9, 0.0), LAST_SECOND)

    @property
    def is_whole(self) -> bool:
        """Whether `data` is all of it."""
        return len(self.data) >= self.size


class Decoded(Struct, frozen=True):
    """The text of a file, or why it is none."""

    text: str = ""
    trouble: str = ""
    mark: int = 0
    """Bytes of a byte-order mark, which is not part of the text."""


def read_head(root: Path, name: str, most: int) -> Read:
    """At most `most` bytes of the file `name` below `root`.

    A link that stays below `root` is followed; what leads out of it is not opened.
    """
    return read_below(os.path.realpath(root), name, most)


def read_below(top: str, name: str, most: int) -> Read:
    """As `read_head`, below a folder whose path is resolved already."""
    path = Path(f"{top}/{name}")
    if name.startswith("/") or ".." in path.parts:
        return _read_linked(top, name, most)
    read = read_resolved(path, most)  # through no link, and there is none as a rule
    return _read_linked(top, name, most) if read.is_linked else read


def _read_linked(top: str, name: str, most: int) -> Read:
    try:
        real = os.path.realpath(os.path.join(top, name))  # noqa: PTH118  `name` stays as it is
    except (OSError, ValueError):  # a NUL or half a pair in the name
        return Read(trouble="there is no such file", is_missing=True)
    if not is_below(real, top):
        return Read(trouble="it leads out of the folder")
    return read_resolved(Path(real), most)


def read_resolved(real: Path, most: int) -> Read:
    """At most `most` bytes of the file of this resolved path, opened through no link."""
    try:
        descriptor = open_resolved(real, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            state = os.fstat(descriptor)
            if not stat.S_ISREG(state.st_mode):
                return Read(trouble="it is not a regular file")
            return Read(_first(file.fileno(), min(most, state.st_size)), *_facts(state))
    except OSError as error:
        words = _WORDS.get(error.errno or 0, f"it cannot be read: {error.strerror or error}")
        return Read(
            trouble=words,
            is_missing=error.errno in (errno.ENOENT, errno.ENOTDIR),
            is_linked=error.errno in (errno.ELOOP, errno.ENOTDIR),
        )
    except ValueError:  # a NUL or half a pair in the name
        return Read(trouble="there is no such file", is_missing=True)


def decode(read: Read) -> Decoded:
    """The text of what was read; a character that the end of a part cuts in two is left out."""
    if read.trouble:
        return Decoded(trouble=read.trouble)
    data = read.data
    mark = _BOM_BYTES if data.startswith(codecs.BOM_UTF8) else 0
    if b"\0" in data:
        return Decoded(trouble="it holds NUL bytes, so it is not a text")
    try:
        text, _ = codecs.utf_8_decode(data[mark:], "strict", read.is_whole)
    except UnicodeDecodeError:
        return Decoded(trouble="it is not a UTF-8 text")
    return Decoded(text, mark=mark)


def is_below(path: str, top: str) -> bool:
    """Whether a resolved path lies below a resolved folder, or is it."""
    return path == top or path.startswith(top if top.endswith(os.sep) else top + os.sep)


def _first(descriptor: int, most: int) -> bytes:
    parts: list[bytes] = []
    while most > 0 and (part := os.read(descriptor, most)):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


def _facts(state: os.stat_result) -> tuple[int, int, int, int]:
    return state.st_size, state.st_mtime_ns, state.st_uid, state.st_mode
