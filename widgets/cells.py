"""A line of cells, each in a colour of the palette, as lists that are drawn by line have them."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from widgets.palette import Palette

Cell = tuple[str, str]
"""Text and the name of its colour in the palette; `hit` is what was sought."""


def strip_of(cells: Sequence[Cell], palette: Palette, width: int, *, raised: bool) -> Strip:
    """The line, `width` cells in all; `raised` where the cursor is."""
    ground = palette.raised if raised else palette.surface
    segments = [
        Segment(text, Style(color=palette.accent, bgcolor=ground, bold=True, underline=True))
        if colour == "hit"
        else Segment(text, Style(color=getattr(palette, colour), bgcolor=ground))
        for text, colour in cells
    ]
    base = Style(color=palette.text, bgcolor=ground)
    return Strip(segments).extend_cell_length(width, base).crop(0, width)


def cut_cells(text: str, cells: int, more: str) -> str:
    """At most so many cells of a line; a longer one ends in `more`."""
    if cell_len(text) <= cells:
        return text
    return set_cell_size(text, cells - 1) + more if cells > 0 else ""
