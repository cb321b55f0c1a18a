"""A store of documents in memory: a second backend, and one that refuses on demand."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from msgspec import structs

from app.errors import StorageError
from app.storage.documents import (
    Author,
    Change,
    DocumentInfo,
    Listing,
    Moved,
    Replacement,
)
from app.storage.local_documents import LocalDocuments
from app.storage.names import checked_name
from app.storage.reading import Read
from tests.fakes.clock import FakeClock


class MemoryDocuments:
    def __init__(self) -> None:
        self._held: dict[str, bytes] = {}
        self._texts: dict[str, bytes] = {}
        self._changes: list[Change] = []
        self._ids = count(1)
        self.before_write: Callable[[], object] = lambda: None
        self.refusals = 0
        """How many writes are refused though nothing has changed."""

    def listing(self, *, anew: bool = False) -> Listing:
        items = sorted(self._held.items())
        return Listing(tuple(DocumentInfo(name, len(data), 0) for name, data in items))

    def read(self, name: str) -> bytes | None:
        return self._held.get(checked_name(name))

    def head(self, name: str, most: int) -> Read:
        data = self.read(name)
        if data is None:
            return Read(trouble="there is no such file", is_missing=True)
        return Read(data[:most], len(data))

    def replace(
        self, name: str, data: bytes | None, author: Author, *, expected: str | None
    ) -> Change:
        name = checked_name(name)
        self.before_write()
        current = self._held.get(name)
        if self.refusals:
            self.refusals -= 1
            raise Moved(current)
        if _digest(current) != expected:
            raise Moved(current)
        if data is None:
            del self._held[name]
        else:
            self._held[name] = self._texts[_digest(data) or ""] = data
        return self._log(name, author, expected, data)

    def replace_all(self, wanted: Sequence[Replacement], author: Author) -> Mapping[str, Change]:
        for each in wanted:
            if _digest(self.read(each.name)) != each.expected:
                raise Moved(self.read(each.name))
        done: dict[str, Change] = {}
        for each in sorted(wanted, key=lambda each: each.data is None):
            made = structs.replace(author, what="deleted" if each.data is None else author.what)
            done[each.name] = self.replace(each.name, each.data, made, expected=each.expected)
        return done

    def set_aside(self, name: str, data: bytes, author: Author) -> Change:
        self._texts[_digest(data) or ""] = data
        return self._log(checked_name(name), author, None, data)

    def _log(self, name: str, author: Author, before: str | None, data: bytes | None) -> Change:
        at = f"2026-11-02T09:00:00.{len(self._changes):03d}Z"
        size = len(data or b"")
        change = Change(str(next(self._ids)), at, name, author, before, _digest(data), size)
        self._changes.append(change)
        return change

    def notice(self) -> None:
        """Nobody else writes here."""

    def changes(self, name: str | None = None) -> Sequence[Change]:
        return [each for each in self._changes if name is None or each.name == name]

    def text_of(self, digest: str) -> bytes:
        try:
            return self._texts[digest]
        except KeyError:
            raise StorageError(f"There is no version {digest}.") from None

    def close(self) -> None:
        """Nothing is held."""


def _digest(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()


def on_disk(folder: Path, now: Callable[[], int] | None = None) -> LocalDocuments:
    """The documents of a folder; `now` gives nanoseconds since the epoch."""
    clock = FakeClock()
    if now is not None:
        clock.time = datetime.fromtimestamp(now() / 1e9, UTC)
    return LocalDocuments(folder, folder.with_name(f"{folder.name}-history"), clock)
