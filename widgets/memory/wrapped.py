"""A wrapped document whose edits cost the same in every place of a text of 1 MB."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

from rich.cells import cell_len
from textual._wrap import compute_wrap_offsets
from textual.expand_tabs import get_tab_widths
from textual.widgets.text_area import Location, WrappedDocument

WHOLE: tuple[int, ...] = ()
"""Where a line is broken that fits: one object for all of them, which no collection looks at."""
NO_TABS = (0,)
Wrapped = tuple[Sequence[int], Sequence[int]]
"""Where a line is broken, and the widths of its tabs."""


class RowsOfLines(Sequence[Sequence[int]]):
    """The rows of each line."""

    def __init__(self, tops: list[int]) -> None:
        self._tops = tops

    def __len__(self) -> int:
        return len(self._tops) - 1

    def __getitem__(self, line: Any) -> Any:
        return range(self._tops[line], self._tops[line + 1])


class LinesOfRows(Sequence[tuple[int, int]]):
    """The line that each row shows, and which of the line's rows it is."""

    def __init__(self, tops: list[int]) -> None:
        self._tops = tops

    def __len__(self) -> int:
        return self._tops[-1]

    def __getitem__(self, row: Any) -> Any:
        if row < 0:
            row += len(self)
        if not 0 <= row < len(self):
            raise IndexError(row)
        line = bisect_right(self._tops, row) - 1
        return line, row - self._tops[line]


class QuickWrapped(WrappedDocument):
    """Textual's own keeps rows and lines in lists of lists: each new line walks through all that
    are below it, and so does each collection of garbage, 50 ms together in 1 MB."""

    def wrap(self, width: int, tab_width: int | None = None) -> None:
        """Wrap all lines at a width in cells; 0 does not wrap."""
        self._width = width
        self._tab_width = tab_width or self._tab_width
        self._wrap_offsets, self._tab_width_cache = [], []
        self._put(0, 0, self.document.lines)

    def wrap_range(self, start: Location, old_end: Location, new_end: Location) -> None:
        """Wrap the lines between `start` and `new_end` anew, which were those to `old_end`."""
        last = len(self._wrap_offsets) - 1
        first = min(start[0], old_end[0], last, self.document.line_count - 1)
        self._put(
            first,
            min(max(start[0], old_end[0]), last) + 1,
            self.document.lines[first : max(start[0], new_end[0]) + 1],
        )

    def _put(self, first: int, end: int, lines: Iterable[str]) -> None:
        wrapped = [self._wrapped(line) for line in lines]
        self._wrap_offsets[first:end] = [offsets for offsets, _ in wrapped]  # pyright: ignore[reportCallIssue, reportArgumentType] - read only, as every user of it does
        self._tab_width_cache[first:end] = [tabs for _, tabs in wrapped]  # pyright: ignore[reportCallIssue, reportArgumentType] - read only
        heights = [len(offsets) + 1 for offsets in self._wrap_offsets]
        tops = list(accumulate(heights, initial=0))
        self._line_index_to_offsets = RowsOfLines(tops)  # pyright: ignore[reportAttributeAccessIssue] - read only
        self._offset_to_line_info = LinesOfRows(tops)  # pyright: ignore[reportAttributeAccessIssue] - read only

    def _wrapped(self, line: str) -> Wrapped:
        if "\t" not in line and (not self._width or cell_len(line) <= self._width):
            return WHOLE, NO_TABS if line else WHOLE
        tabs = get_tab_widths(line, self._tab_width)
        offsets = (
            compute_wrap_offsets(line, self._width, self._tab_width, precomputed_tab_sections=tabs)
            if self._width
            else WHOLE
        )
        return tuple(offsets), tuple(width for _, width in tabs)

    @property
    def height(self) -> int:
        return len(self._offset_to_line_info)
