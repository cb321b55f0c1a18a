"""Sending a request again: when, how often, and how long to wait in between.

The SDK's own retries are switched off, because they are invisible, end at the headers and obey
any retry-after however long; these waits are on screen and can be cancelled.
"""

from __future__ import annotations

import math
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import cast

from app.clock import Clock
from app.models.errors import ModelError, StreamBroken
from app.models.provider import ModelRequest, Provider, RetryPlanned, StreamEvent


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How patient to be; waits are in seconds."""

    attempts: int = 10
    """Requests in all for rate limits, overload, 5xx and connections."""
    broken_attempts: int = 2
    """Requests in all for a reply that began and did not end as it should (cases/B40)."""
    first_wait: float = 0.5
    longest_wait: float = 32.0
    """The n-th wait is drawn evenly from 0 to `min(longest_wait, first_wait * 2**n)`."""
    patience: float = 60.0
    """A server that asks for a longer wait than this is not waited for."""
    draw: Callable[[], float] = random.random
    """A number from 0 to 1."""

    def delay(self, failures: int, error: ModelError) -> float:
        """The wait after `failures` failed attempts, as the server asked or with full jitter."""
        if error.retry_after is not None:
            return error.retry_after
        ceiling = min(self.longest_wait, self.first_wait * 2.0 ** min(failures - 1, 32))
        return ceiling * self.draw()


async def stream_with_retry(
    provider: Provider,
    request: ModelRequest,
    policy: RetryPolicy,
    clock: Clock,
    shown: Callable[[], bool],
) -> AsyncGenerator[StreamEvent, None]:
    """The events of the attempt that succeeds, with a RetryPlanned in front of each wait.

    Whatever came before a RetryPlanned is void. Once `shown()` is true nothing is sent again:
    what a person has read must not change. A refusal is an ordinary end of a message. Raises the
    last attempt's ModelError.
    """
    failures = 0
    broken = 0
    while True:
        try:
            # A Provider's stream is an async generator; the protocol promises only an iterator.
            attempt = provider.stream(request)
            async with aclosing(cast("AsyncGenerator[StreamEvent, None]", attempt)) as events:
                async for event in events:
                    yield event
        except ModelError as error:
            failures += 1
            broken += isinstance(error, StreamBroken)
            if not error.retryable or shown():
                raise
            if failures >= policy.attempts or broken >= policy.broken_attempts:
                raise _after(error, failures) from error
            if error.retry_after is not None and error.retry_after > policy.patience:
                raise _too_long(error, error.retry_after) from error
            delay, reason = policy.delay(failures, error), error.happened
        else:
            return
        yield RetryPlanned(failures, delay, reason)
        await clock.sleep(delay)


def wait_in_words(seconds: float) -> str:
    """A wait as a person says it: `45 s`, `3 min`, `2 h`, `4 days`, rounded up."""
    for unit, size, until in (("s", 1, 120), ("min", 60, 7_200), ("h", 3_600, 172_800)):
        if seconds < until:
            return f"{math.ceil(seconds / size)} {unit}"
    return f"{math.ceil(seconds / 86_400)} days"


def _after(error: ModelError, attempts: int) -> ModelError:
    if attempts == 1:
        return error
    return _retold(error, f"{error.happened} That was attempt {attempts} of {attempts}.")


def _too_long(error: ModelError, wait: float) -> ModelError:
    asked = f"{error.happened} The server asks to wait {wait_in_words(wait)}."
    return _retold(error, asked, "Send the prompt again later.")


def _retold(error: ModelError, happened: str, todo: str = "") -> ModelError:
    return type(error)(
        happened,
        kept=error.kept,
        todo=todo or error.todo,
        status=error.status,
        request_id=error.request_id,
        retry_after=error.retry_after,
    )
