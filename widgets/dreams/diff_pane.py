"""The changes of a dream, whose cursor is seen only while the keys move it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.strip import Strip

from widgets.cells import Cell, strip_of
from widgets.looks import palette_of
from widgets.tree.tree_list import TreeList


class DiffPane(TreeList):
    """Rows with a cursor that may be hidden."""

    has_cursor = False

    def __init__(
        self,
        cells: Callable[[int, int], Sequence[Cell]],
        fitted: Callable[[], None],
        *,
        id: str,  # noqa: A002 - Textual's own name
    ) -> None:
        """`fitted` is called when the rows have another width."""
        super().__init__(cells, id=id)
        self._fitted = fitted

    def on_resize(self) -> None:
        self._fitted()

    def on_show(self) -> None:
        self._fitted()

    def _drawn(self, cells: Sequence[Cell], *, raised: bool) -> Strip:
        is_raised = raised and self.has_cursor
        return strip_of(cells, palette_of(self.app), self.size.width, raised=is_raised)

    def show_from(self, row: int) -> None:
        """Scroll so that a row is near the top."""
        self.scroll_to(y=max(row - 1, 0), animate=False, immediate=True, force=True)
