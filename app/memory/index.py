"""The memory folder's index: which documents there are and what each is about (spec/memory.md)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct

from app.memory.entry import MOST_UNITS, code_units
from app.memory.markdown import first_heading, front_matter
from app.memory.reading import LAST_SECOND, decode, read_below
from app.plain_text import cut, plain_line
from app.storage.document_scan import look
from app.storage.documents import DocumentInfo, Skipped
from app.storage.names import ENTRY

MOST_LISTED: Final = 200
MOST_HEAD_LINES: Final = 30
MOST_HEAD_BYTES: Final = 65_536
AT_A_TIME: Final = 16
"""Files that are read at a time. The other caps: app/storage/document_scan.py."""
_MOST_TITLE: Final = 120
_MOST_DESCRIPTION: Final = 300
_MOST_KIND: Final = 40
_IN_TURN: Final = 2_000
"""Unlisted documents whose own time is looked at in one call: a look at all takes over 10 ms."""
_TICK: Final = 2_000_000_000
"""Nanoseconds within which a file system may give two changes the same time (FAT: 2 s)."""


class Item(Struct, frozen=True):
    """A document in the index. All texts are one line without control characters."""

    name: str
    title: str
    description: str
    kind: str
    size: int
    """Bytes."""
    modified: int
    """Nanoseconds since the epoch."""


class Contents(Struct, frozen=True):
    """The index as it was at one moment."""

    items: tuple[Item, ...] = ()
    """The newest documents beside the entry, newest first."""
    skipped: tuple[Skipped, ...] = ()
    text: str = ""
    """The items as a list, one line each: what a model is shown."""
    is_cut: bool = False
    """Whether `text` leaves out documents, because of its own cap or that on items."""
    is_scan_cut: bool = False
    """Whether the folder has more entries than are looked at."""
    documents: tuple[DocumentInfo, ...] = ()
    """All documents that were found, ordered by name, the entry among them."""
    folders: tuple[str, ...] = ()
    """Paths of the folders that were looked into."""


class _About(Struct, frozen=True):
    title: str = ""
    description: str = ""
    kind: str = ""
    trouble: str = ""
    is_missing: bool = False


class Index:
    """Looks at one memory folder, and again only at what has changed since."""

    def __init__(self, folder: Path, now: Callable[[], int] = time.time_ns) -> None:
        """`now` gives nanoseconds since the epoch."""
        self._folder = Path(os.path.abspath(folder))  # noqa: PTH100  a link stays one
        self._now = now
        self._known: dict[str, tuple[int, int, _About]] = {}
        self._stamps: tuple[tuple[str, int], ...] = ()
        self._contents = Contents()
        self._turn = 0

    def forget(self) -> None:
        """Let the next call look at every document, for one who was told of a change."""
        self._stamps = ()

    def contents(self) -> Contents:
        """The index now; an empty one where there is no folder. Blocking.

        A document that has come, gone or been renamed is seen at once, and so is any change of a
        listed one. Of the others so many are looked at in a call that the change of one that was
        written in place is seen after three calls at most.
        """
        if not self._is_unchanged():
            self._look()
        return self._contents

    def _is_unchanged(self) -> bool:
        if not self._stamps:
            return False
        try:
            top = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            for path, stamp in self._stamps:
                if os.stat(path, dir_fd=top).st_mtime_ns != stamp:
                    return False
            return _are_unchanged(self._in_turn(), top)
        except OSError:
            return False
        finally:
            os.close(top)

    def _in_turn(self) -> Iterable[Item | DocumentInfo]:
        documents = self._contents.documents
        yield from self._contents.items
        yield from documents[self._turn : self._turn + _IN_TURN]
        self._turn += _IN_TURN
        if self._turn >= len(documents):
            self._turn = 0

    def _look(self) -> None:
        began = self._now()
        found = look(self._folder)
        documents = found.listing.documents
        others = [each for each in documents if each.name != ENTRY]
        newest = sorted(others, key=lambda each: (-each.modified, each.name))[:MOST_LISTED]
        about = self._about(newest)
        items = tuple(
            _item(each, about[each.name]) for each in newest if not about[each.name].trouble
        )
        bad = tuple(
            Skipped(each.name, about[each.name].trouble)
            for each in newest
            if about[each.name].trouble and not about[each.name].is_missing
        )
        text, is_cut = _text(items)
        self._contents = Contents(
            items=items,
            skipped=tuple(
                Skipped(plain_line(each.name), plain_line(each.reason))
                for each in (*found.listing.skipped, *bad)
            ),
            text=text,
            is_cut=is_cut or len(others) > len(newest),
            is_scan_cut=found.is_cut,
            documents=documents,
            folders=tuple(path for path, _ in found.folders),
        )
        # What changed a moment ago may change again without getting another time.
        is_settled = all(began - stamp > _TICK for _, stamp in found.folders)
        is_settled = is_settled and all(began - each.modified > _TICK for each in documents)
        self._stamps = found.folders if is_settled else ()

    def _about(self, documents: list[DocumentInfo]) -> dict[str, _About]:
        """What each is about, read only where that is not known."""
        began = self._now()
        known = {
            each.name: found[2]
            for each in documents
            if (found := self._known.get(each.name)) and found[:2] == (each.modified, each.size)
        }
        unknown = [each.name for each in documents if each.name not in known]
        if unknown:
            with ThreadPoolExecutor(AT_A_TIME) as pool:
                read = pool.map(partial(_read_about, os.path.realpath(self._folder)), unknown)
                known |= dict(zip(unknown, read, strict=True))
        self._known = {
            each.name: (each.modified, each.size, known[each.name])
            for each in documents
            if began - each.modified > _TICK
        }
        return known


def _are_unchanged(known: Iterable[Item | DocumentInfo], top: int) -> bool:
    for each in known:
        state = os.stat(each.name, dir_fd=top)
        if state.st_mtime_ns != each.modified or state.st_size != each.size:
            return False
    return True


def _item(document: DocumentInfo, about: _About) -> Item:
    return Item(
        name=document.name,
        title=about.title,
        description=about.description,
        kind=about.kind,
        size=document.size,
        modified=document.modified,
    )


def _read_about(top: str, name: str) -> _About:
    read = read_below(top, name, MOST_HEAD_BYTES)
    decoded = decode(read)
    if decoded.trouble:
        return _About(trouble=decoded.trouble, is_missing=read.is_missing)
    head = decoded.text.split("\n", MOST_HEAD_LINES)[:MOST_HEAD_LINES]
    fields, taken = front_matter("\n".join(head))
    title = fields.get("name") or first_heading(head[taken:])
    return _About(
        title=_shown(title, _MOST_TITLE),
        description=_shown(fields.get("description", ""), _MOST_DESCRIPTION),
        kind=_shown(fields.get("type", ""), _MOST_KIND),
    )


def _shown(text: str, most: int) -> str:
    return cut(" ".join(plain_line(text[: 4 * most]).split()), most)


def _text(items: Iterable[Item]) -> tuple[str, bool]:
    """The list, and whether the cap cut it; a line is never cut in two."""
    lines: list[str] = []
    left = MOST_UNITS
    for item in items:
        seconds = min(max(item.modified // 10**9, 0), LAST_SECOND)
        day = datetime.fromtimestamp(seconds, UTC).date().isoformat()
        marks = f"{item.kind}, {day}" if item.kind else day
        words = ": ".join(part for part in (item.title, item.description) if part)
        line = f"- {item.name} ({marks})" + (f" {words}\n" if words else "\n")
        left -= code_units(line)
        if left < 0:
            return "".join(lines), True
        lines.append(line)
    return "".join(lines), False
