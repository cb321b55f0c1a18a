from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.models import errors
from app.models.provider import (
    BlockGrew,
    MessageEnded,
    ModelInfo,
    ModelRequest,
    RetryPlanned,
    StreamEvent,
    TokenCount,
    Usage,
)
from app.models.retry import RetryPolicy, stream_with_retry, wait_in_words
from tests.fakes.clock import FakeClock

REQUEST = ModelRequest("m", ())
DONE = MessageEnded("end_turn", Usage())


class Failing:
    """Fails as told, one error an attempt, then succeeds."""

    name = "failing"
    supports_tools = True

    def __init__(self, *faults: errors.ModelError) -> None:
        self.faults = list(faults)
        self.attempts = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        self.attempts += 1
        yield BlockGrew(0, "text", str(self.attempts))
        if self.faults:
            raise self.faults.pop(0)
        yield DONE

    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        return TokenCount(0, estimated=True)

    async def models(self) -> tuple[ModelInfo, ...]:
        return ()

    async def close(self) -> None:
        return


async def run(provider: Failing, clock: FakeClock, *, shown: bool = False) -> list[StreamEvent]:
    policy = RetryPolicy(draw=lambda: 1.0)
    stream = stream_with_retry(provider, REQUEST, policy, clock, lambda: shown)
    return [event async for event in stream]


async def test_what_failed_is_followed_by_its_retry() -> None:
    provider, clock = Failing(errors.Overloaded("busy")), FakeClock()
    assert await run(provider, clock) == [
        BlockGrew(0, "text", "1"),
        RetryPlanned(1, 0.5, "busy"),
        BlockGrew(0, "text", "2"),
        DONE,
    ]
    assert clock.slept == [0.5]


async def test_ten_attempts_and_no_more() -> None:
    provider, clock = Failing(*(errors.ServerFault(f"no {n}") for n in range(20))), FakeClock()
    with pytest.raises(errors.ServerFault, match="attempt 10 of 10"):
        await run(provider, clock)
    assert provider.attempts == 10
    assert clock.slept == [0.5, 1, 2, 4, 8, 16, 32, 32, 32]


async def test_a_broken_stream_gets_one_more_attempt() -> None:
    provider, clock = Failing(*(errors.StreamStalled("hm") for _ in range(5))), FakeClock()
    with pytest.raises(errors.StreamStalled):
        await run(provider, clock)
    assert provider.attempts == 2


async def test_broken_and_busy_are_counted_apart() -> None:
    faults = (errors.Overloaded("1"), errors.StreamCut("2"), errors.RateLimited("3"))
    provider = Failing(*faults)
    assert (await run(provider, FakeClock()))[-1] == DONE
    assert provider.attempts == 4


@pytest.mark.parametrize(
    "fault", [errors.BadRequest("x"), errors.Unauthenticated("x"), errors.PaymentRequired("x")]
)
async def test_what_cannot_get_better_is_raised(fault: errors.ModelError) -> None:
    provider = Failing(fault)
    with pytest.raises(type(fault)) as caught:
        await run(provider, FakeClock())
    assert caught.value is fault
    assert provider.attempts == 1


async def test_what_was_shown_is_not_asked_again() -> None:
    provider = Failing(errors.StreamCut("cut"))
    with pytest.raises(errors.StreamCut):
        await run(provider, FakeClock(), shown=True)
    assert provider.attempts == 1


async def test_the_server_may_ask_for_a_minute_but_not_for_more() -> None:
    clock = FakeClock()
    await run(Failing(errors.RateLimited("slow", retry_after=60)), clock)
    assert clock.slept == [60]
    provider = Failing(errors.RateLimited("slow.", retry_after=7300, request_id="r", status=429))
    with pytest.raises(errors.RateLimited, match="asks to wait 3 h") as caught:
        await run(provider, clock)
    assert (caught.value.retry_after, caught.value.request_id) == (7300, "r")
    assert provider.attempts == 1


@given(st.integers(1, 10_000), st.floats(0, 1))
def test_a_wait_stays_in_its_bounds(failures: int, drawn: float) -> None:
    policy = RetryPolicy(draw=lambda: drawn)
    assert 0 <= policy.delay(failures, errors.Overloaded("x")) <= 32


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "1 s"), (119, "119 s"), (121, "3 min"), (7201, "3 h"), (2.3e9, "26621 days")],
)
def test_waits_are_told_in_words(seconds: float, words: str) -> None:
    assert wait_in_words(seconds) == words
