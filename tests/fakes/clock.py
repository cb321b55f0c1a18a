"""A clock that tests set: waiting is instant, recorded, and moves the time."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

START = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)


class FakeClock:
    def __init__(self, start: datetime = START) -> None:
        self.time = start
        self.elapsed = 0.0
        self.slept: list[float] = []

    def now(self) -> datetime:
        return self.time

    def monotonic(self) -> float:
        return self.elapsed

    def advance(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)
        self.elapsed += seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(seconds)
        await asyncio.sleep(0)


class StillClock(FakeClock):
    """Waiting is instant and takes no time: only the test moves the clock."""

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)


class ManualClock(FakeClock):
    """Waiting lasts until the test has moved the time that far."""

    def __init__(self, start: datetime = START) -> None:
        super().__init__(start)
        self._waiting: list[tuple[float, asyncio.Event]] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        waits = self.elapsed + seconds, asyncio.Event()
        self._waiting.append(waits)
        try:
            await waits[1].wait()
        finally:
            self._waiting.remove(waits)

    async def pass_time(self, seconds: float) -> None:
        """Move the time, waking whoever has waited long enough, in order."""
        end = self.elapsed + seconds
        while due := sorted(until for until, _ in self._waiting if until <= end):
            self.advance(max(due[0] - self.elapsed, 0.0))
            for until, event in list(self._waiting):
                if until <= self.elapsed:
                    event.set()
            await settled()
        self.advance(end - self.elapsed)
        await settled()


async def settled(rounds: int = 30) -> None:
    """Let everything run that can run without time passing."""
    for _ in range(rounds):
        await asyncio.sleep(0)
