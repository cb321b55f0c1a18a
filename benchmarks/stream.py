"""Whether a long reply keeps up, and how long the event loop is held meanwhile."""

from __future__ import annotations

import asyncio
import sys
import time

from benchmarks.figures import Figure, p95, show
from benchmarks.headless import app_with, finished
from benchmarks.paced import CHUNK, RATE, PacedProvider, long_reply
from benchmarks.terminal import Home, Program

CHARACTERS = 100_000
BEAT = 0.005


async def lags(until: asyncio.Event) -> list[float]:
    """How late, in milliseconds, a task wakes that wants to wake every 5 ms."""
    late: list[float] = []
    while not until.is_set():
        began = time.perf_counter()
        await asyncio.sleep(BEAT)
        late.append((time.perf_counter() - began - BEAT) * 1000)
    return late


async def headless(text: str) -> tuple[float, list[float]]:
    """Time over nominal time, and the lags."""
    provider = PacedProvider(text)
    async with app_with(provider) as (app, _):
        done = asyncio.Event()
        heart = asyncio.create_task(lags(done))
        began = time.perf_counter()
        await app.controller.submit("go")
        await finished(app)
        spent = time.perf_counter() - began
        done.set()
        return spent / provider.nominal, await heart


def in_a_pty(characters: int) -> tuple[float, float]:
    """Time over nominal time, and megabytes written."""
    home = Home()
    words = (sys.executable, "-m", "benchmarks.paced", str(characters))
    program = Program(words, home)
    try:
        program.wait_for(b"reverie")
        program.drain(1.0)
        before = program.written
        began = time.perf_counter()
        program.send(b"go\r")
        spent = program.wait_for(b"completed", 120) - began
        return spent / (characters / CHUNK / RATE), (program.written - before) / 1e6
    finally:
        program.close()
        home.close()


def measure(characters: int = CHARACTERS) -> list[Figure]:
    """Once without a terminal, once in one."""
    share, late = asyncio.run(headless(long_reply(characters)))
    shown, written = in_a_pty(characters)
    nominal = characters / CHUNK / RATE
    detail = f"nominal {nominal:.0f} s, {RATE} chunks a second"
    return [
        Figure("stream: time, headless", share, "× nominal", 1.05, detail),
        Figure("stream: loop lag, p95", p95(late), "ms", 50, f"longest {max(late):.0f} ms"),
        Figure("stream: time, in a pty", shown, "× nominal", 1.05, f"{written:.1f} MB written"),
    ]


if __name__ == "__main__":
    show(measure())
