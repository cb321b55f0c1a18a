"""The line at the top: where one is, what it is about, with which model and mode."""

from __future__ import annotations

from pathlib import Path

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from app.plain_text import plain_line
from app.state import select
from app.state.model import Session
from widgets.follow import Follow
from widgets.looks import glyphs_of, palette_of
from widgets.words import model_in_words


class Header(Follow, Widget):
    """Name, folder and branch at the left, the title in the middle, model and mode at the right."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._session = Session()

    def on_mount(self) -> None:
        self.follow(select.session, self._show)

    def _show(self, session: Session) -> None:
        if session is not self._session:
            self._session = session
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        palette = palette_of(self.app)
        base = Style(color=palette.muted, bgcolor=palette.surface)
        if y == 1:
            return Strip([Segment(glyphs_of(self.app).rule * width, base)])
        if y > 1 or not width:
            return Strip.blank(width, base)
        session = self._session
        right = f"{model_in_words(session.model).removeprefix('claude-')}   {session.mode} "
        left = f"  {home_relative(session.folder)}" + (
            f"  {session.git_branch}" if session.git_branch else ""
        )
        name = " reverie "
        room = width - cell_len(name) - cell_len(right) - 2
        left = plain_line(left)
        shown_left = left if cell_len(left) <= room else set_cell_size(left, max(room, 0))
        room -= cell_len(shown_left)
        title = plain_line(session.title)
        title = title if cell_len(title) <= room - 4 else set_cell_size(title, max(room - 4, 0))
        before = max((room - cell_len(title)) // 2, 0)
        after = max(room - cell_len(title) - before, 0)
        accent = Style(color=palette.accent, bgcolor=palette.surface, bold=True)
        text = Style(color=palette.text, bgcolor=palette.surface)
        segments = [
            Segment(name, accent),
            Segment(shown_left, base),
            Segment(" " * (before + 1), base),
            Segment(title, text),
            Segment(" " * (after + 1), base),
            Segment(right, base),
        ]
        return Strip(segments).extend_cell_length(width, base).crop(0, width)


def home_relative(folder: str) -> str:
    """A folder as people write it: `~` for their own."""
    home = str(Path("~").expanduser())
    inside = folder == home or folder.startswith(home + "/")
    return "~" + folder[len(home) :] if inside else folder
