"""What was typed while a turn runs: it waits above the prompt and can be taken back."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from textual.content import Content
from textual.widgets import Static

from app.plain_text import plain_line
from app.state import select
from app.state.model import Live, QueuedMessage
from widgets.follow import Follow

MOST_ROWS = 4


class QueueRows(Follow, Static):
    """One row a queued message; not there while nothing is queued."""

    def __init__(self) -> None:
        super().__init__(id="queue")
        self._queue: tuple[QueuedMessage, ...] = ()

    def on_mount(self) -> None:
        self.follow(select.live, self._show)

    def _show(self, live: Live) -> None:
        if live.queue is self._queue and self.display == bool(live.queue):
            return
        self._queue = live.queue
        self.display = bool(live.queue)
        rows = [
            _row(message, max(self.app.size.width - 40, 10)) for message in live.queue[:MOST_ROWS]
        ]
        if len(live.queue) > MOST_ROWS:
            rows.append(f"… {len(live.queue) - MOST_ROWS} more")
        self.update(Content("\n".join(rows)))


def _row(message: QueuedMessage, width: int) -> str:
    text = plain_line(message.text)
    shown = text if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"
    return f" queued  {shown}   up edit · del remove"
