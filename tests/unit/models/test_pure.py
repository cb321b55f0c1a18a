from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.models.cache_clock import LONG_LIFE, SHORT_LIFE, CacheClock
from app.models.clean import clean, clean_text
from app.models.estimate import (
    DOCUMENT_TOKENS,
    IMAGE_TOKENS,
    estimate_content,
    estimate_request,
    estimate_text,
)
from app.models.fault import quote
from app.models.limits import near_limit, parse_limits, parse_retry_after
from app.models.provider import Limit, ModelRequest, Usage
from app.models.sse import EventDecoder, ServerEvent

NOW = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
ANY_TEXT = st.text(st.characters(exclude_categories=()))
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | ANY_TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner),
    max_leaves=10,
)


@given(ANY_JSON)
def test_whatever_is_cleaned_can_be_sent(value: Any) -> None:
    cleaned = clean(value)
    told = json.dumps(cleaned, ensure_ascii=False)
    told.encode("utf-8")
    assert "\\u0000" not in told
    assert clean(cleaned) is cleaned


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_a_clean_text_stays_as_it_is(text: str) -> None:
    assert clean_text(text) == text
    block = {"type": "text", "text": text}
    assert clean(block) is block


def test_surrogates_that_belong_together_are_joined() -> None:
    assert clean_text("\ud83d\ude00 \ud83d") == "\U0001f600 \ufffd"


@given(ANY_TEXT, ANY_TEXT)
def test_the_estimate_grows_with_the_text(one: str, two: str) -> None:
    assert estimate_text(one) <= estimate_text(one + two)
    assert estimate_text(one + two) <= estimate_text(one) + estimate_text(two)


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("a" * 35, 10), ("東京", 2), ("grüß", 2), ("🌙", 1)]
)
def test_the_estimate_follows_its_formula(text: str, tokens: int) -> None:
    assert estimate_text(text) == tokens


def test_a_picture_counts_the_same_whatever_its_bytes() -> None:
    picture = {"type": "image", "source": {"type": "base64", "data": "A" * 90_000}}
    assert estimate_content([picture]) == IMAGE_TOKENS
    result = {"type": "tool_result", "tool_use_id": "t", "content": [picture]}
    assert estimate_content([result]) == IMAGE_TOKENS + 4
    assert estimate_content([{"type": "document", "source": {}}]) == DOCUMENT_TOKENS


def test_a_request_counts_system_tools_and_messages() -> None:
    message = {"role": "user", "content": "a" * 35}
    whole = ModelRequest(
        "m", (message,), system=({"type": "text", "text": "a" * 35},), tools=({"name": "Read"},)
    )
    assert estimate_request(ModelRequest("m", (message,))) == 14
    assert estimate_request(whole) == 14 + 10 + 4 + 5


def test_limits_are_read_by_name() -> None:
    headers = {
        "Anthropic-RateLimit-Input-Tokens-Limit": "1000",
        "anthropic-ratelimit-input-tokens-remaining": "50",
        "anthropic-ratelimit-input-tokens-reset": "2026-11-02T09:00:30Z",
        "anthropic-ratelimit-unified-status": "allowed",
        "anthropic-ratelimit-unified-5h-utilization": "0.97",
        "anthropic-ratelimit-unified-5h-reset": "1793610000",
        "anthropic-ratelimit-tokens-limit": "many",
        "x-ratelimit-limit": "4",
    }
    assert parse_limits(headers) == (
        Limit("input-tokens", 1000, 50, datetime(2026, 11, 2, 9, 0, 30, tzinfo=UTC)),
        Limit("unified-5h", 100, 3, datetime.fromtimestamp(1793610000, UTC)),
    )
    rejected = parse_limits({"anthropic-ratelimit-unified-status": "rejected"})
    assert rejected == (Limit("unified", 100, 0, None),)


def test_the_tightest_limit_is_near() -> None:
    later, before = NOW + timedelta(minutes=1), NOW - timedelta(minutes=1)
    roomy = Limit("requests", 100, 10, later)
    tight = Limit("tokens", 100, 9, later)
    tighter = Limit("input-tokens", 100, 1, None)
    over = Limit("output-tokens", 100, 0, before)
    unknown = Limit("x", None, 0, None)
    assert near_limit((roomy, over, unknown), NOW) is None
    assert near_limit((roomy, tight, tighter), NOW) is tighter
    assert near_limit((), NOW) is None


@pytest.mark.parametrize(
    "value",
    [
        *("nan", "inf", "1e999", "-1", "", "tomorrow"),
        "Mon, 01 Jan 2024 00:00:00 +99999999999999",
        "Mon, 01 Jan 2024 00:00:00 +9999",
    ],
)
def test_a_senseless_wait_is_none(value: str) -> None:
    assert parse_retry_after({"retry-after": value}, NOW) is None


def test_a_wait_may_be_a_date_in_another_century() -> None:
    wait = parse_retry_after({"retry-after": "Wed, 21 Oct 2099 07:28:00 GMT"}, NOW)
    assert wait is not None
    assert wait > 2e9


def test_the_cache_clock_follows_what_was_written_and_read() -> None:
    clock = CacheClock()
    assert clock.age(NOW) is None
    assert clock.remaining(NOW) is None
    assert clock.seen(Usage(input=5), NOW) is clock
    assert clock.seen(Usage(cache_read=5), NOW).life == SHORT_LIFE
    long = clock.seen(Usage(cache_write_1h=5), NOW)
    assert long.life == LONG_LIFE
    read = long.seen(Usage(cache_read=5), NOW + timedelta(minutes=30))
    assert read.remaining(NOW + timedelta(minutes=40)) == timedelta(minutes=50)
    assert read.age(NOW + timedelta(minutes=40)) == timedelta(minutes=10)
    mixed = long.seen(Usage(cache_write_5m=1, cache_write_1h=1), NOW)
    assert mixed.remaining(NOW + timedelta(minutes=6)) == timedelta()
    assert mixed.age(NOW - timedelta(minutes=6)) == timedelta()


@given(st.data())
def test_events_do_not_depend_on_how_the_bytes_are_cut(data: st.DataObject) -> None:
    stream = (
        'event: a\r\ndata: {"x": "é\u2028\x85"}\n\n: note\n\ndata: 1\ndata: 2\n\nevent: cut\nda'
    )
    raw = stream.encode()
    decoder, found, start = EventDecoder(), list[ServerEvent](), 0
    while start < len(raw):
        size = data.draw(st.integers(1, 20))
        found += decoder.feed(raw[start : start + size])
        start += size
    assert found == [ServerEvent("a", '{"x": "é\u2028\x85"}'), ServerEvent("", "1\n2")]


def test_a_quoted_sentence_is_harmless() -> None:
    told = quote("bad\x1b[31m key sk-ant-abcdefgh1234\nBearer tok-1 mine " + "x" * 500, "mine")
    assert "\x1b" not in told
    assert "\n" not in told
    assert "abcdefgh" not in told
    assert "tok-1" not in told
    assert "mine" not in told
    assert len(told) == 300
