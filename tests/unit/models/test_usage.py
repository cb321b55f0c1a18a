from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.config import ModelPrice
from app.models.provider import Usage
from app.models.usage import (
    DEFAULT_MODEL,
    DEFAULT_SMALL_MODEL,
    FALLBACK_CONTEXT,
    PRICES,
    cost_usd,
    model_facts,
    price_table,
)

NOW = datetime(2026, 11, 2, tzinfo=UTC)
MILLION = 1_000_000
COUNTS = st.integers(0, 10 * MILLION)
USAGES = st.builds(Usage, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS)


@pytest.mark.parametrize(
    ("usage", "usd"),
    [
        (Usage(input=MILLION), 4),
        (Usage(output=MILLION), 20),
        (Usage(cache_read=MILLION), 0.2),
        (Usage(cache_write_5m=MILLION), 5),
        (Usage(cache_write_1h=MILLION), 8),
        (Usage(), 0),
    ],
)
def test_each_kind_of_token_has_its_price(usage: Usage, usd: float) -> None:
    assert cost_usd("claude-opus-5-5", usage, NOW) == pytest.approx(usd)


def test_an_unknown_model_costs_an_unknown_sum() -> None:
    assert cost_usd("claude-fable-5-2", Usage(input=1), NOW) is None
    assert cost_usd("", Usage(), NOW) is None


def test_a_price_changes_on_its_day() -> None:
    read = Usage(cache_read=MILLION)
    change = datetime(2026, 10, 7, tzinfo=UTC)
    before = change - timedelta(seconds=1)
    assert cost_usd("claude-sonnet-5-5", read, before) == pytest.approx(0.20)
    assert cost_usd("claude-sonnet-5-5", read, change) == pytest.approx(0.10)


def test_a_long_prompt_is_dearer_as_a_whole() -> None:
    short = Usage(input=50_000, cache_read=50_000, output=1_000)
    long = Usage(input=50_000, cache_read=50_001, output=1_000)
    low, high = cost_usd("claude-haiku-5-5", short, NOW), cost_usd("claude-haiku-5-5", long, NOW)
    assert low == pytest.approx(0.005 + 0.0005 + 0.0005)
    assert high == pytest.approx(0.025 + 0.00250005 + 0.0025)


def test_dated_ids_belong_to_their_family() -> None:
    usage = Usage(input=MILLION)
    assert cost_usd("claude-haiku-4-5-20251001", usage, NOW) == 1
    assert model_facts("claude-haiku-4-5@20251001").context == 200_000


def test_defaults_have_prices_and_sizes() -> None:
    for model in (DEFAULT_MODEL, DEFAULT_SMALL_MODEL):
        assert model in PRICES
        assert model_facts(model).known
        assert model_facts(model).adaptive_thinking


def test_an_unknown_model_gets_the_smallest_window() -> None:
    facts = model_facts("somebody-elses-model")
    assert (facts.context, facts.known, facts.adaptive_thinking) == (FALLBACK_CONTEXT, False, False)


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "claude-opus-4-1", "claude-3-5-haiku"])
def test_older_models_do_not_think_adaptively(model: str) -> None:
    assert not model_facts(model).adaptive_thinking


@pytest.mark.parametrize("model", ["claude-opus-4-6", "claude-fable-5-2", "claude-sonnet-5"])
def test_newer_models_think_adaptively(model: str) -> None:
    assert model_facts(model).adaptive_thinking


@given(st.sampled_from(sorted(PRICES)), USAGES, USAGES)
def test_no_request_gets_cheaper_by_more_tokens(model: str, one: Usage, two: Usage) -> None:
    less, more = cost_usd(model, one, NOW), cost_usd(model, one + two, NOW)
    assert less is not None
    assert more is not None
    assert 0 <= less <= more


def test_settings_add_and_replace_prices() -> None:
    table = price_table(
        {
            "mine": ModelPrice(input=10, output=1),
            "claude-opus-5": ModelPrice(input=1, output=2, cache_read=3, cache_write_5m=0),
        }
    )
    usage = Usage(MILLION, 0, MILLION, MILLION, MILLION)
    assert cost_usd("mine", usage, NOW, table) == pytest.approx(10 + 1 + 12.5 + 20)
    assert cost_usd("claude-opus-5", Usage(cache_read=100), NOW, table) == pytest.approx(3e-4)
    assert cost_usd("claude-opus-5", Usage(cache_write_5m=100), NOW, table) == 0
    assert cost_usd("claude-opus-5-5", Usage(input=MILLION), NOW, table) == 4
