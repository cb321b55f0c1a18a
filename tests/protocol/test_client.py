from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime

import pytest

from app.credentials import Credentials
from app.models import errors
from app.models.client import WAYS_IN, AnthropicProvider
from app.models.provider import (
    BlockGrew,
    BlockStarted,
    LimitsSeen,
    Message,
    MessageStarted,
    TokenCount,
    Usage,
)
from tests.fakes.clock import FakeClock
from tests.fakes.messages_server import MessagesServer
from tests.fakes.script import (
    Reply,
    Status,
    text,
    thinking,
    tool_use,
)
from tests.protocol.asking import collect, request
from tests.protocol.conftest import KEY, SECRET


async def test_blocks_of_every_kind_arrive_whole(
    server: MessagesServer, provider: AnthropicProvider
) -> None:
    odd = {"type": "orb", "glow": {"level": 3}}
    redacted = {"type": "redacted_thinking", "data": "EkA="}
    blocks = (
        thinking("let me see", "sig-9"),
        redacted,
        odd,
        text("grüße 東京 \u2028 end"),
        tool_use("Read", {"file_path": "a b.txt", "limit": 3}, "toolu_1"),
    )
    usage = {
        "input_tokens": 7,
        "output_tokens": 42,
        "cache_read_input_tokens": 900,
        "cache_creation_input_tokens": 60,
        "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 40},
    }
    server.queue(Reply(blocks, stop_reason="tool_use", usage=usage))
    outcome = await collect(provider.stream(request()))
    assert outcome.error is None
    assert outcome.blocks == list(blocks)
    assert outcome.end.usage == Usage(7, 42, 900, 20, 40)
    assert outcome.end.stop_reason == "tool_use"
    assert outcome.end.request_id == "req_0001"
    assert outcome.end.raw_usage["cache_creation"] == usage["cache_creation"]
    assert outcome.events[0] == MessageStarted(
        "msg_0001", "claude-opus-5-5", Usage(7, 1, 900, 20, 40)
    )
    assert BlockStarted(4, "tool_use", "toolu_1", "Read") in outcome.events
    assert {e.kind for e in outcome.events if isinstance(e, BlockGrew)} == {
        "text",
        "thinking",
        "input",
    }


