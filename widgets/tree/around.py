"""The lines around the tree, cut to the width of the terminal: no word of them is broken."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content

from widgets.tree.rows import cut_cells

LEAST_TITLE = 4
"""Cells of a title below which none is shown."""


def head(title: str, counts: Sequence[str], keys: str, width: int, more: str) -> Content:
    """What is shown and how much of it; the keys give way first, then the title, then counts."""
    name = " tree  "
    said = fitting(counts, width - cell_len(name), "   ")
    room = width - cell_len(f"{name}  {said}  {keys} ")
    ends_in_keys = room >= 0
    if not ends_in_keys:
        room = width - cell_len(f"{name}  {said}")
    shown = f"{cut_cells(title, room, more)}  " if title and room >= LEAST_TITLE else ""
    words = shown + said
    gap = width - cell_len(f"{name}{words}{keys} ")
    end = f"{' ' * gap}{keys}" if ends_in_keys else ""
    return Content.assemble(
        Content.styled(cut_cells(name, width, more), "bold $r-accent"),
        shown,
        Content.styled(f"{said}{end}", "$r-muted"),
    )


def foot(keys: Sequence[str], last: Sequence[str], width: int) -> str:
    """The keys that have room, always with those of `last` that have."""
    ends = fitting(last, width - 1, "  ")
    first = fitting([key for key in keys if key], width - cell_len(ends) - 3, "  ")
    return f" {'  '.join(words for words in (first, ends) if words)}"


def fitting(words: Sequence[str], width: int, between: str) -> str:
    """As many of the words, from the first one on, as have room."""
    shown = ""
    for each in words:
        longer = f"{shown}{between}{each}" if shown else each
        if cell_len(longer) > width:
            break
        shown = longer
    return shown
