"""A model that says what a test tells it to, event by event."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, TypeAlias

from app.models.errors import ModelError
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
from tests.fakes.history_rules import history_fault

Step: TypeAlias = StreamEvent | ModelError | asyncio.Event
"""An event to tell, an error to raise, or a gate to wait for."""


class ScriptedProvider:
    """Plays one script a call; refuses a history that the real API would refuse."""

    name = "anthropic"
    supports_tools = True

    def __init__(self, *scripts: Sequence[Step]) -> None:
        self.scripts = list(scripts)
        self.requests: list[ModelRequest] = []
        self.waiting = asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        fault = history_fault({"messages": list(request.messages)})
        assert fault is None, fault
        self.requests.append(request)
        for step in self.scripts.pop(0):
            if isinstance(step, asyncio.Event):
                self.waiting.set()
                await step.wait()
            elif isinstance(step, ModelError):
                raise step
            else:
                yield step

    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        return TokenCount(len(str(request.messages)) // 4, True)

    async def models(self) -> tuple[ModelInfo, ...]:
        return (ModelInfo("claude-opus-5-5", "Opus"), ModelInfo("claude-haiku-5-5", "Haiku"))

    async def close(self) -> None:
        pass


def started(number: int = 1) -> MessageStarted:
    return MessageStarted(f"msg_{number}", "claude-opus-5-5", Usage(input=10))


def ended(reason: str = "end_turn", usage: Usage | None = None) -> MessageEnded:
    return MessageEnded(
        reason, usage or Usage(10, 5), raw_usage={"input_tokens": 10, "output_tokens": 5}
    )


def said(text: str, index: int = 0, pieces: int = 2) -> list[StreamEvent]:
    size = max(len(text) // pieces, 1)
    parts = [text[i : i + size] for i in range(0, len(text), size)]
    return [
        BlockStarted(index, "text"),
        *(BlockGrew(index, "text", part) for part in parts),
        BlockStopped(index, {"type": "text", "text": text}),
    ]


def called(name: str, arguments: dict[str, Any], tool_id: str, index: int = 0) -> list[StreamEvent]:
    block = {"type": "tool_use", "id": tool_id, "name": name, "input": arguments}
    return [BlockStarted(index, "tool_use", tool_id, name), BlockStopped(index, block)]


def reply(text: str, number: int = 1, reason: str = "end_turn") -> list[StreamEvent]:
    return [started(number), *said(text), ended(reason)]


def calls(*uses: tuple[str, dict[str, Any], str], number: int = 1) -> list[StreamEvent]:
    events: list[StreamEvent] = [started(number)]
    for index, (name, arguments, tool_id) in enumerate(uses):
        events += called(name, arguments, tool_id, index)
    return [*events, ended("tool_use")]
