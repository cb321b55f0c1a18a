"""The lines of the memory screen's lists as cells."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Literal

from msgspec import Struct
from rich.cells import cell_len

from app.memory.pages import Found, PastVersion
from app.plain_text import plain_line
from app.state.model import Memory, MemoryDocument
from widgets.cells import Cell
from widgets.glyphs import Glyphs
from widgets.tree.rows import cut_cells
from widgets.words import ago_in_words

WHO = {"you": "user", "assistant": "tool", "dream": "dream", "other": "muted", "": "muted"}
"""Colours of those who write."""
SIZE, AGE, AUTHOR = 6, 8, 10
"""Cells of the columns at the right."""
LEAST_NAME = 12
"""Cells of a name for which the columns give way, the size first."""
WHEN = 13
"""Cells of the moment of a version."""
LEAD = 4
"""Cells of the cursor and the marks."""


class Row(Struct, frozen=True):
    """A line of the list: a document, a folder, the head of the trash, or what is in it."""

    kind: Literal["document", "folder", "trash", "trashed"]
    name: str
    depth: int = 0
    document: MemoryDocument | None = None
    """None for a folder, and for a document that is not on disk."""


def document_rows(memory: Memory, unwritten: Collection[str]) -> list[Row]:
    """The list; `unwritten` are documents that are open and not on disk."""
    known: dict[str, MemoryDocument | None] = {each.name: each for each in memory.documents}
    rows: list[Row] = []
    names = [*known, *sorted(name for name in unwritten if name not in known)]
    shown: tuple[str, ...] = ()
    for name in names:
        folders = tuple(name.split("/")[:-1])
        same = 0
        while same < min(len(shown), len(folders)) and shown[same] == folders[same]:
            same += 1
        rows += [
            Row("folder", "/".join(folders[: depth + 1]), depth)
            for depth in range(same, len(folders))
        ]
        shown = folders
        rows.append(Row("document", name, len(folders), known.get(name)))
    if memory.trashed:
        rows.append(Row("trash", ""))
        rows += [Row("trashed", each.name, 1, each) for each in memory.trashed]
    return rows


def row_cells(
    row: Row, width: int, now: float, glyphs: Glyphs, *, chosen: bool, dirty: bool, clash: bool
) -> list[Cell]:
    """The cells of a line of the list, `width` in all; `now` in seconds since the epoch."""
    found = row.document
    orphan = found is not None and found.is_orphan and row.kind == "document"
    trouble = found is not None and bool(found.trouble)
    cells: list[Cell] = [
        (glyphs.prompt if chosen else " ", "accent"),
        (glyphs.on if dirty else " ", "warn"),
        ("! " if orphan or clash or trouble else "  ", "error" if clash or trouble else "warn"),
    ]
    columns = _columns(row, now, orphan=orphan, clash=clash)
    room = width - LEAD
    while columns and room - sum(len(text) for text, _ in columns) < LEAST_NAME:
        columns.pop(0)
    room -= sum(len(text) for text, _ in columns)
    shown = cut_cells(" " * row.depth * 2 + _shown_name(row, glyphs), max(room, 1), glyphs.more)
    quiet = row.kind != "document" or trouble
    cells.append((shown + " " * max(room - cell_len(shown), 0), "muted" if quiet else "text"))
    return [*cells, *columns]


def _shown_name(row: Row, glyphs: Glyphs) -> str:
    if row.kind == "trash":
        return f"{glyphs.open} trash"
    if row.kind == "trashed":
        return plain_line(row.name)
    last = plain_line(row.name.rpartition("/")[2])
    return f"{glyphs.open} {last}/" if row.kind == "folder" else last


def _columns(row: Row, now: float, *, orphan: bool, clash: bool) -> list[Cell]:
    found = row.document
    if row.kind in {"folder", "trash"}:
        return []
    if found is None:
        return [("not on disk".rjust(SIZE + AGE), "warn")]
    who = "conflict" if clash else "orphan" if orphan else found.who
    colour = "error" if clash else "warn" if orphan else WHO[found.who]
    return [
        (size_in_words(found.size).rjust(SIZE), "muted"),
        (ago_in_words(now - found.modified).rjust(AGE), "muted"),
        (f" {who:<{AUTHOR - 1}}", colour),
    ]


def size_in_words(size: int) -> str:
    """`340`, `1.2k`, `98k`, `1.0M`: bytes."""
    if size < 1_000:
        return str(size)
    thousands = size / 1_000
    if thousands < 9.95:
        return f"{thousands:.1f}k"
    return f"{thousands:.0f}k" if thousands < 999.5 else f"{thousands / 1_000:.1f}M"


def hit_cells(found: Found, width: int, sought: str, glyphs: Glyphs, *, chosen: bool) -> list[Cell]:
    """The cells of a hit: where it is, and its line with the words marked."""
    where = plain_line(found.name) + (f":{found.line}" if found.line else "")
    shown = cut_cells(where, max(width // 3, 8), glyphs.more)
    lead = f"{shown:<{min(max(width // 3, 8), 26)}}  "
    text = plain_line(found.text).strip() if found.line else "name"
    room = max(width - cell_len(lead) - 3, 1)
    at = text.casefold().find(sought.casefold())
    if at > room // 2:
        text = glyphs.more + text[at - room // 3 :]
        at = text.casefold().find(sought.casefold())
    text = cut_cells(text, room, glyphs.more)
    end = at + len(sought)
    marked: list[Cell] = (
        [(text[:at], "text"), (text[at:end], "hit"), (text[end:], "text")]
        if found.line and sought and 0 <= at < len(text)
        else [(text, "text" if found.line else "muted")]
    )
    return [(glyphs.prompt if chosen else " ", "accent"), (f" {lead}", "accent"), *marked]


def version_cells(
    version: PastVersion, width: int, now: datetime, glyphs: Glyphs, *, chosen: bool
) -> list[Cell]:
    """The cells of a version: when, who, what it added and took away, and why."""
    counts: Sequence[Cell] = (
        (f"+{version.added} " if version.added else "", "added"),
        (f"−{version.removed} " if version.removed else "", "removed"),
    )
    state = "now" if version.is_current else "deleted" if version.is_deletion else ""
    why = plain_line(version.why or version.what)
    cells: list[Cell] = [
        (glyphs.prompt if chosen else " ", "accent"),
        (f"{glyphs.on if version.is_current else glyphs.off} ", "accent"),
        (f"{moment_in_words(version.at, now):<{WHEN}}", "muted"),
        (f"{version.who:<10}", WHO[version.who]),
        (f"{state} " if state else "", "error" if version.is_deletion else "ok"),
        *counts,
    ]
    room = max(width - sum(cell_len(text) for text, _ in cells), 0)
    return [*cells, (cut_cells(why, room, glyphs.more), "muted")]


def moment_in_words(at: str, now: datetime) -> str:
    """`14:02` today, `2 Nov 14:02` in this year, else `2 Nov 2025`."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return ""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    local, today = moment.astimezone(), now.astimezone()
    if local.date() == today.date():
        return f"{local:%H:%M}"
    return f"{local.day} {local:%b %H:%M}" if local.year == today.year else f"{local:%-d %b %Y}"