async def test_the_request_goes_out_as_it_stands(
    server: MessagesServer, provider: AnthropicProvider
) -> None:
    system = ({"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}},)
    tools = ({"name": "Read", "description": "d", "input_schema": {"type": "object"}},)
    asked = request(
        system=system,
        tools=tools,
        thinking="adaptive",
        tool_choice={"type": "none"},
        extra={"output_config": {"effort": "low"}, "brand_new": 1},
    )
    await collect(provider.stream(asked))
    assert server.last == {
        "model": "claude-opus-5-5",
        "max_tokens": 1000,
        "messages": list(asked.messages),
        "system": list(system),
        "tools": list(tools),
        "tool_choice": {"type": "none"},
        "thinking": {"type": "adaptive"},
        "output_config": {"effort": "low"},
        "brand_new": 1,
        "stream": True,
    }
    assert server.calls[0].headers["authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize("model", ["claude-haiku-4-5", "some-local-model"])
async def test_thinking_is_not_asked_of_models_without_it(
    server: MessagesServer, provider: AnthropicProvider, model: str
) -> None:
    await collect(provider.stream(request(model=model, thinking="adaptive")))
    assert "thinking" not in server.last


async def test_an_auth_token_is_sent_alone(
    server: MessagesServer, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-from-the-environment")
    provider = AnthropicProvider(Credentials("auth_token", "tok", "test"), clock, server.base_url)
    await collect(provider.stream(request()))
    await provider.close()
    assert server.calls[0].headers["authorization"] == "Bearer tok"
    assert "x-api-key" not in server.calls[0].headers


async def test_poison_characters_are_replaced_on_the_way_out(
    server: MessagesServer, provider: AnthropicProvider
) -> None:
    outcome = await collect(provider.stream(request("cut \ud83d here \0 and \ud83d\ude00")))
    assert outcome.error is None
    sent = server.last["messages"][0]["content"][0]["text"]
    assert sent == "cut \ufffd here \ufffd and \U0001f600"


@pytest.mark.parametrize(
    ("status", "kind", "message", "expected"),
    [
        (400, "invalid_request_error", "max_tokens: too large", errors.BadRequest),
        (
            400,
            "invalid_request_error",
            "prompt is too long: 250000 tokens > 200000 maximum",
            errors.ContextExceeded,
        ),
        (
            400,
            "invalid_request_error",
            "messages.1.content.0: Invalid `signature` in `thinking` block",
            errors.ThinkingRejected,
        ),
        (
            400,
            "invalid_request_error",
            "Your credit balance is too low",
            errors.PaymentRequired,
        ),
        (401, "authentication_error", "invalid x-api-key", errors.Unauthenticated),
        (402, "billing_error", "pay", errors.PaymentRequired),
        (403, "permission_error", "no", errors.Forbidden),
        (404, "not_found_error", "model: nope", errors.ModelNotFound),
        (405, "", "", errors.NotOffered),
        (408, "", "", errors.ConnectionFailed),
        (409, "", "", errors.ServerFault),
        (413, "request_too_large", "big", errors.RequestTooLarge),
        (418, "", "", errors.BadRequest),
        (422, "", "role", errors.BadRequest),
        (429, "rate_limit_error", "slow down", errors.RateLimited),
        (500, "api_error", "boom", errors.ServerFault),
        (501, "", "", errors.NotOffered),
        (503, "", "", errors.ServerFault),
        (504, "timeout_error", "", errors.ServerFault),
        (529, "overloaded_error", "Overloaded", errors.Overloaded),
    ],
)
async def test_every_status_is_one_of_our_errors(
    server: MessagesServer,
    provider: AnthropicProvider,
    status: int,
    kind: str,
    message: str,
    expected: type[errors.ModelError],
) -> None:
    server.queue(Status(status, kind, message, {"request-id": "req_x"}))
    outcome = await collect(provider.stream(request()))
    assert isinstance(outcome.error, errors.ModelError)
    assert type(outcome.error) is expected
    assert outcome.error.status == status
    assert outcome.error.request_id == "req_x"
    assert len(server.calls) == 1


async def test_llama_cpp_says_too_long_in_its_own_envelope(
    server: MessagesServer, provider: AnthropicProvider
) -> None:
    body = {"error": {"code": 400, "type": "exceed_context_size_error", "message": "too big"}}
    server.queue(Status(400, body=body))
    outcome = await collect(provider.stream(request()))
    assert type(outcome.error) is errors.ContextExceeded


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "120"}, 120.0),
        ({"retry-after": "2", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Mon, 02 Nov 2026 09:01:00 GMT"}, 60.0),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
async def test_retry_after_is_read_in_every_form(
    server: MessagesServer,
    provider: AnthropicProvider,
    headers: dict[str, str],
    seconds: float | None,
) -> None:
    server.queue(Status(429, "rate_limit_error", "slow", headers))
    outcome = await collect(provider.stream(request()))
    assert isinstance(outcome.error, errors.RateLimited)
    assert outcome.error.retry_after == seconds


async def test_a_server_that_says_do_not_retry_is_obeyed(
    server: MessagesServer, provider: AnthropicProvider
) -> None:
    server.queue(Status(429, "rate_limit_error", "spent", {"x-should-retry": "false"}))
    outcome = await collect(provider.stream(request()))
    assert isinstance(outcome.error, errors.RateLimited)
    assert not outcome.error.retryable


async def test_no_error_repeats_the_key(
    server: MessagesServer, provider: AnthropicProvider
) -> None:
    server.queue(
        Status(401, "authentication_error", f"invalid key {SECRET} and sk-ant-another-one-1234")
    )
    outcome = await collect(provider.stream(request()))
    assert isinstance(outcome.error, errors.Unauthenticated)
    told = f"{outcome.error} {outcome.error!r} {outcome.error.__cause__!r}"
    assert SECRET not in told
    assert "sk-ant" not in told
    assert SECRET not in repr(provider.__dict__)


async def test_rate_limit_headers_come_first(
    server: MessagesServer, provider: AnthropicProvider
) -> None:
    headers = {
        "anthropic-ratelimit-requests-limit": "50",
        "anthropic-ratelimit-requests-remaining": "3",
        "anthropic-ratelimit-requests-reset": "2026-11-02T09:01:00Z",
    }
    server.queue(Reply((text("ok"),), headers=headers))
    outcome = await collect(provider.stream(request()))
    seen = outcome.events[0]
    assert isinstance(seen, LimitsSeen)
    (limit,) = seen.limits
    assert (limit.name, limit.limit, limit.remaining) == ("requests", 50, 3)
    assert limit.reset == datetime(2026, 11, 2, 9, 1, tzinfo=UTC)


async def test_nobody_listening_is_a_failed_connection(clock: FakeClock) -> None:
    provider = AnthropicProvider(KEY, clock, "http://127.0.0.1:9")
    outcome = await collect(provider.stream(request()))
    await provider.close()
    assert type(outcome.error) is errors.ConnectionFailed
    assert "127.0.0.1:9" in str(outcome.error)


async def test_the_connection_is_used_again(server: MessagesServer, clock: FakeClock) -> None:
    provider = AnthropicProvider(KEY, clock, server.base_url, reuse_connections=True)
    for _ in range(3):
        await collect(provider.stream(request()))
    await provider.close()
    assert len(server.calls) == 3
    assert server.opened == 1


async def test_a_connection_on_this_machine_is_not_used_again(
    server: MessagesServer, provider: AnthropicProvider
) -> None:
    for _ in range(3):
        await collect(provider.stream(request()))
    assert server.opened == 3
    assert server.calls[0].headers["connection"] == "close"


async def test_without_credentials_nothing_is_sent(clock: FakeClock) -> None:
    provider = AnthropicProvider(None, clock)
    outcome = await collect(provider.stream(request()))
    assert type(outcome.error) is errors.NoCredentials
    assert WAYS_IN in str(outcome.error)


async def test_a_loopback_server_needs_no_key(server: MessagesServer, clock: FakeClock) -> None:
    provider = AnthropicProvider(None, clock, server.base_url + "/v1/")
    assert (await collect(provider.stream(request()))).text == "ok"
    await provider.close()


async def test_a_key_with_odd_characters_is_refused_here(
    server: MessagesServer, clock: FakeClock
) -> None:
    odd = Credentials("api_key", "sk-ä\n", "ANTHROPIC_API_KEY")
    outcome = await collect(AnthropicProvider(odd, clock, server.base_url).stream(request()))
    assert type(outcome.error) is errors.Unauthenticated
    assert "sk-" not in str(outcome.error)
    assert server.requests == []


async def test_tokens_are_counted_by_the_server_or_estimated(
    server: MessagesServer, provider: AnthropicProvider
) -> None:
    assert await provider.count_tokens(request()) == TokenCount(100, estimated=False)
    server.count = None
    assert await provider.count_tokens(request("x" * 35)) == TokenCount(14, estimated=True)
    asked = len(server.requests)
    await provider.count_tokens(request())
    assert len(server.requests) == asked


async def test_models_are_listed_where_the_server_can(
    server: MessagesServer, provider: AnthropicProvider
) -> None:
    assert [model.id for model in await provider.models()] == list(server.models or ())
    server.models = None
    assert await provider.models() == ()


async def test_the_fake_refuses_what_the_api_would(
    server: MessagesServer, provider: AnthropicProvider
) -> None:
    use = {"role": "assistant", "content": [tool_use("Read", {}, "t1")]}
    hello = {"role": "user", "content": "hello"}
    histories: list[tuple[Message, ...]] = [
        (),
        (use,),
        (hello, hello),
        (hello, use, hello),
        ({"role": "user", "content": []},),
        ({"role": "user", "content": [text("  ")]},),
    ]
    for messages in histories:
        outcome = await collect(provider.stream(request(messages=messages)))
        assert type(outcome.error) is errors.BadRequest


def test_importing_the_client_imports_no_sdk() -> None:
    told = (
        "import sys, app.models.client, app.models.local\n"
        "print(*(name in sys.modules for name in ('anthropic', 'httpx2', 'textual')))"
    )
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "False"]
