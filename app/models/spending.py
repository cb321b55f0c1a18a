"""What a session has used and cost, from the replies in its transcript."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import cast

from app.config import Settings
from app.models.provider import Usage
from app.models.usage import PriceTable, cost_usd, price_table, usage_from
from app.sessions.glance import Tariff
from app.sessions.graph import MessageGraph
from app.sessions.records import JsonObject, Record
from app.sessions.summary import message_usages, moment_of


def spent(graph: MessageGraph, settings: Settings) -> tuple[Usage, float | None]:
    """What the session has used so far: each reply once, each priced by itself.

    What a fork has taken over from another session is not its own.
    """
    return _spent(graph, price_table(settings.prices))


def tariff_of(settings: Settings) -> Tariff:
    """The prices in force, as the list of sessions wants them."""
    table = price_table(settings.prices)
    key = hashlib.sha256(repr(sorted(table.items())).encode()).hexdigest()[:16]
    return Tariff(key, lambda graph: _spent(graph, table)[1])


def _spent(graph: MessageGraph, table: PriceTable) -> tuple[Usage, float | None]:
    total, cost = Usage(), 0.0
    known = True
    replies = ((record, record.model or "", usage) for record, usage in message_usages(graph))
    for record, model, fields in (*replies, *_summaries(graph)):
        if _is_copy(record):
            continue
        usage = usage_from(fields)
        total += usage
        when = moment_of(record)
        price = cost_usd(model, usage, when, table) if when else None
        known = known and price is not None
        cost += price or 0.0
    return total, cost if known else None


def _is_copy(record: Record) -> bool:
    """Whether it came with a fork: it was paid for in the session that it is from."""
    return b'"forkedFrom"' in record.raw and "forkedFrom" in record.data


def _summaries(graph: MessageGraph) -> Iterable[tuple[Record, str, JsonObject]]:
    """The calls that summed a conversation up: their boundary, their model and their usage."""
    for here in graph.boundaries:
        record = graph.records[here]
        found = record.data.get("compactMetadata") if graph.is_current(here) else None
        told = cast("JsonObject", found) if isinstance(found, dict) else {}
        usage = told.get("summaryUsage")
        if isinstance(usage, dict):
            yield record, str(told.get("summaryModel") or ""), cast("JsonObject", usage)
