"""What asking for a dream costs after every turn, when it is refused."""

from __future__ import annotations

import asyncio
import os
import tempfile
import timeit
from collections.abc import Callable
from pathlib import Path

from app.background.dream.lock import FILE
from app.background_settings import DreamSettings
from benchmarks.figures import Figure, show
from tests.fakes.background import background

CALLS = 20_000


async def refused() -> dict[str, float]:
    """Microseconds of a refusal by each of the cheap gates."""
    times: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="reverie-benchmark-") as name:
        async with background(Path(name), dream=DreamSettings()) as desk:
            dreams = desk.background.dreams
            schedule = dreams.schedule
            times[schedule.refused()] = _each(schedule.refused)
            dreams._has_terminal = lambda: True
            schedule.refused()
            times[schedule.refused()] = _each(schedule.refused)
            dreams.place.memory.mkdir(parents=True, exist_ok=True)
            lock = dreams.place.memory / FILE
            lock.touch()
            moment = desk.clock.now().timestamp()
            os.utime(lock, (moment, moment))
            times[schedule.refused()] = _each(schedule.refused)
    return times


def _each(call: Callable[[], object]) -> float:
    """Microseconds of a call in the best of five rounds: what other programs take is left out."""
    return min(timeit.repeat(call, number=CALLS // 5, repeat=5)) / (CALLS // 5) * 1e6


def measure() -> list[Figure]:
    """Ask 20 000 times at each gate."""
    times = asyncio.run(refused())
    detail = ", ".join(f"{gate} {each:.2f}" for gate, each in times.items())
    return [Figure("dream: a refused call, the dearest gate", max(times.values()), "µs", 5, detail)]


if __name__ == "__main__":
    show(measure())
