"""Keys in the memory editor: a document of 1 MB against one of 1 kB in the same app."""

from __future__ import annotations

import asyncio
import time

from textual import events

from app.memory.pages import Page
from app.state.facts import MemorySeen
from app.state.model import Memory, MemoryDocument
from benchmarks.figures import Figure, median, p95, show
from benchmarks.headless import app_with
from benchmarks.paced import PacedProvider
from widgets.screens.memory import MemoryScreen

KEYS = ("a", "b", "enter", "backspace", "left", "x", "down", "pagedown", "y", "up")
ROUNDS = 12
BETWEEN = 0.06
"""Seconds between two keys: faster than a person types."""
LINE = "- a [link](some/topic.md), **bold words**, `code` and some more plain text to read\n"


def text_of(size: int) -> str:
    part = f"# Heading\n\n{LINE * 20}\n```sh\nmake test\n```\n\n"
    return (part * (size // len(part) + 1))[:size]


class OneDocument:
    """A desk with one text; nothing is written."""

    def __init__(self, text: str) -> None:
        self.text = text

    async def open(self) -> None:
        """Nothing is watched."""

    async def close(self) -> None:
        """Nothing is held."""

    async def set_aside(self, name: str, text: str) -> None:
        """Nothing is kept."""

    async def read(self, name: str) -> Page:
        return Page(name, self.text, "0" * 12)


async def typed(size: int) -> list[float]:
    """Milliseconds from each key until the screen has nothing left to do for it."""
    times: list[float] = []
    async with app_with(PacedProvider("")) as (app, pilot):
        document = MemoryDocument("MEMORY.md", size, 0.0)
        app.controller.emit(MemorySeen(Memory("/m", (document,))))
        screen = MemoryScreen(app.controller, OneDocument(text_of(size)))  # pyright: ignore[reportArgumentType] - only what opening needs
        await app.push_screen(screen)
        await pilot.pause(0.3)
        await pilot.press("enter")
        await pilot.pause(0.5)
        for _ in range(ROUNDS):
            for key in KEYS:
                began = time.perf_counter()
                target = screen.focused or screen
                target.post_message(events.Key(key, key if len(key) == 1 else None))
                done = asyncio.Event()
                await asyncio.sleep(0)
                screen.call_after_refresh(done.set)
                await done.wait()
                times.append((time.perf_counter() - began) * 1000)
                await asyncio.sleep(BETWEEN)
            await pilot.pause(0.3)  # preview and gauge are brought up to date
    return times


def measure() -> list[Figure]:
    """Type into a small document and a large one."""
    small, large = asyncio.run(typed(1_000)), asyncio.run(typed(1_000_000))
    detail = (
        f"median {median(large):.1f} ms; 1 kB: p95 {p95(small):.1f}, median {median(small):.1f}"
    )
    return [
        Figure("memory editor: key in 1 MB, p95", p95(large), "ms", 30, detail),
        Figure("memory editor: 1 MB against 1 kB", p95(large) / p95(small), "× 1 kB", 3, detail),
    ]


if __name__ == "__main__":
    show(measure())
