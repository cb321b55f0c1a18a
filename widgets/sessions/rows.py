"""One session as one or two lines of cells."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from rich.cells import cell_len, set_cell_size

from app.plain_text import plain_line
from app.sessions.glance import SessionSummary
from app.sessions.search import Hit
from widgets.cells import Cell
from widgets.glyphs import Glyphs
from widgets.words import ago_in_words, cost_in_words, tokens_in_words

WIDE = 100
"""Columns from which on a session takes one line instead of two."""

COLUMNS = (("last", 7), ("br.", 4), ("size", 6), ("cost", 8), ("status", 11))
"""Heads and cells of the columns at the right; they drop from the right."""
GAP = 2
MARGIN = 4
"""Cells in front of the title: the cursor and the sign of the status."""
SHORTEST_TITLE = 12
SHARE = 0.45
"""Of the room beside the columns, what the title takes where the prompt stands beside it."""

_COLOURS = {
    "complete": "ok",
    "waiting": "warn",
    "interrupted": "warn",
    "open": "accent",
    "here": "accent",
    "empty": "muted",
    "unreadable": "error",
}


class Row(Struct, frozen=True):
    """What a row shows."""

    session: SessionSummary
    hit: Hit | None = None
    here: bool = False
    """It is the session that is open in this window."""
    folder: str = ""
    """Where it took place, in a list of several folders."""


def columns_for(width: int) -> Sequence[tuple[str, int]]:
    """The columns that have room beside a title."""
    room = width - MARGIN - SHORTEST_TITLE
    shown: list[tuple[str, int]] = []
    for name, cells in COLUMNS:
        room -= cells + GAP
        if room < 0:
            break
        shown.append((name, cells))
    return shown


def split_room(width: int) -> tuple[int, int]:
    """Cells for the title and for the text beside it, 0 where it has a line of its own."""
    taken = sum(cells + GAP for _, cells in columns_for(width))
    room = max(width - MARGIN - taken, 1)
    if width < WIDE:
        return room, 0
    title = int(room * SHARE)
    return title, room - title - GAP


def head_cells(width: int, text_name: str, more: str) -> list[Cell]:
    """The names of the columns; `text_name` is that of the text beside the title."""
    title, text = split_room(width)
    cells = [(" " * MARGIN + fit("title", title, more), "muted")]
    if text:
        cells.append((" " * GAP + fit(text_name, text, more), "muted"))
    for name, size in columns_for(width):
        cells.append((" " * GAP + _aligned(name, name, size, more), "muted"))
    return cells


def row_cells(row: Row, width: int, now: float, glyphs: Glyphs, *, chosen: bool) -> list[Cell]:
    """The first line of a row; `now` in seconds since the epoch."""
    session = row.session
    title_room, text_room = split_room(width)
    status = "here" if row.here else session.status
    colour = _COLOURS[status]
    sign = {"complete": glyphs.good, "interrupted": glyphs.bad, "unreadable": glyphs.bad}.get(
        status, glyphs.off if status == "empty" else glyphs.on
    )
    cells: list[Cell] = [
        (f"{glyphs.prompt if chosen else ' '} ", "accent"),
        (f"{sign} ", colour),
        (fit(session.title or "(no prompt yet)", title_room, glyphs.more), "text"),
    ]
    if text_room:
        cells += [(" " * GAP, "muted"), *text_cells(row, text_room, glyphs.more)]
    values = {
        "last": ago_in_words(now - session.updated_at),
        "br.": glyphs.more if session.branches is None else str(session.branches),
        "size": tokens_in_words(session.size),
        "cost": cost_in_words(session.cost_usd) if session.is_exact else glyphs.more,
        "status": status,
    }
    for name, size in columns_for(width):
        shown = " " * GAP + _aligned(name, values[name], size, glyphs.more)
        cells.append((shown, colour if name == "status" else "muted"))
    return cells


def text_cells(row: Row, room: int, more: str) -> list[Cell]:
    """Where the words were found, else how the session began and where."""
    hit, session = row.hit, row.session
    if hit is None or hit.role == "title":
        is_title = session.first_prompt == session.title
        parts = (row.folder, session.git_branch if is_title else session.first_prompt)
        return [(fit("  ".join(part for part in parts if part), room, more), "muted")]
    start, stop = hit.at
    word, after = plain_line(hit.snippet[start:stop]), plain_line(hit.snippet[stop:])
    most = max(room * 2 // 3, room - cell_len(word) - cell_len(after))
    before = fit_left(f"{hit.role}: {plain_line(hit.snippet[:start])}", most, more)
    used = cell_len(before) + cell_len(word)
    if used > room:
        return [(fit(before + word, room, more), "muted")]
    return [
        (before, "muted"),
        (word, "hit"),
        (fit(after, room - used, more), "muted"),
    ]


def _aligned(name: str, text: str, size: int, more: str) -> str:
    fitted = fit(text, size, more)
    return fitted if name == "status" else fitted.rstrip().rjust(size)


def fit(text: str, cells: int, more: str) -> str:
    """The text on exactly so many cells; a longer one ends in `more`."""
    line = plain_line(text)
    if cell_len(line) <= cells:
        return set_cell_size(line, max(cells, 0))
    return set_cell_size(line, cells - 1) + more if cells > 0 else ""


def fit_left(text: str, cells: int, more: str) -> str:
    """At most so many cells; of a longer text the end."""
    if cell_len(text) <= cells:
        return text
    end = text
    while end and cell_len(end) > cells - 1:
        end = end[1:]
    return more + end
