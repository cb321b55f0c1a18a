"""Keeps head and tail of a command's output in bounded memory, and the whole in a file."""

from __future__ import annotations

import codecs
import contextlib
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from app.agent.tools.base import LIVE_CHARACTERS, LIVE_LINES, MAX_RESULT_CHARACTERS

NOTICE_CHARACTERS = 500
"""Left free in a result for the notices around the output."""
MOST_ON_DISK = 200_000_000
"""Bytes kept in the file; a command that prints without end must not fill the disk."""


def private_file(folder: Path, kind: str) -> Path:
    """A new empty file, 0600, in `folder`, which is made 0700 on first use. Raises `OSError`."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"{kind}-{secrets.token_hex(6)}.log"
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    return path


def printable(text: str) -> str:
    """`text` with NULs replaced; decoding with "replace" leaves no other character to fear."""
    return text.replace("\x00", "\ufffd")


class OutputKeeper:
    """Takes bytes as they come; gives the text to show, cut in the middle where it is long."""

    def __init__(self, scratch: Path, limit: int = MAX_RESULT_CHARACTERS) -> None:
        self._scratch = scratch
        self._half = max(1, (limit - NOTICE_CHARACTERS) // 2)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head = ""
        self._tail = ""
        self._characters = 0
        self._early: list[bytes] | None = []
        """The output so far; None once it goes to a file, or cannot."""
        self._file: BinaryIO | None = None
        self.size = 0
        """Bytes taken in so far."""
        self.path: Path | None = None
        """Where the whole output is; None while it is short, or where it could not be kept."""

    def take(self, data: bytes) -> str:
        """Add `data`; the characters that it completed."""
        self._store(data)
        return self._add(self._decoder.decode(data))

    def close(self) -> str:
        """No more will come: the characters that were still open."""
        rest = self._add(self._decoder.decode(b"", final=True))
        if self._file is not None:
            with contextlib.suppress(OSError):  # the last bytes did not fit on the disk
                self._file.close()
            self._file = None
        return rest

    def text(self) -> str:
        """What to show: all, or head and tail around a notice that names the file."""
        if self._characters <= 2 * self._half:
            return self._head + self._tail
        left_out = self._characters - 2 * self._half
        where = f"all of it is in {self.path}" if self.path else "it could not be kept"
        if self.path and self.size > MOST_ON_DISK:
            where = f"the first {MOST_ON_DISK // 1_000_000} MB are in {self.path}"
        return f"{self._head}\n\n… ({left_out} characters left out; {where}) …\n\n{self._tail}"

    def _add(self, decoded: str) -> str:
        text = printable(decoded)
        self._characters += len(text)
        room = self._half - len(self._head)
        self._head += text[:room]
        if len(text) > room:
            self._tail = (self._tail + text[room:])[-self._half :]
        return text

    def _store(self, data: bytes) -> None:
        self.size += len(data)
        if self._file is not None:
            self._write(data)
        elif self._early is not None:
            self._early.append(data)
            # While every byte could be one character of its own, nothing is left out yet.
            if self.size > 2 * self._half:
                self._open(self._early)

    def _open(self, early: list[bytes]) -> None:
        self._early = None
        try:
            self.path = private_file(self._scratch, "output")
            self._file = self.path.open("wb")
        except OSError:
            self.path = None
            return
        for piece in early:
            self._write(piece)

    def _write(self, data: bytes) -> None:
        if self._file is None:
            return
        room = MOST_ON_DISK - self._file.tell()
        try:
            self._file.write(data[: max(0, room)])
        except OSError:
            self._give_up()

    def _give_up(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
        self._file = None
        if self.path is not None:
            self.path.unlink(missing_ok=True)
        self.path = None


class LiveText:
    """Hands on the newest end of a growing text, at most once a frame, however fast it grows."""

    def __init__(
        self, emit: Callable[[str], None], now: Callable[[], float], interval: float = 1 / 60
    ) -> None:
        self._emit = emit
        self._now = now
        self._interval = interval
        self._end = ""
        self._last = float("-inf")
        self.waiting = False
        """There is text that was not handed on yet."""

    def add(self, text: str) -> None:
        """The text has grown by this: it is handed on now or with what follows."""
        if not text:
            return
        self._end = (self._end + text)[-LIVE_CHARACTERS:]
        self.waiting = True
        if self._now() - self._last >= self._interval:
            self.flush()

    def flush(self) -> None:
        """Hand on what is waiting."""
        if self.waiting:
            self.waiting = False
            self._last = self._now()
            self._end = "".join(self._end.splitlines(keepends=True)[-LIVE_LINES:])
            self._emit(self._end)
