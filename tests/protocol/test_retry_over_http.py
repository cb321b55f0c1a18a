from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from llmock.pytest_plugin import LLMock

from app.models import errors
from app.models.client import AnthropicProvider
from app.models.provider import RetryPlanned, TokenCount
from app.models.retry import RetryPolicy, stream_with_retry
from tests.fakes.clock import FakeClock
from tests.fakes.messages_server import MessagesServer
from tests.fakes.script import Cut, RawSse, Reply, overloaded, rate_limited, refusal, text
from tests.protocol.asking import CASES, Outcome, collect, request
from tests.protocol.conftest import KEY


async def ask(provider: AnthropicProvider, clock: FakeClock, shown: bool = False) -> Outcome:
    policy = RetryPolicy(draw=lambda: 0.5)
    return await collect(stream_with_retry(provider, request(), policy, clock, lambda: shown))


async def test_overload_and_rate_limit_are_waited_out(
    server: MessagesServer, provider: AnthropicProvider, clock: FakeClock
) -> None:
    server.queue(overloaded(), overloaded(), rate_limited(retry_after="3"))
    outcome = await ask(provider, clock)
    assert outcome.text == "ok"
    assert clock.slept == [0.25, 0.5, 3.0]
    planned = [event for event in outcome.events if isinstance(event, RetryPlanned)]
    assert [event.attempt for event in planned] == [1, 2, 3]
    assert "overloaded" in planned[0].reason


async def test_a_cut_stream_is_sent_once_more(
    server: MessagesServer, provider: AnthropicProvider, clock: FakeClock
) -> None:
    cut = RawSse((CASES / "B40-truncated-tool-call-runs" / "cut.sse").read_bytes(), "cut")
    server.queue(cut)
    assert (await ask(provider, clock)).text.endswith("ok")
    server.queue(cut, cut)
    outcome = await ask(provider, clock)
    assert type(outcome.error) is errors.StreamCut
    assert len(server.calls) == 4


async def test_nothing_is_sent_again_once_something_was_shown(
    server: MessagesServer, provider: AnthropicProvider, clock: FakeClock
) -> None:
    server.queue(Reply((text("a longer text"),), fault=Cut(4)))
    outcome = await ask(provider, clock, shown=True)
    assert type(outcome.error) is errors.StreamCut
    assert len(server.calls) == 1


async def test_a_refusal_is_asked_once(
    server: MessagesServer, provider: AnthropicProvider, clock: FakeClock
) -> None:
    server.queue(refusal())
    assert (await ask(provider, clock)).end.stop_reason == "refusal"
    assert len(server.calls) == 1


@pytest.fixture
def faulty(llmock: LLMock) -> Iterator[LLMock]:
    yield llmock


@pytest_asyncio.fixture
async def llmock_provider(faulty: LLMock, clock: FakeClock) -> AsyncIterator[AnthropicProvider]:
    url = faulty.base_url("anthropic")
    made = AnthropicProvider(KEY, clock, url, stall_timeout=0.2)
    yield made
    await made.close()


@pytest.mark.parametrize("status", [429, 500, 503, 529])
async def test_llmock_fails_and_recovers(
    faulty: LLMock, llmock_provider: AnthropicProvider, clock: FakeClock, status: int
) -> None:
    faulty.fail(status, times=2)
    faulty.reply("recovered")
    outcome = await ask(llmock_provider, clock)
    assert outcome.text == "recovered"
    assert len(clock.slept) == 2


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("disconnect", errors.StreamCut),
        ("truncate", errors.StreamTruncated),
        ("corrupt", errors.StreamMalformed),
        ("stall", errors.StreamStalled),
    ],
)
async def test_llmock_breaks_a_stream(
    faulty: LLMock,
    llmock_provider: AnthropicProvider,
    fault: str,
    expected: type[errors.StreamBroken],
) -> None:
    faulty.reply("a reply that is long enough to be broken in the middle of its words")
    getattr(faulty, fault)()
    outcome = await collect(llmock_provider.stream(request()))
    assert type(outcome.error) is expected


async def test_llmock_cannot_count(llmock_provider: AnthropicProvider) -> None:
    assert await llmock_provider.count_tokens(request("x" * 35)) == TokenCount(14, estimated=True)
