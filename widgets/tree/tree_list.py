"""The lines of the tree: drawn when they are on screen, at a cost that does not depend on many."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from app.plain_text import plain_line
from widgets.cells import Cell, strip_of
from widgets.looks import palette_of


class TreeList(ScrollView, can_focus=False):
    """So many lines with one chosen; what a line says is asked for when it is drawn."""

    class Clicked(Message):
        """The person clicked a line; twice on the same one to open it."""

        def __init__(self, rows: TreeList, index: int, *, opened: bool) -> None:
            super().__init__()
            self.rows = rows
            self.index = index
            self.opened = opened

        @property
        def control(self) -> TreeList:
            """The list that was clicked."""
            return self.rows

    def __init__(
        self,
        cells: Callable[[int, int], Sequence[Cell]],
        *,
        id: str = "tree-list",  # noqa: A002 - Textual's own name
    ) -> None:
        """`cells` gives the cells of a line for a width."""
        super().__init__(id=id)
        self._cells = cells
        self._count = self._chosen = 0
        self._empty: Sequence[str] = ()

    def show(self, count: int, chosen: int, empty: Sequence[str]) -> None:
        """Show so many lines, the chosen one in sight; `empty` is said where there are none."""
        self._count, self._chosen, self._empty = count, chosen, empty
        self._fit()

    def move(self, chosen: int) -> None:
        """Put the cursor on another line; only what changes is drawn."""
        before, self._chosen, first = self._chosen, chosen, self.scroll_offset.y
        if first <= chosen < first + self.page:
            self.refresh_line(before)
            self.refresh_line(chosen)
        else:
            self._fit()

    @property
    def page(self) -> int:
        """How many lines are on screen."""
        return max(self.scrollable_content_region.height, 1)

    @property
    def in_sight(self) -> range:
        """The lines that are on screen."""
        first = self.scroll_offset.y
        return range(first, min(first + self.page, self._count))

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, self._count)
        first = self.scroll_offset.y
        if not first <= self._chosen < first + self.page:
            above = self._chosen < first
            target = self._chosen if above else self._chosen - self.page + 1
            self.scroll_to(y=target, animate=False, immediate=True, force=True)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        index = y + self.scroll_offset.y
        if not self._count:
            text = f"  {plain_line(self._empty[y])}" if y < len(self._empty) else ""
            return self._drawn([(text, "muted")], raised=False)
        if index >= self._count:
            return self._drawn([], raised=False)
        cells = self._cells(index, self.scrollable_content_region.width)
        return self._drawn(cells, raised=index == self._chosen)

    def _drawn(self, cells: Sequence[Cell], *, raised: bool) -> Strip:
        return strip_of(cells, palette_of(self.app), self.size.width, raised=raised)

    def on_click(self, event: events.Click) -> None:
        index = event.y + self.scroll_offset.y
        if 0 <= index < self._count:
            opened = index == self._chosen and event.chain > 1
            self.post_message(self.Clicked(self, index, opened=opened))
