"""What is wrong with a project's memory, and where something is said already."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from msgspec import Struct

from app.memory.entry import Entry, gauge
from app.memory.index import Contents
from app.memory.instructions import Instructions
from app.memory.links import links, mentions
from app.memory.paragraphs import Known, paragraphs
from app.plain_text import plain_line
from app.storage.document_folder import MOST_READ
from app.storage.documents import DocumentStore, NameRefused, Skipped
from app.storage.names import ENTRY, folded
from app.storage.reading import decode

_MOST_EXAMINED: Final = 64 << 20
"""Bytes of all documents that are read for one check."""
_MOST_NEAR: Final = 20
_MOST_MARKS: Final = 100
"""Marks of conflicts that are told of one document."""
_OPENS: Final = re.compile(r"^<{7}(?: |$)", re.MULTILINE)
_CLOSES: Final = re.compile(r"^>{7}(?: |$)", re.MULTILINE)
_COPY: Final = re.compile(
    r"\.(?:orig|rej)$|\(.*conflict.*\)|conflicted copy|\.sync-conflict-", re.IGNORECASE
)


class Loaded(Struct, frozen=True):
    """A text that enters every request."""

    path: str
    lines: int
    code_units: int
    first_line_cut: int
    """The first line that is not, or not wholly, loaded; 0 where all is."""


class Place(Struct, frozen=True):
    """A line of a document, counted from 1; 0 for the document as a whole."""

    name: str
    line: int


class DeadLink(Struct, frozen=True):
    """A link to a document that does not exist."""

    name: str
    line: int
    target: str


class Duplicate(Struct, frozen=True):
    """A paragraph that says nearly what an earlier one says."""

    first: Place
    second: Place
    similarity: float
    """0 to 1: the share of pairs of neighbouring words in common."""
    text: str
    """The beginning of the second one, on one line."""


class Conflict(Struct, frozen=True):
    """Something that two writers have left behind."""

    name: str
    line: int
    reason: str


class Health(Struct, frozen=True):
    """All findings of a check."""

    loaded: tuple[Loaded, ...] = ()
    orphans: tuple[str, ...] = ()
    """Documents that neither the entry mentions nor one that it leads to."""
    dead_links: tuple[DeadLink, ...] = ()
    duplicates: tuple[Duplicate, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    sizes: tuple[tuple[str, int], ...] = ()
    """Documents with their bytes, the largest first."""
    skipped: tuple[Skipped, ...] = ()


class Near(Struct, frozen=True):
    """A place where something nearly equal is said."""

    name: str
    line: int
    text: str
    """The beginning of the paragraph there, on one line."""
    similarity: float


def check(
    store: DocumentStore, index: Contents, entry: Entry, instructions: Instructions
) -> Health:
    """Read every document of the index and tell what is wrong. Blocking."""
    examined = _Examined(entry)
    unread: list[Skipped] = []
    for name, text in _texts(store, index, unread):
        examined.take(name, text)
    names = {each.name for each in index.documents}
    skipped = (*index.skipped, *instructions.skipped, *unread)
    return Health(
        loaded=tuple(_loaded(entry, instructions)),
        orphans=tuple(sorted(names - examined.reached(names))),
        dead_links=tuple(each for each in examined.links if _is_dead(store, each, names)),
        duplicates=tuple(examined.duplicates),
        conflicts=(*examined.conflicts, *_copies(index)),
        sizes=tuple(
            sorted(
                ((each.name, each.size) for each in index.documents),
                key=lambda each: (-each[1], each[0]),
            )
        ),
        skipped=tuple(dict.fromkeys(skipped)),
    )


def near(text: str, store: DocumentStore, index: Contents, of: str = "") -> list[Near]:
    """Where documents say nearly the same as a paragraph of `text`, the nearest first. Blocking.

    `of` is the document in which the text stands by now: there each of its paragraphs is passed
    over once.
    """
    known = Known()
    own: set[tuple[str, ...]] = set()
    for paragraph in paragraphs(text):
        known.add(paragraph)
        own.add(paragraph.words)
    if not own:
        return []
    found: list[Near] = []
    for name, other in _texts(store, index, []):
        for paragraph in paragraphs(other):
            if name == of and paragraph.words in own:
                own.discard(paragraph.words)
            elif nearest := known.nearest(paragraph):
                found.append(Near(name, paragraph.line, paragraph.text, nearest[1]))
    found.sort(key=lambda each: (-each.similarity, each.name, each.line))
    return found[:_MOST_NEAR]


def _texts(
    store: DocumentStore, index: Contents, unread: list[Skipped]
) -> Iterator[tuple[str, str]]:
    """The documents' texts, the entry first; what cannot be read is put into `unread`."""
    left = _MOST_EXAMINED
    for name in sorted((each.name for each in index.documents), key=lambda n: (n != ENTRY, n)):
        if left <= 0:
            unread.append(Skipped(name, f"not examined: more than {_MOST_EXAMINED} bytes in all"))
            continue
        read = store.head(name, MOST_READ)
        decoded = decode(read)
        left -= len(read.data)
        if not decoded.trouble:
            yield name, decoded.text
        elif not read.is_missing:
            unread.append(Skipped(name, decoded.trouble))


