"""The permission mode of the session on screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from app.config import Settings
from app.state.facts import Fact, ModeChanged
from app.state.model import Severity, State

if TYPE_CHECKING:
    from app.assembly import Runtime

MODES = ("default", "acceptEdits", "plan", "bypassPermissions")


class ModeDesk:
    """Chooses the mode in which later tool calls are judged."""

    def __init__(
        self,
        emit: Callable[[Fact], None],
        notice: Callable[[str, Severity], None],
        runtime: Callable[[], Runtime],
        settings: Callable[[], Settings],
        state: Callable[[], State],
    ) -> None:
        self._emit = emit
        self._notice = notice
        self._runtime = runtime
        self._settings = settings
        self._state = state

    @property
    def choices(self) -> tuple[str, ...]:
        """The modes to choose from; bypass only where the session was started with it."""
        return MODES if self._settings().permissions.mode == MODES[3] else MODES[:3]

    def choose(self, mode: str) -> None:
        """Judge later tool calls in this mode."""
        if mode not in self.choices:
            self._notice(f"The modes of this session: {', '.join(self.choices)}.", "warning")
            return
        self._runtime().gate.set_mode(mode)
        self._emit(ModeChanged(mode))

    def cycle(self) -> None:
        """The next mode."""
        choices, current = self.choices, self._state().session.mode
        position = choices.index(current) if current in choices else -1
        self.choose(choices[(position + 1) % len(choices)])
