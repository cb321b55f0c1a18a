"""When a dream may begin: asked after every turn, and nearly always refused in microseconds.

The gates are in the order of what they cost (spec/dream.md, Gates).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from app.background.dream.lock import FILE, STALE, is_future_old, last_consolidation
from app.background_settings import DreamSettings
from app.clock import Clock
from app.models.retry import wait_in_words
from app.state.background import Gate

DEFAULT_HOURS: Final = 24.0
DEFAULT_SESSIONS: Final = 5
SCAN_PAUSE: Final = 600.0
"""Seconds between two looks at the folder of sessions."""
FAILURE_PAUSE: Final = 6 * 3_600.0
"""Seconds after a dream that failed: each one may cost as much as one that comes to its end."""


def hours_of(settings: DreamSettings) -> float:
    """Hours between two dreams."""
    return settings.min_hours if settings.min_hours > 0 else DEFAULT_HOURS


def sessions_of(settings: DreamSettings) -> int:
    """Other sessions that must have been touched since the last one."""
    return settings.min_sessions if settings.min_sessions > 0 else DEFAULT_SESSIONS


@dataclass(slots=True)
class Schedule:
    """The gates of one project's dreams in one process."""

    memory: Path
    sessions: Path
    """The folder with the project's transcripts."""
    clock: Clock
    settings: Callable[[], DreamSettings]
    why_off: Callable[[], str]
    """Why dreams are switched off, empty when they are on."""
    is_running: Callable[[], bool]
    """Whether one runs in this process."""
    _lock_file: str = field(init=False)
    _scanned: float = field(init=False, default=float("-inf"))
    _has_failed: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self._lock_file = os.fspath(self.memory / FILE)

    def _now(self) -> float:
        return self.clock.now().timestamp()

    def refused(self) -> str:
        """The first of the four cheap gates that does not hold, by name; empty when all do.

        Then the folder of sessions is to be looked at, which counts as a scan from here on.
        """
        if self.why_off():
            return "enabled"
        if self.is_running():
            return "idle"
        now = self._now()
        try:
            last = os.stat(self._lock_file, follow_symlinks=False).st_mtime  # noqa: PTH116 - 1 µs, where a Path takes 3
        except OSError:
            last = 0.0
        if not self._is_due(last, now):
            return "time"
        if now - self._scanned < SCAN_PAUSE:
            return "throttle"
        self._scanned, self._has_failed = now, False
        return ""

    def failed(self) -> None:
        """A dream has failed: the next one by itself waits longer than a look does."""
        self._scanned, self._has_failed = self._now() + FAILURE_PAUSE - SCAN_PAUSE, True

    def _is_due(self, last: float, now: float) -> bool:
        """Whether the last dream is long enough ago; a time in the future is looked at for an hour
        before it is not believed.
        """
        if last <= now:
            return now - last >= hours_of(self.settings()) * 3_600
        return is_future_old(self.memory, self.clock)

    def touched(self, current: str) -> list[str]:
        """Other sessions that were touched since the last dream, newest first, by id. Blocking.

        Only the times of the files are looked at, never what they hold.
        """
        since = last_consolidation(self.memory) or 0.0
        since = since if since <= self._now() else 0.0
        found: list[tuple[float, str]] = []
        try:
            entries = list(os.scandir(self.sessions))
        except OSError:
            return []
        for entry in entries:
            name = entry.name.removesuffix(".jsonl")
            if name == entry.name or name == current or len(name) != 36:
                continue
            try:
                state = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if state.st_mtime > since and state.st_size:
                found.append((state.st_mtime, name))
        return [name for _, name in sorted(found, reverse=True)]

    def gates(self, current: str, lock_words: str) -> tuple[Gate, ...]:
        """All gates as they stand, for the panel and `reverie dream status`. Blocking."""
        off, now = self.why_off(), self._now()
        settings = self.settings()
        last = last_consolidation(self.memory)
        wait = hours_of(settings) * 3_600
        due = now + STALE if last is not None and last > now else (last or 0.0) + wait
        is_due = last is None or self._is_due(last, now)
        pause = self._scanned + SCAN_PAUSE - now
        waits = "the last one has failed" if self._has_failed else "looked just now"
        touched, needed = len(self.touched(current)), sessions_of(settings)
        return (
            Gate("enabled", not off, off or "on"),
            Gate("idle", not self.is_running(), "one runs" if self.is_running() else "none runs"),
            Gate(
                "time",
                is_due,
                "long enough ago" if is_due else f"next in {wait_in_words(due - now)}",
                None if is_due else due,
            ),
            Gate(
                "throttle",
                pause <= 0,
                "may look" if pause <= 0 else f"{waits}, again in {wait_in_words(pause)}",
                None if pause <= 0 else now + pause,
            ),
            Gate(
                "sessions",
                touched >= needed,
                f"{touched} of {needed} other sessions since the last dream",
            ),
            Gate("lock", not lock_words, lock_words or "free"),
        )