class _Examined:
    """What is found document by document."""

    def __init__(self, entry: Entry) -> None:
        self._mentions = {ENTRY: mentions(entry.text)}
        self._known = Known()
        self._places: list[Place] = []
        self.links: list[DeadLink] = []
        self.duplicates: list[Duplicate] = []
        self.conflicts: list[Conflict] = []

    def take(self, name: str, text: str) -> None:
        """Examine one document."""
        self._mentions[name] = mentions(text, name)
        self.links += [DeadLink(name, line, plain_line(to)) for line, to in links(text, name)]
        reason = "the mark of a conflict was left in it"
        mark_of = _OPENS if _OPENS.search(text) else _CLOSES
        for mark in islice(mark_of.finditer(text), _MOST_MARKS):
            line = text.count("\n", 0, mark.start()) + 1
            self.conflicts.append(Conflict(name, line, reason))
        for paragraph in paragraphs(text):
            here = Place(name, paragraph.line)
            if found := self._known.nearest(paragraph):
                number, alike = found
                self.duplicates.append(Duplicate(self._places[number], here, alike, paragraph.text))
            self._known.add(paragraph)
            self._places.append(here)

    def reached(self, names: set[str]) -> set[str]:
        """The documents that the entry leads to, itself among them."""
        reached = {ENTRY}
        waiting = [ENTRY]
        while waiting:
            new = (self._mentions.get(waiting.pop(), set()) & names) - reached
            reached |= new
            waiting += new
        return reached


def _loaded(entry: Entry, instructions: Instructions) -> Iterator[Loaded]:
    for source in instructions.sources:
        lines, units = gauge(source.text)
        first_cut = source.text.count("\n") + 1 if source.is_cut else 0
        yield Loaded(plain_line(str(source.path)), lines, units, first_cut)
    if entry.text:
        yield Loaded(ENTRY, entry.lines, entry.code_units, entry.first_line_cut)


def _is_dead(store: DocumentStore, link: DeadLink, names: set[str]) -> bool:
    if link.target in names:
        return False
    try:
        return store.head(link.target, 0).is_missing  # what the index has left out is still there
    except NameRefused:
        return True


def _copies(index: Contents) -> Iterator[Conflict]:
    known = {folded(each.name) for each in index.documents}
    for each in index.skipped:
        if folded(each.name) in known:
            yield Conflict(each.name, 0, each.reason)
    for name in (*index.others, *(each.name for each in index.documents)):
        if _COPY.search(name):
            yield Conflict(plain_line(name), 0, "it looks like a copy that a conflict left")
