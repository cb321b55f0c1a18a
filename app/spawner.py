"""Coroutines that run beside everything else, and end with the app."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

Work: TypeAlias = Callable[[], Coroutine[Any, Any, None]]
Start: TypeAlias = Callable[[Work], asyncio.Task[None] | None]
"""Starts work, or gives None where it may not run."""


def at_once(work: Work) -> asyncio.Task[None]:
    """Start work without asking anybody."""
    return asyncio.create_task(work())


class Spawner:
    """Starts coroutines and hears of their faults; the loop itself would forget them."""

    def __init__(self, fault: Callable[[BaseException], None]) -> None:
        self.running: set[asyncio.Task[Any]] = set()
        self._fault = fault

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run a coroutine; cancelling its task ends it early."""
        task = asyncio.create_task(work)
        self.running.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self.running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._fault(error)
