"""Sentences that belong to no message; they go by themselves or with `esc`."""

from __future__ import annotations

from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from app.plain_text import plain
from app.state import select
from app.state.model import Notice
from widgets.follow import Follow

MOST_SHOWN = 3
INFO_SECONDS = 6


class NoticeRows(Follow, Static):
    """The newest notices above the prompt."""

    class Read(Message):
        """A notice has been on screen long enough, or was dismissed."""

        def __init__(self, notice_id: int) -> None:
            super().__init__()
            self.notice_id = notice_id

    def __init__(self) -> None:
        super().__init__(id="notices")
        self._timed: set[int] = set()
        self._notices: tuple[Notice, ...] = ()

    def on_mount(self) -> None:
        self.follow(select.notices, self._show)

    def _show(self, notices: tuple[Notice, ...]) -> None:
        self._notices = notices
        self.display = bool(notices)
        colours = {"info": "$r-muted", "warning": "$r-warn", "error": "$r-error"}
        rows: list[Content] = []
        for notice in notices[-MOST_SHOWN:]:
            rows += [
                Content.styled(f" {plain(notice.text)}", colours[notice.severity]),
                Content("\n"),
            ]
            if notice.severity == "info" and notice.id not in self._timed:
                self._timed.add(notice.id)
                self.set_timer(INFO_SECONDS, lambda read=notice.id: self._done(read))
        if len(notices) > MOST_SHOWN:
            rows.append(Content.styled(f" {len(notices) - MOST_SHOWN} more\n", "$r-muted"))
        if any(notice.severity != "info" for notice in notices):
            rows.append(Content.styled(" esc Dismiss\n", "$r-muted"))
        self.update(Content.assemble(*rows[:-1], rows[-1].rstrip()) if rows else Content(""))

    def _done(self, notice_id: int) -> None:
        self.post_message(self.Read(notice_id))

    def dismiss(self) -> bool:
        """Let go of everything on show; False when there was nothing."""
        for notice in self._notices:
            self._done(notice.id)
        return bool(self._notices)
