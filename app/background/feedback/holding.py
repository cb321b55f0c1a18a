"""The outbox, used from the event loop: its calls wait for locks and discs, so in threads."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncGenerator, Callable
from functools import partial
from typing import Any, ParamSpec, TypeVar

from app.background.feedback.drafts import Draft
from app.background.feedback.outbox import Outbox
from app.errors import ReverieError

_P = ParamSpec("_P")
_T = TypeVar("_T")


class _Cancelled(ReverieError):
    """Nobody waits for the draft any more."""


async def to_its_end(call: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Run `call` in a thread and wait until it is done; a cancel meanwhile is too late."""
    running = _started(partial(call, *args, **kwargs))
    await _done(running)
    return running.result()


@contextlib.asynccontextmanager
async def holding(
    outbox: Outbox, draft_id: str, marked: Callable[[Draft], Draft]
) -> AsyncGenerator[None, None]:
    """`Outbox.sending` without blocking; raises the same.

    Where the wait for it is cancelled, the draft stays as it was and is not held.
    """
    # Whoever takes it, the thread that marks or the cancel, has its way.
    claim = threading.Lock()
    before: list[Draft] = []

    def unless_cancelled(draft: Draft) -> Draft:
        if not claim.acquire(blocking=False):
            raise _Cancelled("The attempt was cancelled.")
        before.append(draft)
        return marked(draft)

    held = outbox.sending(draft_id, unless_cancelled)
    entering = _started(held.__enter__)
    try:
        await asyncio.wait({entering})
    except asyncio.CancelledError:
        if claim.acquire(blocking=False):
            # The thread may wait for its lock for long; it will find itself cancelled.
            entering.add_done_callback(lambda done: done.exception())
        else:
            await _done(entering)
            if entering.exception() is None:
                with contextlib.suppress(ReverieError):
                    await to_its_end(outbox.finish, before[0])
                await to_its_end(held.__exit__, None, None, None)
        raise
    entering.result()
    try:
        yield
    finally:
        await to_its_end(held.__exit__, None, None, None)


def _started(call: Callable[[], _T]) -> asyncio.Future[_T]:
    return asyncio.get_running_loop().run_in_executor(None, call)


async def _done(running: asyncio.Future[Any]) -> None:
    while not running.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait({running})
