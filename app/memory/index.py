"""The memory folder's index: which documents there are and what each is about (spec/memory.md)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from typing import Final

from msgspec import Struct

from app.memory.entry import MOST_UNITS, code_units
from app.memory.markdown import first_heading, front_matter
from app.plain_text import cut, plain_line
from app.storage.document_scan import TICK
from app.storage.documents import DocumentInfo, DocumentStore, Listing, Skipped
from app.storage.names import ENTRY
from app.storage.reading import LAST_SECOND, decode

MOST_LISTED: Final = 200
MOST_HEAD_LINES: Final = 30
MOST_HEAD_BYTES: Final = 65_536
AT_A_TIME: Final = 16
"""Files that are read at a time. The other caps: app/storage/document_scan.py."""
_MOST_TITLE: Final = 120
_MOST_DESCRIPTION: Final = 300
_MOST_KIND: Final = 40


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
    others: tuple[str, ...] = ()
    """Names of files that are no documents by their name."""


class _About(Struct, frozen=True):
    title: str = ""
    description: str = ""
    kind: str = ""
    trouble: str = ""
    is_missing: bool = False


class Index:
    """Reads what documents are about, and again only of those that have changed since."""

    def __init__(self, store: DocumentStore, now: Callable[[], int] = time.time_ns) -> None:
        """`now` gives nanoseconds since the epoch."""
        self._store = store
        self._now = now
        self._known: dict[str, tuple[int, int, _About]] = {}
        self._listing: Listing | None = None
        self._contents = Contents()

    def contents(self) -> Contents:
        """The index now; an empty one where there is no folder. Blocking."""
        listing = self._store.listing()
        if listing is not self._listing:
            self._look(listing)
        return self._contents

    def _look(self, listing: Listing) -> None:
        documents = listing.documents
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
                for each in (*listing.skipped, *bad)
            ),
            text=text,
            is_cut=is_cut or len(others) > len(newest),
            is_scan_cut=listing.is_cut,
            documents=documents,
            others=listing.others,
        )
        self._listing = listing

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
                read = pool.map(partial(_read_about, self._store), unknown)
                known |= dict(zip(unknown, read, strict=True))
        self._known = {
            each.name: (each.modified, each.size, known[each.name])
            for each in documents
            if began - each.modified > TICK
        }
        return known


def _item(document: DocumentInfo, about: _About) -> Item:
    return Item(
        name=document.name,
        title=about.title,
        description=about.description,
        kind=about.kind,
        size=document.size,
        modified=document.modified,
    )


def _read_about(store: DocumentStore, name: str) -> _About:
    read = store.head(name, MOST_HEAD_BYTES)
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
