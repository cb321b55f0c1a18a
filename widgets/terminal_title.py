"""The terminal's own title, and its bell: what can be seen and heard from another window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from app.plain_text import cut, plain_line
from app.state.background import TurnSummary
from app.state.model import State

LONGEST: Final = 80
"""Characters of a title."""
_MARKS: Final = {"working": "…", "waiting": "?", "blocked": "!", "failed": "✗", "completed": "✓"}
_RING: Final = {"bell": "\a", "desktop": "\x1b]9;{words}\a"}


def title_of(state: State) -> str:
    """What the session is about, and in front of it how it stands."""
    about = state.session.title or state.session.folder.rpartition("/")[2]
    name = cut(plain_line(about), LONGEST) or "reverie"
    waits = state.permission.requests or state.permission.questions
    if state.live.turn_id is not None and not waits:
        return f"… {name}"
    mark = "!" if waits else _MARKS.get(state.summary.category, "") if state.summary else ""
    return f"{mark} {name}".strip()


class TerminalTitle:
    """Sends what has changed; `app` is the `ReverieApp`."""

    def __init__(self, app: Callable[[], Any]) -> None:
        self._app = app
        self._shown = ""
        self._heard: TurnSummary | None = None

    def show(self, state: State) -> None:
        """The state has changed."""
        title = title_of(state)
        if title != self._shown:
            self._shown = title
            self._app().write_terminal(f"\x1b]2;{title}\a")
        summary = state.summary
        before, self._heard = self._heard, summary
        if summary is None or summary is before:
            return
        if summary.needs_action and state.away.is_away:
            self._ring(state)

    def _ring(self, state: State) -> None:
        app = self._app()
        how = app.controller.loaded.settings.post_turn.notify
        if how in _RING and state.summary is not None:
            words = plain_line(f"reverie: {state.summary.detail or state.summary.category}")
            app.write_terminal(_RING[how].format(words=words.replace(";", ",")))
