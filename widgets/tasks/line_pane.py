"""Lines that are read: they scroll, and none of them is chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from widgets.cells import Cell, strip_of
from widgets.looks import palette_of

Lines = Sequence[Sequence[Cell]]


class LinePane(ScrollView, can_focus=False):
    """Lines that are made anew for each width."""

    def __init__(self, make: Callable[[int], Lines], *, id: str) -> None:  # noqa: A002 - Textual's
        """`make` gives the lines for a width in cells."""
        super().__init__(id=id)
        self._make = make
        self._lines: Lines = ()

    def show(self, *, anew: bool = False) -> None:
        """Make the lines again; `anew` to read them from the first one on."""
        region = self.scrollable_content_region
        if not region.width:
            return
        self._lines = self._make(region.width)
        self.virtual_size = Size(region.width, len(self._lines))
        if anew:
            self.scroll_to(y=0, animate=False, immediate=True, force=True)
        self.refresh()

    def on_resize(self) -> None:
        self.show()

    def on_show(self) -> None:
        self.show()

    def scroll_lines(self, lines: int) -> None:
        """Scroll by so many lines."""
        self.scroll_relative(y=lines, animate=False, immediate=True, force=True)

    def scroll_pages(self, pages: int) -> None:
        """Scroll by so many pages."""
        self.scroll_lines(pages * max(self.scrollable_content_region.height, 1))

    def scroll_to_end(self, step: int) -> None:
        """Scroll to the first line or to the last one."""
        end = self.max_scroll_y if step > 0 else 0
        self.scroll_to(y=end, animate=False, immediate=True, force=True)

    def render_line(self, y: int) -> Strip:
        index = y + self.scroll_offset.y
        cells = self._lines[index] if index < len(self._lines) else ()
        return strip_of(cells, palette_of(self.app), self.size.width, raised=False)
