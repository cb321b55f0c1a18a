"""The intents that are about more than the turn: sessions, going back, memory, the background.

Made when they are first asked for, which is not before the first frame.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from app.config import Settings
from app.installation import Installation
from app.state.facts import Fact
from app.state.model import Severity, State

if TYPE_CHECKING:
    from app.assembly import Runtime
    from app.background_desk import BackgroundDesk
    from app.memory_desk import MemoryDesk
    from app.rewind_desk import RewindDesk
    from app.session_desk import SessionDesk
    from app.tree_desk import TreeDesk


Begin: TypeAlias = Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]


class Desks:
    """The desks of one app."""

    def __init__(
        self,
        here: Installation,
        emit: Callable[[Fact], None],
        notice: Callable[[str, Severity], None],
        runtime: Callable[[], Runtime],
        *,
        settings: Callable[[], Settings],
        state: Callable[[], State],
        is_busy: Callable[[], bool],
        begin: Begin,
        spawn: Begin,
        fault: Callable[[BaseException], None],
        keep_setting: Callable[[str, Any], None],
    ) -> None:
        """`runtime` is what the session on screen owns, `is_busy` whether its turn goes on;
        `begin` runs a coroutine as its turn, `spawn` beside everything else; `fault` hears of
        programming errors, `keep_setting` writes one of the person's own settings.
        """
        self._fault = fault
        self._keep_setting = keep_setting
        self._spawn = spawn
        self._here = here
        self._emit = emit
        self._notice = notice
        self._runtime = runtime
        self._settings = settings
        self._state = state
        self._is_busy = is_busy
        self._begin = begin

    @cached_property
    def sessions(self) -> SessionDesk:
        """All sessions, to be listed, searched and kept in order."""
        from app.session_desk import SessionDesk

        return SessionDesk(
            self._here,
            self._settings,
            lambda: self._state().session.session_id,
            lambda: self._runtime().conversation,
        )

    @cached_property
    def rewinds(self) -> RewindDesk:
        """Going back in the session on screen."""
        from app.rewind_desk import RewindDesk

        return RewindDesk(
            self._emit,
            self._notice,
            self._runtime,
            self._is_busy,
            self._begin,
            self._here.folder,
        )

    @cached_property
    def tree(self) -> TreeDesk:
        """Every branch of the session on screen and its forks."""
        from app.tree_desk import TreeDesk

        return TreeDesk(
            self._here,
            self._settings,
            lambda: self._state().session,
            lambda: self._runtime().conversation,
            restorable=self.rewinds.restorable,
            files_at=self.rewinds.files_at,
            shell_files=self.rewinds.shell_files,
        )

    @cached_property
    def memory(self) -> MemoryDesk:
        """What is remembered of the project."""
        from app.memory_desk import MemoryDesk

        return MemoryDesk(
            self._here,
            self._settings,
            self._emit,
            self._notice,
            self._runtime,
            self._is_busy,
            self._spawn,
        )

    @cached_property
    def background(self) -> BackgroundDesk:
        """What runs in the background."""
        from app.background_desk import BackgroundDesk

        return BackgroundDesk(
            self._here,
            self._settings,
            self._state,
            self._emit,
            self._notice,
            self._runtime,
            self._spawn,
            self._fault,
            self._keep_setting,
        )
