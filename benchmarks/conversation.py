"""CPU of a typed key and of a streamed chunk, in a short session and in a long one."""

from __future__ import annotations

import asyncio
import time

from benchmarks.figures import Figure, median, show
from benchmarks.headless import app_with, finished
from benchmarks.paced import PacedProvider, long_reply

SHORT, LONG = 10, 10_000
KEYS = 60
TEXT = long_reply(8_000)


async def costs(messages: int) -> tuple[float, float]:
    """Milliseconds of CPU for a key and for a chunk."""
    provider = PacedProvider(TEXT)
    async with app_with(provider, messages) as (app, pilot):
        keys: list[float] = []
        for number in range(KEYS):
            began = time.process_time()
            await pilot.press("abcdefghij"[number % 10])
            keys.append((time.process_time() - began) * 1000)
        app.screen.query_one("#prompt").load_text("")  # pyright: ignore[reportAttributeAccessIssue] - the prompt is a TextArea
        await app.controller.submit("go")
        await finished(app)
        return median(keys), provider.cpu * 1000 / (len(TEXT) / provider.chunk)


def measure(rounds: int = 3) -> list[Figure]:
    """Short and long in turn."""
    found = {SHORT: ([], []), LONG: ([], [])}
    for _ in range(rounds):
        for messages, (keys, chunks) in found.items():
            key, chunk = asyncio.run(costs(messages))
            keys.append(key)
            chunks.append(chunk)
    figures: list[Figure] = []
    for place, name in enumerate(("typed key", "streamed chunk")):
        few, many = median(found[SHORT][place]), median(found[LONG][place])
        detail = f"{few:.2f} ms at {SHORT} messages, {many:.2f} ms at {LONG}"
        figures.append(Figure(f"conversation: {name}", many / few, "× short", 1.2, detail))
    return figures


if __name__ == "__main__":
    show(measure())
