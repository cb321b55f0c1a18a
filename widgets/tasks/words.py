"""How background work is named, timed and told apart."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from rich.cells import cell_len

from app.plain_text import plain, plain_line
from widgets.cells import Cell, cut_cells
from widgets.conversation.wrap import wrap

KINDS: Final[Mapping[str, str]] = {
    "shell": "command",
    "away_summary": "away summary",
    "recap": "recap",
    "suggestion": "suggestion",
    "post_turn": "turn summary",
    "title": "session title",
    "compact_ahead": "summary ahead",
    "dream": "dream",
    "feedback": "feedback",
}
SIGNS: Final[Mapping[str, Cell]] = {
    "away_summary": ("A", "accent"),
    "recap": ("R", "user"),
    "suggestion": ("S", "tool"),
    "post_turn": ("T", "ok"),
    "title": ("L", "warn"),
    "compact_ahead": ("H", "error"),
    "dream": ("D", "dream"),
    "feedback": ("F", "warn"),
}
"""Letter and colour by which a mechanism is told apart in a chart."""
MOST_LINES: Final = 2_000
"""Lines of one text that are drawn."""
_DAY: Final = timedelta(days=1)


def kind_in_words(kind: str) -> str:
    """What a mechanism is called."""
    return KINDS.get(kind) or plain_line(kind).replace("_", " ")


def sign_of(kind: str) -> Cell:
    """A mechanism's letter and colour."""
    return SIGNS.get(kind) or (kind_in_words(kind)[:1].upper() or "?", "text")


def moment_in_words(at: float, now: datetime) -> str:
    """`14:33` on the same day or within the next 24 hours, else `1 Nov 14:33`.

    `at` in seconds since the epoch; told in the zone of `now`.
    """
    moment = datetime.fromtimestamp(at, now.tzinfo)
    if moment.date() == now.date() or timedelta(0) <= moment - now < _DAY:
        return f"{moment:%H:%M}"
    return f"{moment.day} {moment:%b %H:%M}"


def wrapped(text: str, width: int) -> list[str]:
    """The lines of an untrusted text in a column of so many cells."""
    return wrap(plain(text), max(width, 1), MOST_LINES)


def spread(left: list[Cell], right: list[Cell], width: int, more: str) -> list[Cell]:
    """A line with something at either end; the left end is cut, then the right end goes."""
    used = sum(cell_len(text) for text, _ in right)
    if right and width - used < 8:
        right, used = [], 0
    room = width - used - (2 if right else 0)
    shown: list[Cell] = []
    for text, colour in left:
        part = cut_cells(text, room, more)
        shown.append((part, colour))
        room -= cell_len(part)
        if room <= 0:
            break
    gap = room + (2 if right else 0)
    return [*shown, (" " * max(gap, 0), "muted"), *right]
