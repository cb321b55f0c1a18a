"""The list of sessions, drawn by line: its cost does not depend on how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from app.clock import Clock
from app.plain_text import plain_line
from widgets.cells import Cell, strip_of
from widgets.looks import glyphs_of, palette_of
from widgets.sessions.rows import MARGIN, WIDE, Row, head_cells, row_cells, text_cells

LOW = 8
"""Lines below which a row has one line and the columns have no heads."""


class SessionList(ScrollView, can_focus=False):
    """Rows with one chosen; the chosen one stays chosen when others come and go."""

    class Opened(Message):
        """The person clicked the chosen row."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(id="session-list")
        self._clock = clock
        self._rows: Sequence[Row] = ()
        self._chosen = 0
        self._wanted: Path | None = None
        """The transcript under the cursor, or that it waits for."""
        self._on_top = False
        """The cursor stays on the first row, whatever comes."""
        self._text_name = ""
        self._empty = ""

    @property
    def chosen(self) -> Row | None:
        """The row with the cursor."""
        return self._rows[self._chosen] if self._chosen < len(self._rows) else None

    def show(self, rows: Sequence[Row], text_name: str, empty: str) -> None:
        """Show other rows; `empty` is said where there are none."""
        self._text_name = text_name
        self._rows, self._empty = rows, empty
        paths = [row.session.path for row in rows]
        if self._on_top:
            self._chosen = 0
        elif self._wanted in paths:
            self._chosen = paths.index(self._wanted)
        else:
            self._chosen = min(self._chosen, max(len(rows) - 1, 0))
            if self._wanted is None:
                self.hold()
        self._fit()

    def choose_first(self) -> None:
        """Put the cursor on the first row, where it stays until it is moved."""
        self._on_top, self._chosen = True, 0
        self._fit()

    def choose(self, transcript: Path) -> None:
        """Put the cursor on a session, now or as soon as it is in the list."""
        self._on_top, self._wanted = False, transcript
        paths = [row.session.path for row in self._rows]
        if transcript in paths:
            self._chosen = paths.index(transcript)
            self._fit()

    def hold(self) -> None:
        """Let the cursor go with the row that it is on."""
        row = self.chosen
        self._on_top, self._wanted = False, None if row is None else row.session.path

    def move(self, step: int) -> None:
        """Move the cursor by so many rows."""
        if self._rows:
            self._chosen = min(max(self._chosen + step, 0), len(self._rows) - 1)
            self.hold()
            self._fit()

    @property
    def page(self) -> int:
        """How many rows are on screen."""
        return max((self.scrollable_content_region.height - self._head) // self._height, 1)

    @property
    def _is_low(self) -> bool:
        return self.size.height < LOW

    @property
    def _head(self) -> int:
        return 0 if self._is_low else 1

    @property
    def _height(self) -> int:
        return 1 if self._width >= WIDE or self._is_low else 2

    @property
    def _width(self) -> int:
        return self.scrollable_content_region.width

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        """Fix the size and bring the cursor into sight; the heads take the first line."""
        height = self._height
        self.virtual_size = Size(self._width, len(self._rows) * height + self._head)
        top, room = self._chosen * height, self.page * height
        first = self.scroll_offset.y
        if top < first or top + height > first + room:
            target = top if top < first else top + height - room
            self.scroll_to(y=target, animate=False, immediate=True, force=True)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self._width
        line = y - self._head
        if line < 0:
            head = head_cells(width, self._text_name, glyphs_of(self.app).more)
            return self._drawn(head, raised=False)
        if not self._rows:
            return self._drawn([(self._empty_line(line - self._head), "muted")], raised=False)
        index, part = divmod(line + self.scroll_offset.y, self._height)
        if index >= len(self._rows):
            return self._drawn([], raised=False)
        row, chosen = self._rows[index], index == self._chosen
        glyphs = glyphs_of(self.app)
        if part:
            room = max(width - MARGIN, 1)
            cells = [(" " * MARGIN, "muted"), *text_cells(row, room, glyphs.more)]
        else:
            now = self._clock.now().timestamp()
            cells = row_cells(row, width, now, glyphs, chosen=chosen)
        return self._drawn(cells, raised=chosen)

    def _empty_line(self, line: int) -> str:
        lines = self._empty.split("\n")
        return f"  {plain_line(lines[line])}" if 0 <= line < len(lines) else ""

    def _drawn(self, cells: Sequence[Cell], *, raised: bool) -> Strip:
        return strip_of(cells, palette_of(self.app), self.size.width, raised=raised)

    def on_click(self, event: events.Click) -> None:
        index = (event.y - self._head + self.scroll_offset.y) // self._height
        if event.y < self._head or not 0 <= index < len(self._rows):
            return
        if index == self._chosen and event.chain > 1:
            self.post_message(self.Opened())
        self._chosen = index
        self.hold()
        self.refresh()
