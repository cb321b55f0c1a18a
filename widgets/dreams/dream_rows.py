"""A dream in one line of a list, and what is told of it before its changes."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from rich.cells import cell_len

from app.background.dream.record import Dream, DreamStatus
from app.plain_text import plain_line
from widgets.cells import Cell, cut_cells
from widgets.glyphs import Glyphs
from widgets.tasks.words import moment_in_words, wrapped
from widgets.words import cost_in_words, seconds_in_words, tokens_in_words

COLOURS: Final[dict[DreamStatus, str]] = {
    "publishing": "accent",
    "held": "warn",
    "completed": "ok",
    "failed": "error",
    "aborted": "warn",
    "discarded": "muted",
    "reverted": "muted",
}
WHEN, STATUS, FILES, COST = 13, 12, 9, 8
"""Cells of the columns of the list."""
LEAD: Final = 4
"""Cells of the cursor and the mark."""
LEAST_REASON: Final = 12
"""Cells below which a reason is not begun."""
LABEL: Final = 10
"""Cells of what stands in front of a value."""
MOST_SAID: Final = 40
"""Lines of the sub-agent's last words that are drawn."""


def mark(status: DreamStatus, glyphs: Glyphs) -> str:
    """The sign of a status."""
    marks: dict[DreamStatus, str] = {
        "publishing": glyphs.on,
        "held": glyphs.off,
        "completed": glyphs.good,
        "failed": glyphs.bad,
    }
    return marks.get(status, glyphs.gone)


def status_in_words(dream: Dream) -> str:
    """Its status; a dream of which some documents were taken back is told apart."""
    back = sum(1 for file in dream.files if file.state == "reverted")
    return "partly back" if dream.status == "completed" and back else dream.status


def count_in_words(count: int, thing: str) -> str:
    """`1 file`, `3 files`."""
    return f"{count} {thing}{'' if count == 1 else 's'}"


def moment_of(text: str, now: datetime) -> str:
    """When something was, as `moment_in_words` tells it; empty for what is no time."""
    at = _seconds(text)
    return "" if at is None else moment_in_words(at, now)


def _seconds(text: str) -> float | None:
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        return None


def list_row(
    dream: Dream, width: int, now: datetime, glyphs: Glyphs, *, chosen: bool
) -> list[Cell]:
    """A dream as one line; the columns on the right give way where it is narrow."""
    colour = COLOURS[dream.status]
    columns: list[tuple[str, int, str]] = [
        (moment_of(dream.started, now), WHEN, "text"),
        (status_in_words(dream), STATUS, colour),
        (count_in_words(len(dream.files), "file"), FILES, "text" if dream.files else "muted"),
        (cost_in_words(dream.cost_usd), COST, "muted"),
    ]
    while len(columns) > 2 and LEAD + sum(size for _, size, _ in columns) > width:
        columns.pop()
    cells: list[Cell] = [
        (f"{glyphs.prompt if chosen else ' '} ", "accent"),
        (f"{mark(dream.status, glyphs)} ", colour),
    ]
    for text, size, shade in columns:
        shown = cut_cells(text, size - 1, glyphs.more)
        cells.append((shown + " " * (size - cell_len(shown)), shade))
    room = width - LEAD - sum(size for _, size, _ in columns)
    if room >= LEAST_REASON:
        cells.append((cut_cells(plain_line(dream.reason), room, glyphs.more), "muted"))
    return cells


def head_lines(dream: Dream, width: int, now: datetime, glyphs: Glyphs) -> list[list[Cell]]:
    """The lines above the changes, each at most `width` cells."""
    colour = COLOURS[dream.status]
    lines: list[list[Cell]] = [
        [
            (f"  {mark(dream.status, glyphs)} ", colour),
            ("dream  ", "dream"),
            (status_in_words(dream), colour),
        ]
    ]
    shade = colour if dream.status in {"held", "failed", "aborted"} else "text"
    lines += [[(f"    {line}", shade)] for line in _texts(dream.reason, width - 4)]
    lines.append([])
    for label, value, shade in _fields(dream, now):
        for position, text in enumerate(_texts(value, width - LABEL - 4)):
            lead = label if position == 0 else ""
            lines.append([(f"    {lead:<{LABEL}}", "muted"), (text, shade)])
    return lines


def _texts(text: str, width: int) -> list[str]:
    lines = wrapped(text, width) if text else []
    if len(lines) > MOST_SAID:
        return [*lines[:MOST_SAID], f"({len(lines) - MOST_SAID} more lines are not drawn)"]
    return lines


def _fields(dream: Dream, now: datetime) -> list[tuple[str, str, str]]:
    began, ended = _seconds(dream.started), _seconds(dream.ended)
    took = "" if began is None or ended is None else f", took {seconds_in_words(ended - began)}"
    usage = dream.usage
    counts = {
        "in": usage.input,
        "out": usage.output,
        "cache read": usage.cache_read,
        "cache write": usage.cache_write,
    }
    tokens = ", ".join(f"{tokens_in_words(count)} {name}" for name, count in counts.items())
    cost = "unknown price" if dream.cost_usd is None else cost_in_words(dream.cost_usd)
    logs = ", ".join(dream.daily_logs[:20])
    if len(dream.daily_logs) > 20:
        logs += f", {len(dream.daily_logs) - 20} more"
    fields = [
        ("began", f"{moment_of(dream.started, now)}{took}", "text"),
        ("model", dream.model, "text"),
        ("calls", str(dream.turns) if dream.turns else "", "text"),
        ("tokens", tokens if any(counts.values()) else "", "text"),
        ("cost", cost, "warn" if dream.cost_usd is None else "text"),
        ("reviewed", count_in_words(len(dream.sessions), "session"), "text"),
        ("logs", logs, "text"),
        ("said", dream.said, "text"),
    ]
    return [field for field in fields if field[1]]
