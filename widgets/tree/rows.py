"""One node of the tree as a line of cells."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from rich.cells import cell_len

from app.plain_text import plain_line
from app.sessions.lanes import TEXT_CELLS, Row, Signs, drawn_lanes, lanes_for, sign_of
from app.sessions.node_facts import Facts, changes_in_words, tools_in_words
from app.sessions.summary import moment_at
from widgets.cells import Cell, cut_cells
from widgets.glyphs import Glyphs
from widgets.words import cost_in_words

SHOWN = 60
"""Cells of a prompt that beat the columns beside it (spec/ui.md, the contract)."""
COLUMNS = (("cost", 6), ("tools", 8), ("files", 9), ("time", 5))
"""Names and cells of the columns at the right; a long prompt takes the place of the first ones. A
number that has no room is said with fewer digits, or not at all, and never cut; it may take all but
one cell of the gap in front of it."""
GAP = 2
MARGIN = 1
LONGEST_TEXT = 400
"""Characters of a prompt that are looked at for one line."""
LONGEST_LABEL = 24
"""Cells of a label."""
LEAST_TEXT = 8
"""Cells of text that a line keeps beside the sign of where the branch in use ends."""
AROUND = 4
"""Cells of a line that are neither lanes nor text: the cursor, the sign, two spaces."""

_SIGN_COLOURS = {"compact": "dream", "unavailable": "warn", "restore": "warn", "fork": "user"}


class Line(Struct, frozen=True):
    """What a line shows beside its node."""

    row: Row
    facts: Facts | None = None
    """None while they are not known."""
    shell_files: int = 0
    """Files that shell commands changed."""
    label: str = ""
    sought: str = ""
    chosen: bool = False
    marked: bool = False
    """It is the first of two that are to be compared."""
    cannot_restore: bool = False


def line_cells(
    line: Line, width: int, now: datetime, signs: Signs, glyphs: Glyphs, *, marks: bool
) -> list[Cell]:
    """The cells of a line, `width` in all; `marks` keeps a place for what cannot be restored."""
    row = line.row
    lanes = drawn_lanes(row, signs, lanes_for(width, AROUND))
    colour = _SIGN_COLOURS.get(row.node.kind, "accent" if row.node.on_branch else "muted")
    cells: list[Cell] = [
        (glyphs.good if line.marked else glyphs.prompt if line.chosen else " ", "accent"),
        (lanes, "muted"),
        (f"{sign_of(row.node, signs)} ", colour),
    ]
    room = width - sum(cell_len(text) for text, _ in cells) - MARGIN - (2 if marks else 0)
    text = _text(line)
    tags = _tags(line, signs, glyphs, room, cell_len(text))
    room -= sum(cell_len(tag) for tag, _ in tags)
    columns = _columns(line, now, room - min(cell_len(text), SHOWN + 1))
    room -= sum(cell_len(column) for column, _ in columns)
    shown = cut_cells(text, max(room, 0), glyphs.more)
    prose = "text" if row.node.kind in {"prompt", "fork"} else "muted"
    cells += _highlighted(shown, line.sought, prose)
    cells += tags
    cells.append((" " * (room - cell_len(shown)), prose))
    cells += columns
    if marks:
        cells.append((f" {glyphs.bad if line.cannot_restore else ' '}", "muted"))
    return [cell for cell in cells if cell[0]]


def _text(line: Line) -> str:
    node = line.row.node
    text = " ".join(plain_line(node.text[:LONGEST_TEXT]).split())
    if node.kind == "fork":
        return f"fork {node.session_id[:8]}  {text}".rstrip()
    return text or "(picture)"


def _tags(line: Line, signs: Signs, glyphs: Glyphs, room: int, text: int) -> list[Cell]:
    """What stands right behind a text of so many cells, as far as that keeps its room."""
    least, room = room - min(text, LEAST_TEXT), room - min(text, TEXT_CELLS)
    label = cut_cells(plain_line(line.label), LONGEST_LABEL, glyphs.more)
    recaps = line.row.node.recaps
    tags: list[Cell] = []
    if line.row.node.current:
        for words, place in ((f"  {signs.here} here", room), (f"  {signs.here}", least)):
            if not tags and cell_len(words) <= place:
                tags.append((words, "accent"))
                room -= cell_len(words)
    wanted: list[Cell] = []
    if line.row.hidden:
        wanted.append((f"  {glyphs.folded} {line.row.hidden} more", "muted"))
    if label:
        wanted.append((f"  [{label}]", "tool"))
    if recaps:
        wanted.append(("  recap" if recaps == 1 else f"  {recaps} recaps", "muted"))
    for tag in wanted:
        if cell_len(tag[0]) <= room:
            tags.append(tag)
            room -= cell_len(tag[0])
    return tags


def _columns(line: Line, now: datetime, room: int) -> list[Cell]:
    """The columns that have room; from the left they make place for the text."""
    values = _values(line, now)
    shown: list[Cell] = []
    for name, cells in reversed(COLUMNS):
        room -= cells + GAP
        if room < 0:
            break
        ways, colour = values[name]
        value = next((way for way in ways if cell_len(way) < cells + GAP), "")
        shown.append((" " * (GAP + cells - cell_len(value)) + value, colour))
    return shown[::-1]


def _values(line: Line, now: datetime) -> dict[str, tuple[Sequence[str], str]]:
    """For each column the ways to say it, the most exact first, and its colour."""
    node, facts = line.row.node, line.facts
    files: Sequence[str] = ()
    if facts is not None and facts.files:
        both = zip(_shortened(facts.added), _shortened(facts.removed), strict=True)
        files = [changes_in_words(added, removed) for added, removed in both]
    elif line.shell_files:
        files = [files_in_words(line.shell_files)]
    cost = () if facts is None or facts.cost_usd == 0 else _costs(facts.cost_usd)
    tools = [tools_in_words(count) for count in _shortened(node.tools)] if node.tools else ()
    return {
        "time": ([time_in_words(node.timestamp, now)], "muted"),
        "tools": (tools, "muted"),
        "files": (files, "ok"),
        "cost": (cost, "muted"),
    }


def _shortened(count: int) -> tuple[int | str, ...]:
    """`12345`, `12.3k`, `12k`: ways to say a number, the most exact first."""
    if count < 1_000:
        return count, count, count
    size, unit = (1_000, "k") if count < 999_500 else (1_000_000, "M")
    return count, f"{count / size:.1f}{unit}", f"{count / size:.0f}{unit}"


def _costs(cost: float | None) -> tuple[str, ...]:
    if cost is not None and cost < 0.01:
        return ("<$0.01",)
    whole = () if cost is None else tuple(f"${each}" for each in _shortened(round(cost)))
    return cost_in_words(cost), *whole


def files_in_words(count: int) -> str:
    """`1 file`, `9 files`."""
    return f"{count} file{'' if count == 1 else 's'}"


def time_in_words(timestamp: str | None, now: datetime) -> str:
    """`14:02` on the day of `now`, `11-02` on another one, `2025` in another year; local time."""
    moment = moment_at(timestamp)
    if moment is None:
        return ""
    local, today = moment.astimezone(), now.astimezone()
    if local.date() == today.date():
        return f"{local:%H:%M}"
    return f"{local:%m-%d}" if local.year == today.year else f"{local:%Y}"


def _highlighted(text: str, sought: str, colour: str) -> list[Cell]:
    folded = text.casefold()
    start = folded.find(sought) if sought else -1
    if start < 0 or len(folded) != len(text):
        return [(text, colour)]
    stop = start + len(sought)
    return [(text[:start], colour), (text[start:stop], "hit"), (text[stop:], colour)]
