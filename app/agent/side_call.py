"""One question to a model beside the conversation: nothing of it becomes a record."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from datetime import datetime

from app.agent.caller import Caller, Measure, Purpose
from app.clock import Clock
from app.models.errors import ModelError
from app.models.estimate import estimate_request
from app.models.provider import (
    BlockStopped,
    MessageEnded,
    MessageStarted,
    ModelRequest,
    RetryPlanned,
    Usage,
)
from app.models.retry import RetryPolicy, stream_with_retry


class Declined(ModelError):
    """The model declined to answer."""


async def ask(
    request: ModelRequest,
    caller: Caller,
    purpose: Purpose,
    clock: Clock,
    measure: Measure,
    retry: RetryPolicy,
    *,
    reads_cache: bool = False,
) -> str:
    """The text of the answer; what the call used is measured on every way out.

    A call that is cancelled before the server has said what it cost is counted by an estimate:
    with `reads_cache` as a prompt that the cache has. Raises `ModelError`.
    """
    meter = _Meter(measure, request.model, clock.now(), purpose)
    texts: list[str] = []
    events = stream_with_retry(caller.provider, request, retry, clock, lambda: False)
    try:
        async with aclosing(events) as stream:
            async for event in stream:
                match event:
                    case MessageStarted(usage=usage):
                        meter.open = usage
                    case BlockStopped(block=block) if block.get("type") == "text":
                        texts.append(str(block.get("text") or ""))
                    case MessageEnded(stop_reason=reason, usage=usage):
                        meter.open = usage
                        meter.close()
                        if reason == "refusal":
                            raise Declined("The model declined to answer.")
                    case RetryPlanned():
                        meter.close()
                        texts = []
                    case _:
                        pass
    except asyncio.CancelledError:
        if not meter.has_measured and meter.open is None:
            tokens = estimate_request(request)
            meter.open = Usage(cache_read=tokens) if reads_cache else Usage(input=tokens)
        raise
    finally:
        meter.close()
    return "\n".join(texts).strip()


class _Meter:
    """Measures each attempt once: whole, or as far as the server had said when it broke off."""

    def __init__(self, measure: Measure, model: str, began: datetime, purpose: Purpose) -> None:
        self.open: Usage | None = None
        self.has_measured = False
        self._measure = measure
        self._model = model
        self._began = began
        self._purpose: Purpose = purpose

    def close(self) -> None:
        usage, self.open = self.open, None
        if usage is not None:
            self.has_measured = True
            self._measure(self._model, usage, self._began, self._purpose)
