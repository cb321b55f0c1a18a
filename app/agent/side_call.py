"""One question to a model beside the conversation: nothing of it becomes a record."""

from __future__ import annotations

from contextlib import aclosing
from datetime import datetime

from app.agent.caller import Caller, Measure, Purpose
from app.clock import Clock
from app.models.errors import ModelError
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
) -> str:
    """The text of the answer; what the call used is measured on every way out.

    Raises `ModelError`.
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
    finally:
        meter.close()
    return "\n".join(texts).strip()


class _Meter:
    """Measures each attempt once: whole, or as far as the server had said when it broke off."""

    def __init__(self, measure: Measure, model: str, began: datetime, purpose: Purpose) -> None:
        self.open: Usage | None = None
        self._measure = measure
        self._model = model
        self._began = began
        self._purpose: Purpose = purpose

    def close(self) -> None:
        usage, self.open = self.open, None
        if usage is not None:
            self._measure(self._model, usage, self._began, self._purpose)
