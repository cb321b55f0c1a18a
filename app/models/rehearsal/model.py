"""Provider `rehearsal`: a scripted model without network that shows the whole product."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncGenerator, Iterator
from typing import Final

from app.clock import Clock
from app.models.estimate import estimate_request, estimate_text
from app.models.provider import (
    Block,
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
from app.models.rehearsal.scene import read_scene
from app.models.rehearsal.script import Call, Part, Say, Think, next_parts
from app.models.usage import REHEARSAL_MODEL, model_facts, usage_in_record

DEFAULT_PACE: Final = 0.02
"""Seconds between chunks: about fifty a second, as fast models stream."""

_CHUNK = 12
"""Characters a chunk, about three tokens."""
_UNCACHED = 8
"""Tokens behind the last cache breakpoint of an ordinary request."""
_SIGNATURE = "rehearsal"


class RehearsalProvider:
    """Answers by script; the same conversation gets the same replies. `pace` 0 never waits."""

    name = "rehearsal"
    supports_tools = True

    def __init__(self, clock: Clock, pace: float = DEFAULT_PACE) -> None:
        self._clock = clock
        self._pace = pace
        self._calls = 0
        self._cached = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """One reply; see `Provider.stream`. Never fails."""
        self._calls += 1
        seed = _seed(request, self._calls)
        usage = self._input_usage(request)
        yield MessageStarted(f"msg_{seed}", request.model, usage)
        written = 0
        parts = next_parts(read_scene(request))
        for index, part in enumerate(parts):
            for event in _block_events(index, part, f"toolu_{seed}{index}"):
                if isinstance(event, BlockGrew):
                    written += estimate_text(event.text)
                    if self._pace > 0:
                        await self._clock.sleep(self._pace)
                yield event
        stop_reason = "tool_use" if isinstance(parts[-1], Call) else "end_turn"
        total = usage + Usage(output=written)
        yield MessageEnded(stop_reason, total, raw_usage=usage_in_record(total))

    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        """The estimate."""
        return TokenCount(estimate_request(request), estimated=True)

    async def models(self) -> tuple[ModelInfo, ...]:
        """The one script."""
        facts = model_facts(REHEARSAL_MODEL)
        return (ModelInfo(REHEARSAL_MODEL, "Rehearsal", facts.context, facts.max_output),)

    async def close(self) -> None:
        """Nothing to release."""

    def _input_usage(self, request: ModelRequest) -> Usage:
        """As a real cache would report: what the call before left is read, the rest is written."""
        whole = estimate_request(request)
        plain = min(_UNCACHED, whole)
        read = min(self._cached, whole - plain)
        self._cached = max(self._cached, whole - plain)
        return Usage(input=plain, cache_read=read, cache_write_5m=whole - plain - read)


def _seed(request: ModelRequest, call: int) -> str:
    """Unlike that of any other call, in this run and, as the messages differ, in any other."""
    told = json.dumps([call, request.messages], default=str).encode("utf-8", "replace")
    return hashlib.sha256(told).hexdigest()[:20]


def _block_events(index: int, part: Part, tool_id: str) -> Iterator[StreamEvent]:
    match part:
        case Think(text):
            yield BlockStarted(index, "thinking")
            for chunk in _chunks(text):
                yield BlockGrew(index, "thinking", chunk)
            yield BlockStopped(
                index, {"type": "thinking", "thinking": text, "signature": _SIGNATURE}
            )
        case Say(text):
            yield BlockStarted(index, "text")
            for chunk in _chunks(text):
                yield BlockGrew(index, "text", chunk)
            yield BlockStopped(index, {"type": "text", "text": text})
        case Call(name, arguments):
            yield BlockStarted(index, "tool_use", tool_id, name)
            for chunk in _chunks(json.dumps(arguments)):
                yield BlockGrew(index, "input", chunk)
            block: Block = {"type": "tool_use", "id": tool_id, "name": name, "input": arguments}
            yield BlockStopped(index, block)


def _chunks(text: str) -> Iterator[str]:
    return (text[start : start + _CHUNK] for start in range(0, len(text), _CHUNK))
