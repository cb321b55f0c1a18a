"""Wakes up when something in the memory folder may have changed, whoever changed it.

What exactly has changed is found by looking at the folder: events of the system may be joined,
doubled or lost, and editors save by renaming.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Final

from app.clock import Clock
from app.storage.names import MOST_LEVELS, closed

STEP: Final = 50
DEBOUNCE: Final = 300
"""Milliseconds that changes are gathered: until none comes for a step, or this long."""
TICK: Final = 500
"""Milliseconds after which the wait for events is looked at again."""
PATROL: Final = 10
"""Ticks after which one looks without an event: some file systems have none."""
UNWATCHED: Final = 1.0
"""Seconds between two looks where the system cannot say what changes."""
_MOST_FOLDERS: Final = 500


async def changes_of(folder: Path, clock: Clock) -> AsyncGenerator[None, None]:
    """Yield soon after anything below `folder` changed; the first time at once.

    The folder may come, go and come again. Ends when its task is cancelled.
    """
    # Here, since only the memory screen needs it: 20 ms.
    from watchfiles import awatch  # pyright: ignore[reportUnknownVariableType] - its signature names trio, which is not installed
    from watchfiles._rust_notify import WatchfilesRustInternalError

    while True:
        watched, concerns = await asyncio.to_thread(_watching, folder)
        if not watched:
            yield
            await clock.sleep(TICK / 1000)
            continue
        events = awatch(
            *watched,
            watch_filter=concerns,
            debounce=DEBOUNCE,
            step=STEP,
            rust_timeout=TICK,
            yield_on_timeout=True,
            recursive=False,
        )
        ticks = 0
        try:
            async with aclosing(events):
                async for found in events:
                    looks = bool(found) or ticks % PATROL == 0
                    ticks += 1
                    if looks:
                        yield
                        if await asyncio.to_thread(_folders, folder) != watched:
                            break
        except FileNotFoundError:
            continue  # one of the folders has gone since it was listed
        except (OSError, WatchfilesRustInternalError):
            # The system has no watch to spare: other programs may hold all of them.
            yield
            await clock.sleep(UNWATCHED)


def _watching(folder: Path) -> tuple[list[str], Callable[[object, str], bool]]:
    """The folders to watch, and which of their events concern the memory folder."""
    real = os.path.realpath(folder)
    inside = (f"{folder}{os.sep}", f"{real}{os.sep}")

    def concerns(_change: object, path: str) -> bool:
        return path.startswith(inside) or path in (str(folder), real)

    return _folders(folder), concerns


def _folders(folder: Path) -> list[str]:
    """What is to be watched: the folder's parent, itself, and the folders in it that are there."""
    found: list[str] = []
    if folder.parent.is_dir():
        found.append(str(folder.parent))
    waiting = [(os.path.realpath(folder), 1)]
    while waiting and len(found) < _MOST_FOLDERS:
        here, level = waiting.pop()
        try:
            entries = list(os.scandir(here))
        except OSError:
            continue
        found.append(here)
        if level < MOST_LEVELS:
            waiting += [
                (each.path, level + 1)
                for each in entries
                if each.is_dir(follow_symlinks=False) and not closed(each.name)
            ]
    return sorted(found)
