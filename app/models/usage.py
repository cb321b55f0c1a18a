"""Models, their sizes and their prices, as published by November 2026.

Prices are USD per million tokens. A request is priced by its own length and date; sums are made
of priced requests, never priced themselves, because a model may have bands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final, TypeAlias, cast

from app.config import ModelPrice
from app.models.provider import Usage

DEFAULT_MODEL: Final = "claude-opus-5-5"
DEFAULT_SMALL_MODEL: Final = "claude-haiku-5-5"
LOCAL_MODEL: Final = "local"
REHEARSAL_MODEL: Final = "rehearsal"

FALLBACK_CONTEXT: Final = 200_000
"""Tokens assumed for a model whose window is not published: the smallest of the known ones."""
FALLBACK_OUTPUT: Final = 32_000

_MILLION = 1_000_000
_ALWAYS = date.min


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens, from the day `since` (UTC) on.

    `above` makes a band: the price is for requests whose whole prompt, cache included, is longer
    than that many tokens, and it applies to every token of the request.
    """

    input: float
    write_5m: float
    write_1h: float
    read: float
    output: float
    above: int = 0
    since: date = _ALWAYS


PriceTable: TypeAlias = Mapping[str, tuple[Price, ...]]


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Sizes in tokens; `known` is False where the fallbacks stand in for a missing figure."""

    context: int
    max_output: int
    known: bool
    adaptive_thinking: bool


_OPUS_5 = (Price(5, 6.25, 10, 0.50, 25),)
_SONNET_4 = (Price(3, 3.75, 6, 0.30, 15),)
_FREE = (Price(0, 0, 0, 0, 0),)

PRICES: PriceTable = {
    "claude-fable-5-1": (Price(10, 12.50, 20, 0.25, 50),),
    "claude-mythos-5-1": (Price(10, 12.50, 20, 0.25, 50),),
    "claude-fable-5": (Price(10, 12.50, 20, 1.00, 50),),
    "claude-mythos-5": (Price(10, 12.50, 20, 1.00, 50),),
    "claude-opus-5-5": (Price(4, 5, 8, 0.20, 20),),
    "claude-opus-5": _OPUS_5,
    "claude-opus-4-8": _OPUS_5,
    "claude-opus-4-7": _OPUS_5,
    "claude-opus-4-6": _OPUS_5,
    "claude-opus-4-5": _OPUS_5,
    "claude-sonnet-5-5": (
        Price(2, 2.50, 4, 0.20, 10),
        Price(2, 2.50, 4, 0.10, 10, since=date(2026, 10, 7)),
    ),
    "claude-sonnet-5": (Price(2, 2.50, 4, 0.20, 10),),
    "claude-sonnet-4-6": _SONNET_4,
    "claude-sonnet-4-5": _SONNET_4,
    "claude-haiku-5-5": (
        Price(0.10, 0.125, 0.20, 0.01, 0.50),
        Price(0.50, 0.625, 1.00, 0.05, 2.50, above=100_000),
    ),
    "claude-haiku-4-5": (Price(1, 1.25, 2, 0.10, 5),),
    LOCAL_MODEL: _FREE,
    REHEARSAL_MODEL: _FREE,
}

_SIZES: Mapping[str, tuple[int, int]] = {
    "claude-fable-5-1": (1_000_000, 128_000),
    "claude-mythos-5-1": (1_000_000, 128_000),
    "claude-fable-5": (1_000_000, 128_000),
    "claude-mythos-5": (1_000_000, 128_000),
    "claude-opus-5-5": (1_000_000, 128_000),
    "claude-opus-5": (1_000_000, 128_000),
    "claude-sonnet-5-5": (1_000_000, 128_000),
    "claude-sonnet-5": (1_000_000, FALLBACK_OUTPUT),
    "claude-haiku-5-5": (1_000_000, 128_000),
    "claude-haiku-4-5": (200_000, FALLBACK_OUTPUT),
    LOCAL_MODEL: (8_192, 1_024),
    REHEARSAL_MODEL: (200_000, 32_000),
}

_DATED = re.compile(r"[-@]\d{8}$")
_BEFORE_ADAPTIVE = re.compile(r"^claude-(?:[a-z]+-4-5$|[a-z]+-4-[01]$|[a-z]+-4$|[123](?:-|$))")


def model_family(model: str) -> str:
    """The id without a trailing date: `claude-haiku-4-5-20251001` is `claude-haiku-4-5`."""
    return _DATED.sub("", model)


def model_facts(model: str) -> ModelFacts:
    """Sizes of a model; the fallbacks, marked as such, for one that is not in the table."""
    family = model_family(model)
    adaptive = family.startswith("claude-") and _BEFORE_ADAPTIVE.match(family) is None
    sizes = _SIZES.get(family)
    if sizes is None:
        return ModelFacts(FALLBACK_CONTEXT, FALLBACK_OUTPUT, False, adaptive)
    return ModelFacts(*sizes, True, adaptive)


def cost_usd(model: str, usage: Usage, when: datetime, table: PriceTable = PRICES) -> float | None:
    """USD of ONE request made at `when`; None when the model's price is not known."""
    day = when.astimezone(UTC).date()
    prices = [
        price
        for price in table.get(model, table.get(model_family(model), ()))
        if price.since <= day and (price.above == 0 or usage.whole_input > price.above)
    ]
    if not prices:
        return None
    price = max(prices, key=lambda each: (each.above, each.since))
    total = (
        usage.input * price.input
        + usage.cache_write_5m * price.write_5m
        + usage.cache_write_1h * price.write_1h
        + usage.cache_read * price.read
        + usage.output * price.output
    )
    return total / _MILLION


def price_table(overrides: Mapping[str, ModelPrice]) -> PriceTable:
    """The table with the person's prices in place of the built-in ones of the same model.

    A cache read costs a tenth of the input unless said, a write 1.25 times (5 min) or twice (1 h).
    """
    return {**PRICES, **{model: (_own_price(price),) for model, price in overrides.items()}}


def _own_price(price: ModelPrice) -> Price:
    def given(value: float | None, otherwise: float) -> float:
        return otherwise if value is None else value

    return Price(
        input=price.input,
        write_5m=given(price.cache_write_5m, price.input * 1.25),
        write_1h=given(price.cache_write_1h, price.input * 2),
        read=given(price.cache_read, price.input / 10),
        output=price.output,
    )


def usage_from(raw: Mapping[str, Any]) -> Usage:
    """The server's usage object in our figures; what it does not say counts as 0.

    Cache writes without a split by lifetime count as 5-minute ones, the API's default.
    """
    written = _count(raw.get("cache_creation_input_tokens"))
    split: Any = raw.get("cache_creation")
    fields: Mapping[str, Any] = {}
    if isinstance(split, Mapping):
        fields = cast("Mapping[str, Any]", split)
    long = _count(fields.get("ephemeral_1h_input_tokens"))
    short = _count(fields.get("ephemeral_5m_input_tokens"))
    return Usage(
        input=_count(raw.get("input_tokens")),
        output=_count(raw.get("output_tokens")),
        cache_read=_count(raw.get("cache_read_input_tokens")),
        cache_write_5m=max(short, written - long),
        cache_write_1h=long,
    )


def usage_in_record(usage: Usage) -> dict[str, Any]:
    """The figures as a server's usage object: what `usage_from` reads."""
    return {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write_5m,
            "ephemeral_1h_input_tokens": usage.cache_write_1h,
        },
    }


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
