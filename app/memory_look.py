"""What a person is shown of memory: its documents, their versions, and what is wrong with them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final, TypeAlias

from app.errors import StorageError
from app.memory.documents import Documents
from app.memory.entry import gauge
from app.memory.health import Conflict, DeadLink, Health, Place
from app.memory.links import mentions
from app.memory.pages import PastVersion
from app.plain_text import plain_line
from app.sessions.summary import moment_at
from app.state.model import Memory, MemoryDocument
from app.storage.documents import Change, DocumentInfo, Who
from app.storage.names import ENTRY

MOST_TRASHED: Final = 50
MOST_VERSIONS: Final = 500
_MOST_FOLLOWED: Final = 500
"""Documents that are read to tell which ones the entry leads to."""


def memory_of(documents: Documents, folder: Path, *, is_on: bool) -> Memory:
    """The folder as it is now. Blocking; what cannot be read is named in it."""
    problems: list[str] = []
    try:
        documents.settle()
    except StorageError as error:
        problems.append(str(error))
    listing = documents.store.listing(anew=True)
    last = last_changes(documents)
    known = _reached(documents, {each.name for each in listing.documents})
    rows = [_row(each, last.get(each.name), known) for each in listing.documents]
    rows.sort(key=lambda row: (row.name != ENTRY, row.name))
    rows += [
        MemoryDocument(plain_line(each.name), 0, 0.0, trouble=each.reason)
        for each in listing.skipped
    ]
    lines, units = gauge(_text(documents, ENTRY))
    return Memory(
        folder=str(folder),
        documents=tuple(rows),
        trashed=_trashed(last, {each.name for each in listing.documents}),
        lines=lines,
        code_units=units,
        problems=tuple(problems),
        is_on=is_on,
    )


def last_changes(documents: Documents) -> dict[str, Change]:
    """The newest change of each document, set-aside texts left out."""
    try:
        changes = documents.store.changes()
    except StorageError:
        return {}
    return {each.name: each for each in changes if each.author.what != "set_aside"}


def _row(document: DocumentInfo, last: Change | None, known: set[str]) -> MemoryDocument:
    who: Who | str = "" if last is None else last.author.who
    return MemoryDocument(
        document.name,
        document.size,
        document.modified / 1e9,
        who=who,  # pyright: ignore[reportArgumentType] - empty where nobody knows
        is_orphan=document.name not in known,
    )


def _reached(documents: Documents, names: set[str]) -> set[str]:
    """The documents that the entry mentions, or that one of these mentions."""
    reached = {ENTRY}
    waiting = [ENTRY]
    while waiting and len(reached) < _MOST_FOLLOWED:
        name = waiting.pop()
        found = (mentions(_text(documents, name), name) & names) - reached
        reached |= found
        waiting += found
    return reached


def _text(documents: Documents, name: str) -> str:
    try:
        return documents.read(name).text
    except StorageError:
        return ""


def _trashed(last: dict[str, Change], names: set[str]) -> tuple[MemoryDocument, ...]:
    gone = [
        each
        for each in last.values()
        if each.after is None and each.name not in names and each.author.what != "renamed"
    ]
    gone.sort(key=lambda each: each.at, reverse=True)
    return tuple(
        MemoryDocument(each.name, 0, _seconds(each.at), who=each.author.who)
        for each in gone[:MOST_TRASHED]
    )


def versions_of(documents: Documents, name: str) -> list[PastVersion]:
    """The versions of a document, newest first, at most `MOST_VERSIONS`.

    Raises `ReverieError`.
    """
    documents.settle()
    changes = documents.history(name)[:MOST_VERSIONS]
    current = next((each.id for each in changes if each.author.what != "set_aside"), "")
    return [_version(documents, each, is_current=each.id == current) for each in changes]


def _version(documents: Documents, change: Change, *, is_current: bool) -> PastVersion:
    author, why = change.author, change.author.why
    before, after = Counter[bytes](), Counter[bytes]()
    try:
        for lines, digest in ((before, change.before), (after, change.after)):
            lines.update([] if digest is None else documents.store.text_of(digest).splitlines())
    except StorageError:  # the other versions are there all the same
        why = f"{why}; its kept text is damaged".removeprefix("; ")
    return PastVersion(
        change.id,
        change.at,
        author.who,
        author.what,
        why,
        author.session_id,
        change.name,
        (after - before).total(),
        (before - after).total(),
        is_current,
        change.after is None,
    )


def texts_of(documents: Documents, name: str, change_id: str) -> tuple[str, str]:
    """What a document held before a change and after it. Raises `ReverieError`."""
    change = documents.find(name, change_id)
    before, after = (
        "" if digest is None else documents.store.text_of(digest).decode("utf-8", "replace")
        for digest in (change.before, change.after)
    )
    return before, after


Section: TypeAlias = tuple[str, list[tuple[str, str, int]]]
"""A heading, and rows of words, the document that they are about (or empty) and its line."""


def health_rows(health: Health) -> list[Section]:
    """What is wrong with memory and what of it is loaded, under headings; empty ones left out."""
    loaded = [
        (
            f"{each.path}  {each.lines} lines, {each.code_units} units"
            + (f"  cut off from line {each.first_line_cut} on" if each.first_line_cut else ""),
            ENTRY if each.path == ENTRY else "",
            each.first_line_cut,
        )
        for each in health.loaded
    ]
    sections: list[Section] = [
        ("Dead links", [_at(e, f"leads to no document: {e.target}") for e in health.dead_links]),
        ("In conflict", [_at(each, each.reason) for each in health.conflicts]),
        (
            "Said twice",
            [
                _at(each.second, f"as {_place(each.first)} ({each.similarity:.0%}): {each.text}")
                for each in health.duplicates
            ],
        ),
        ("Not mentioned by the entry", [(name, name, 0) for name in health.orphans]),
        ("Left out", [(f"{each.name}: {each.reason}", "", 0) for each in health.skipped]),
        ("Loaded by every request", loaded),
        ("Sizes", [(f"{name}  {size} bytes", name, 0) for name, size in health.sizes]),
    ]
    return [section for section in sections if section[1]]


def _at(place: Place | DeadLink | Conflict, words: str) -> tuple[str, str, int]:
    return f"{_place(place)}  {words}", place.name, place.line


def _place(place: Place | DeadLink | Conflict) -> str:
    return f"{place.name}:{place.line}" if place.line else place.name


def _seconds(at: str) -> float:
    moment = moment_at(at)
    return 0.0 if moment is None else moment.timestamp()
