"""What a response's headers say about allowances and waiting."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from app.models.provider import Limit

NEAR_SHARE = 0.10
"""Less than a tenth left counts as near the limit."""

_PREFIX = "anthropic-ratelimit-"
_FIELDS = ("limit", "remaining", "reset", "utilization", "status")


def parse_limits(headers: Mapping[str, str]) -> tuple[Limit, ...]:
    """The allowances of a response, sorted by name: `requests`, `tokens`, `unified-5h`, …

    An allowance told as a share (`unified-…-utilization`, 0 to 1) becomes 100 with the rest in
    per cent; a status of `rejected` means that nothing is left.
    """
    found: dict[str, dict[str, str]] = {}
    for key, value in headers.items():
        lowered = key.lower()
        if not lowered.startswith(_PREFIX):
            continue
        name, _, field = lowered.removeprefix(_PREFIX).rpartition("-")
        if name and field in _FIELDS:
            found.setdefault(name, {})[field] = value.strip()
    limits = (_limit(name, fields) for name, fields in sorted(found.items()))
    return tuple(limit for limit in limits if limit is not None)


def near_limit(limits: tuple[Limit, ...], now: datetime) -> Limit | None:
    """The tightest allowance with less than a tenth left and its reset still ahead, if any."""
    tight = [
        (limit.remaining / limit.limit, limit)
        for limit in limits
        if limit.limit
        and limit.remaining is not None
        and limit.remaining < limit.limit * NEAR_SHARE
        and (limit.reset is None or limit.reset > now)
    ]
    return min(tight, key=lambda pair: pair[0])[1] if tight else None


def parse_retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds the server asks to wait: `retry-after-ms`, else `retry-after` as seconds or date.

    None when there is no such header or it makes no sense (negative, not a number).
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    wait = (moment - now).total_seconds()
    return wait if wait >= 0 else None


def _limit(name: str, fields: Mapping[str, str]) -> Limit | None:
    limit, remaining = _whole(fields.get("limit")), _whole(fields.get("remaining"))
    used = _number(fields.get("utilization"))
    if used is not None:
        limit, remaining = 100, max(0, round(100 * (1 - used)))
    if fields.get("status") == "rejected":
        limit, remaining = limit or 100, 0
    reset = _moment(fields.get("reset"))
    if limit is None and remaining is None and reset is None:
        return None
    return Limit(name, limit, remaining, reset)


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else None
    except ValueError:
        return None
    return value if value is not None and math.isfinite(value) and value >= 0 else None


def _whole(text: str | None) -> int | None:
    value = _number(text)
    return int(value) if value is not None else None


def _moment(text: str | None) -> datetime | None:
    """A reset moment: RFC 3339, or seconds since 1970."""
    if text is None:
        return None
    try:
        seconds = _number(text)
        if seconds is not None:
            return datetime.fromtimestamp(seconds, UTC)
        moment = datetime.fromisoformat(text)
    except (ValueError, OverflowError, OSError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
