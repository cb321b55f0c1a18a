from __future__ import annotations

import asyncio

import pytest

from app.models import errors
from app.models.client import AnthropicProvider
from tests.fakes.clock import FakeClock
from tests.fakes.messages_server import MessagesServer
from tests.fakes.script import (
    Cut,
    EarlyEnd,
    ErrorEvent,
    Malformed,
    RawSse,
    Reply,
    Stall,
    refusal,
    text,
)
from tests.protocol.asking import CASES, collect, request
from tests.protocol.conftest import KEY


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Cut(4), errors.StreamCut),
        (EarlyEnd(4), errors.StreamTruncated),
        (Malformed(4), errors.StreamMalformed),
        (ErrorEvent(4), errors.Overloaded),
        (ErrorEvent(4, "api_error", "oops"), errors.ServerFault),
        (ErrorEvent(4, "rate_limit_error", "slow"), errors.RateLimited),
        (ErrorEvent(1, "never_seen_error", "?"), errors.ServerFault),
    ],
)
async def test_a_broken_stream_says_how(
    server: MessagesServer,
    provider: AnthropicProvider,
    fault: Cut | EarlyEnd | Malformed | ErrorEvent,
    expected: type[errors.ModelError],
) -> None:
    server.queue(Reply((text("a text of several pieces"),), fault=fault))
    outcome = await collect(provider.stream(request()))
    assert isinstance(outcome.error, errors.ModelError)
    assert type(outcome.error) is expected
    assert outcome.error.retryable
    assert outcome.blocks == []


async def test_silence_in_a_reply_is_a_stall(server: MessagesServer, clock: FakeClock) -> None:
    stall = Stall(4)
    server.queue(Reply((text("a text of several pieces"),), fault=stall))
    provider = AnthropicProvider(KEY, clock, server.base_url, stall_timeout=0.05)
    outcome = await collect(provider.stream(request()))
    assert type(outcome.error) is errors.StreamStalled
    assert outcome.text.startswith("a text")
    assert await asyncio.to_thread(server.dropped.wait, 5)
    await provider.close()


async def test_silence_before_the_reply_is_a_failed_connection(clock: FakeClock) -> None:
    async def silent(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    listener = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    provider = AnthropicProvider(KEY, clock, f"http://127.0.0.1:{port}", reply_timeout=0.05)
    outcome = await collect(provider.stream(request()))
    listener.close()
    await provider.close()
    assert type(outcome.error) is errors.ConnectionFailed


async def test_a_whole_reply_survives_a_cut_behind_it(
    server: MessagesServer, provider: AnthropicProvider
) -> None:
    server.queue(Reply((text("ok"),), fault=Cut(5)))
    outcome = await collect(provider.stream(request()))
    assert outcome.error is None
    assert outcome.end.stop_reason == "end_turn"


async def test_cancelling_closes_the_connection_at_once(
    server: MessagesServer, provider: AnthropicProvider
) -> None:
    stall = Stall(4)
    server.queue(Reply((text("a text of several pieces"),), fault=stall))
    task = asyncio.create_task(collect(provider.stream(request())))
    assert await asyncio.to_thread(stall.gate.reached.wait, 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(server.dropped.wait, 2)
    assert (await collect(provider.stream(request()))).text == "ok"


async def test_a_cut_tool_call_never_completes(
    server: MessagesServer, provider: AnthropicProvider
) -> None:
    for name in ("cut.sse", "complete_looking.sse"):
        data = (CASES / "B40-truncated-tool-call-runs" / name).read_bytes()
        for replay, expected in (
            (RawSse(data, "cut"), errors.StreamCut),
            (RawSse(data, "close"), errors.StreamTruncated),
        ):
            server.queue(replay)
            outcome = await collect(provider.stream(request()))
            assert type(outcome.error) is expected
            assert [block["type"] for block in outcome.blocks if block["type"] != "text"] == []


async def test_a_tool_call_cut_at_the_limit_never_completes(
    server: MessagesServer, provider: AnthropicProvider
) -> None:
    folder = CASES / "B40-truncated-tool-call-runs"
    server.queue(RawSse((folder / "max_tokens.sse").read_bytes()))
    server.queue(RawSse((folder / "two_tools_second_cut.sse").read_bytes()))
    first = await collect(provider.stream(request()))
    assert (first.error, first.blocks, first.end.stop_reason) == (None, [], "max_tokens")
    second = await collect(provider.stream(request()))
    assert second.error is None
    assert [block["id"] for block in second.blocks] == ["toolu_c4"]
    assert second.blocks[0]["input"] == {"command": "echo first"}


async def test_a_refusal_is_an_ordinary_end(
    server: MessagesServer, provider: AnthropicProvider
) -> None:
    folder = CASES / "B42-refusal-retry-loop"
    server.queue(RawSse((folder / "refusal_empty.sse").read_bytes()))
    server.queue(RawSse((folder / "refusal_partial.sse").read_bytes()))
    server.queue(refusal(text("No.")))
    for words in ("", "I will start by", "No."):
        outcome = await collect(provider.stream(request()))
        assert outcome.error is None
        assert outcome.end.stop_reason == "refusal"
        assert outcome.text == words
