"""The lines around the memory screen: its head with the gauge of the entry's budget."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content

from app.memory.entry import MOST_LINES, MOST_UNITS, fit
from app.plain_text import plain_line
from widgets.tree.rows import cut_cells

ENTRY = "MEMORY.md"
LEAST_PROJECT = 8
"""Cells of the project's name for which the entry's name gives way."""


def left_out(text: str) -> str:
    """What of an entry does not enter a request; empty when all does."""
    line = fit(text).first_line_cut
    return f"left out from line {line} on" if line else ""


def left_out_by_size(lines: int, code_units: int) -> str:
    """The same where only the entry's size is known."""
    if code_units > MOST_UNITS:
        return "its end is left out"
    return f"left out from line {MOST_LINES + 1} on" if lines > MOST_LINES else ""


def gauge_words(lines: int, code_units: int) -> str:
    """`12 / 200 lines, 340 / 25 000 units` (spec/ui.md, the contract)."""
    return f"{lines} / {MOST_LINES} lines, {_spaced(code_units)} / {_spaced(MOST_UNITS)} units"


def _spaced(number: int) -> str:
    return f"{number:,}".replace(",", " ")


def head(project: str, gauge: str, cut: str, note: str, width: int, more: str) -> Content:
    """The first line; `cut` is said in the colour of a warning, `note` beside the project."""
    name = " memory  "
    both = f"{gauge}, {cut}" if cut else gauge
    least = LEAST_PROJECT
    for words in (f"{ENTRY}   {both}", both, gauge):
        right = f"{words} "
        room = width - cell_len(name) - cell_len(right) - 2
        if room >= least:
            break
        least = 0 if cut else LEAST_PROJECT  # what is left out comes before the project
    right = cut_cells(right, max(width - cell_len(name), 0), more)
    said = cut_cells(plain_line(project), max(room, 0), more)
    beside = f"   {note}" if note and cell_len(said) + cell_len(note) + 3 <= room else ""
    gap = max(width - cell_len(f"{name}{said}{beside}{right}"), 0)
    return Content.assemble(
        Content.styled(cut_cells(name, width, more), "bold $r-accent"),
        said,
        Content.styled(beside, "$r-warn"),
        " " * gap,
        Content.styled(right, "$r-warn" if cut else "$r-muted"),
    )
