"""Short ways to send a request and to look at what came back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.models.provider import BlockGrew, BlockStopped, MessageEnded, ModelRequest, StreamEvent

CASES = Path(__file__).parent.parent / "data" / "cases"


def request(prompt: str = "hi", **changes: Any) -> ModelRequest:
    fields: dict[str, Any] = {
        "model": "claude-opus-5-5",
        "messages": ({"role": "user", "content": [{"type": "text", "text": prompt}]},),
        "max_tokens": 1000,
    }
    return ModelRequest(**(fields | changes))


@dataclass
class Outcome:
    """All events of a stream, and the error that ended it."""

    events: list[StreamEvent]
    error: Exception | None = None

    @property
    def text(self) -> str:
        grown = (e for e in self.events if isinstance(e, BlockGrew))
        return "".join(event.text for event in grown if event.kind == "text")

    @property
    def blocks(self) -> list[dict[str, Any]]:
        return [event.block for event in self.events if isinstance(event, BlockStopped)]

    @property
    def end(self) -> MessageEnded:
        ended = self.events[-1]
        assert isinstance(ended, MessageEnded)
        return ended


async def collect(stream: AsyncIterator[StreamEvent]) -> Outcome:
    outcome = Outcome([])
    try:
        async for event in stream:
            outcome.events.append(event)
    except Exception as error:  # noqa: BLE001 - the tests look at whatever was raised
        outcome.error = error
    return outcome
