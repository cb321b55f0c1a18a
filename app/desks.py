"""The intents that are about more than the turn: sessions, going back, the tree.

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
from app.state.model import Session, Severity

if TYPE_CHECKING:
    from app.assembly import Runtime
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
        session: Callable[[], Session],
        is_busy: Callable[[], bool],
        begin: Begin,
        spawn: Begin,
    ) -> None:
        """`runtime` is what the session on screen owns, `is_busy` whether its turn goes on;
        `begin` runs a coroutine as its turn, `spawn` beside everything else.
        """
        self._spawn = spawn
        self._here = here
        self._emit = emit
        self._notice = notice
        self._runtime = runtime
        self._settings = settings
        self._session = session
        self._is_busy = is_busy
        self._begin = begin

    @cached_property
    def sessions(self) -> SessionDesk:
        """All sessions, to be listed, searched and kept in order."""
        from app.session_desk import SessionDesk

        return SessionDesk(
            self._here,
            self._settings,
            lambda: self._session().session_id,
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
            self._session,
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
