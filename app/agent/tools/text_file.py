"""Text files with their encoding, byte-order mark and line ends kept."""

from __future__ import annotations

import codecs
import hashlib
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from app.agent.tools.arguments import clean
from app.agent.tools.base import ToolContext, ToolFailure
from app.agent.tools.paths import real, reason_of
from app.paths import open_resolved

WHOLE_FILE_BYTES = 10_000_000
"""Larger files are read piece by piece and cannot be edited."""

_BOMS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE_BYTES = 8192
_CONTROL = re.compile(rb"[\x01-\x06\x0e-\x1a\x1c-\x1f]")


@dataclass(frozen=True, slots=True)
class TextFile:
    """A decoded file: `text` has the line ends of the disk, `bom` the bytes in front of it."""

    text: str
    encoding: str
    bom: bytes = b""

    def encode(self, text: str) -> bytes:
        """`text` as this file's bytes. Raises `ToolFailure` where the encoding lacks a letter."""
        try:
            return self.bom + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            letter = clean(text[error.start])
            raise ToolFailure(
                f"The file is {self.encoding} and cannot hold {letter!r} (U+{ord(letter):04X})."
            ) from error


def encoding_of(sample: bytes) -> tuple[str, bytes]:
    """`(encoding, byte-order mark)` by the first bytes of a file; UTF-8 where nothing tells."""
    for bom, encoding in _BOMS:
        if sample.startswith(bom):
            return encoding, bom
    return "utf-8", b""


def is_binary(sample: bytes) -> bool:
    """Whether the first bytes of a file are no text: NULs, or many control characters."""
    sample = sample[:_SAMPLE_BYTES]
    if encoding_of(sample)[1]:
        return False
    return b"\x00" in sample or len(_CONTROL.findall(sample)) * 10 > len(sample)


def decode(data: bytes) -> TextFile:
    """The text of `data`: by its byte-order mark, else UTF-8, else Latin-1, which loses no byte."""
    encoding, bom = encoding_of(data)
    try:
        return TextFile(data[len(bom) :].decode(encoding), encoding, bom)
    except UnicodeDecodeError:
        return TextFile(data.decode("latin-1"), "latin-1")


def regular_file(path: Path) -> os.stat_result:
    """The state of the file at `path`, links followed.

    Raises `ToolFailure` where there is no file, or something else than a plain file.
    """
    name = clean(str(path))
    try:
        state = path.stat()
    except FileNotFoundError:
        if path.is_symlink():
            raise ToolFailure(f"{name} is a link to something that does not exist.") from None
        raise ToolFailure(f"{name} does not exist.") from None
    except OSError as error:
        raise ToolFailure(f"{name} cannot be read: {reason_of(error)}.") from error
    refuse_special(state, name)
    return state


def refuse_special(state: os.stat_result, name: str) -> None:
    """Raises `ToolFailure` where `state` is that of a folder, a device, a pipe or a socket."""
    kinds = (
        (stat.S_ISDIR, "a folder, not a file"),
        (stat.S_ISFIFO, "a named pipe, which has no end to read to"),
        (stat.S_ISSOCK, "a socket, not a file"),
        (stat.S_ISCHR, "a device, not a file"),
        (stat.S_ISBLK, "a device, not a file"),
    )
    for holds, kind in kinds:
        if holds(state.st_mode):
            raise ToolFailure(f"{name} is {kind}.")


def open_regular(path: Path) -> int:
    """A descriptor for reading, never blocking on a pipe that took the file's place.

    Raises `ToolFailure` as `regular_file` does.
    """
    return open_judged(real(path))


def open_judged(path: Path) -> int:
    """`open_regular` of a resolved path, through no link that was put in its way since."""
    regular_file(path)
    name = clean(str(path))
    try:
        descriptor = open_resolved(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        if path.resolve() != path:
            raise ToolFailure(f"{name} was replaced by a link meanwhile.") from error
        raise ToolFailure(f"{name} cannot be read: {reason_of(error)}.") from error
    try:
        refuse_special(os.fstat(descriptor), name)
    except ToolFailure:
        os.close(descriptor)
        raise
    return descriptor


def read_whole(path: Path) -> bytes:
    """All bytes of a plain file of at most `WHOLE_FILE_BYTES` at the resolved `path`.

    Raises `ToolFailure`.
    """
    with os.fdopen(open_judged(path), "rb") as file:
        data = file.read(WHOLE_FILE_BYTES + 1)
    if len(data) > WHOLE_FILE_BYTES:
        raise ToolFailure(
            f"{clean(str(path))} is larger than {WHOLE_FILE_BYTES // 1_000_000} MB; "
            "change it with a shell command."
        )
    return data


def remember(context: ToolContext, path: Path, data: bytes | None) -> None:
    """Note that the model knows the file at the resolved `path`; None for one too large to hash."""
    state = path.stat()
    digest = "" if data is None else hashlib.sha256(data).hexdigest()
    context.seen[str(path)] = (state.st_mtime_ns, state.st_size, digest)


def require_fresh(context: ToolContext, path: Path, data: bytes) -> None:
    """Raises `ToolFailure` unless the model has read the resolved `path` as it is now (`data`)."""
    known = context.seen.get(str(path))
    name = clean(str(path))
    if known is None:
        raise ToolFailure(f"{name} has not been read in this session. Read it first.")
    if known[2] != hashlib.sha256(data).hexdigest():
        raise ToolFailure(f"{name} has changed since it was read. Read it again first.")
