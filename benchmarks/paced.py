"""A model that writes a given text at a given rate, keeping to the clock."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator

from app.models.provider import (
    BlockGrew,
    BlockStarted,
    BlockStopped,
    MessageEnded,
    MessageStarted,
    ModelInfo,
    ModelRequest,
    StreamEvent,
    TokenCount,
    Usage,
)

RATE = 200
"""Chunks a second."""
CHUNK = 20
"""Characters of a chunk."""
PATIENCE = 0.25
"""Seconds of delay after which a model that does not catch up goes on from where it is."""


def long_reply(characters: int) -> str:
    """Markdown with paragraphs, lists, tables and fences of 100 lines; no capital letters."""
    parts: list[str] = []
    size = number = 0
    while size < characters:
        number += 1
        rows = "\n".join(f"| row {n} | {n * number} | some words |" for n in range(30))
        code = "\n".join(f"    value_{n} = compute({n}, {number})  # step" for n in range(100))
        items = "\n".join(f"- point {n} of *section* {number}, with `code`" for n in range(25))
        parts.append(
            f"## part {number}\n\n{'plain words of a paragraph that wraps. ' * 12}\n\n"
            f"{items}\n\n| name | number | text |\n|---|---:|---|\n{rows}\n\n"
            f"```python\ndef part():\n{code}\n```\n\n"
        )
        size += len(parts[-1])
    return "".join(parts)[:characters]


class PacedProvider:
    """Streams `text` in chunks; `cpu` is what the process used from the first to the last."""

    name = "rehearsal"
    supports_tools = True

    def __init__(
        self, text: str, rate: int = RATE, chunk: int = CHUNK, *, catches_up: bool = True
    ) -> None:
        self.text, self.rate, self.chunk = text, rate, chunk
        self.cpu = 0.0
        self.catches_up = catches_up

    @property
    def nominal(self) -> float:
        """Seconds that the reply takes when nothing holds it up."""
        return len(self.text) / self.chunk / self.rate

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """One reply at the rate; what was late is caught up with."""
        began, used = time.perf_counter(), time.process_time()
        yield MessageStarted("msg_1", request.model, Usage(input=10))
        yield BlockStarted(0, "text")
        for number, start in enumerate(range(0, len(self.text), self.chunk)):
            wait = began + number / self.rate - time.perf_counter()
            if wait < -PATIENCE and not self.catches_up:
                began -= wait
            await asyncio.sleep(max(wait, 0))
            yield BlockGrew(0, "text", self.text[start : start + self.chunk])
        yield BlockStopped(0, {"type": "text", "text": self.text})
        self.cpu = time.process_time() - used
        yield MessageEnded("end_turn", Usage(10, 5), raw_usage={"output_tokens": 5})

    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        """A guess."""
        return TokenCount(len(str(request.messages)) // 4, True)

    async def models(self) -> tuple[ModelInfo, ...]:
        """None."""
        return ()

    async def close(self) -> None:
        """Nothing to release."""


def main() -> None:
    """The app with this model as the rehearsal: `paced.py CHARACTERS [steady]`."""
    import app.models.rehearsal.model as rehearsal
    from app.__main__ import main as run

    text = long_reply(int(sys.argv[1]))
    keeps = sys.argv[2:] != ["steady"]
    rehearsal.RehearsalProvider = lambda *_: PacedProvider(text, catches_up=keeps)  # pyright: ignore[reportAttributeAccessIssue] - a stand-in for this one process
    sys.argv = ["reverie", "--demo"]
    run()


if __name__ == "__main__":
    main()
