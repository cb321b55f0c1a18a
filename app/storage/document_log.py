"""The history of a folder's documents: what they held, and who changed them when and why.

`log.jsonl` has a line for each change, `texts/` what the documents held, by SHA-256. A change that
is under way stands in `pending`: a process that is killed leaves it to the next one.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec
import zstandard

from app.errors import StorageError
from app.paths import read_small, write_private
from app.storage.documents import Change
from app.storage.local import FileLog

_MOST_TEXT = 64 << 20
"""Bytes of a kept text that are unpacked at most."""
Stamp = tuple[int, int]
"""Time of the last change in nanoseconds, and size: a file whose stamp is the same was not
changed since, as far as a look from outside can tell."""


class _Line(msgspec.Struct, frozen=True):
    change: Change
    stamp: Stamp | None = None


class DocumentLog:
    """The history in one folder. Whoever writes to it holds the folder's lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lock = folder / "lock"
        self._file = folder / "log.jsonl"
        self._pending = folder / "pending"
        self._log = FileLog(self._file, what="history of memory")
        self._forget()

    def _forget(self) -> None:
        self._read_to = 0
        self._changes: list[Change] = []
        self._last: dict[str, Change] = {}
        self._stamps: dict[str, Stamp | None] = {}

    def refresh(self) -> None:
        """Take in what other processes have written since. Raises `StorageError`."""
        try:
            with self._file.open("rb") as file:
                if file.seek(0, os.SEEK_END) < self._read_to:  # a copy from before was put there
                    self._forget()
                file.seek(self._read_to)
                data = file.read()
        except FileNotFoundError:
            return
        except OSError as error:
            raise StorageError(
                f"The history of memory {self._file} cannot be read: {error.strerror or error}."
            ) from error
        whole = data.rfind(b"\n") + 1
        self._read_to += whole
        for raw in data[:whole].split(b"\n"):
            self._take(raw)

    def _take(self, raw: bytes) -> None:
        try:
            line = msgspec.json.decode(raw, type=_Line)
        except msgspec.DecodeError:
            return  # torn by a crash; the change itself is found again by `pending`
        self._changes.append(line.change)
        if line.change.author.what != "set_aside":
            self._last[line.change.name] = line.change
            self._stamps[line.change.name] = line.stamp

    @property
    def is_begun(self) -> bool:
        """Whether there is a history at all."""
        return self._file.exists() or self._pending.exists()

    @property
    def changes(self) -> Sequence[Change]:
        """All changes, oldest first, as far as `refresh` has read."""
        return self._changes

    def last(self, name: str) -> Change | None:
        """The last change of a document."""
        return self._last.get(name)

    def stamp(self, name: str) -> Stamp | None:
        """How the document's file looked after its last change."""
        return self._stamps.get(name)

    def known(self) -> list[str]:
        """The names that the history has."""
        return list(self._last)

    def append(self, change: Change, stamp: Stamp | None) -> None:
        """Write a change down; it survives a power cut when this returns. Raises `StorageError`."""
        self._log.append([msgspec.json.encode(_Line(change, stamp))])
        self._log.sync()
        self.refresh()

    # What is under way

    def announce(self, changes: Sequence[Change]) -> None:
        """Say what is about to happen to documents. Raises `StorageError`."""
        try:
            with self._pending.open("wb") as file:
                file.write(msgspec.json.encode(changes))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StorageError(
                f"{self.folder} cannot be written: {error.strerror or error}.",
                kept="Nothing was changed.",
            ) from error

    def announced(self) -> tuple[Sequence[Change], bool]:
        """The changes that another process was killed in, before, while or after they were made,
        without those that are in the history already; and whether there are such.
        """
        try:
            changes = msgspec.json.decode(read_small(self._pending, _MOST_TEXT), type=list[Change])
        except (OSError, msgspec.DecodeError):
            return (), False
        known = {change.id for change in self._changes[-len(changes) - 100 :]}
        left = tuple(change for change in changes if change.id not in known)
        return left, len(left) < len(changes)

    def settle(self) -> None:
        """Nothing is under way any more."""
        try:
            self._pending.unlink(missing_ok=True)
        except OSError as error:
            raise StorageError(
                f"{self._pending} cannot be removed: {error.strerror or error}.",
                todo="Remove it yourself; it holds nothing that is not in the history too.",
            ) from error

    # Texts

    def keep(self, data: bytes) -> str:
        """Keep a text; returns its SHA-256. Raises `StorageError`."""
        digest = hashlib.sha256(data).hexdigest()
        file = self._text_file(digest)
        if not file.exists():
            write_private(file, zstandard.compress(data))
        return digest

    def text(self, digest: str) -> bytes:
        """A text that was kept. Raises `StorageError`."""
        file = self._text_file(digest)
        try:
            packed = file.read_bytes()
            data = zstandard.ZstdDecompressor().decompress(packed, max_output_size=_MOST_TEXT)
        except (OSError, zstandard.ZstdError) as error:
            raise StorageError(
                f"A version in the history of memory cannot be read: {error}.",
                kept="The document itself is as it was.",
            ) from error
        if hashlib.sha256(data).hexdigest() != digest:
            raise StorageError(f"The kept version {digest[:12]} is damaged ({file}).")
        return data

    def _text_file(self, digest: str) -> Path:
        if len(digest) != 64 or not digest.isalnum():
            raise StorageError(f"There is no version {digest[:12]} in the history of memory.")
        return self.folder / "texts" / digest[:2] / digest

    def close(self) -> None:
        """Release the log."""
        self._log.close()
