"""The names by which records of a session point at each other (transcripts.md, a)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from app.sessions.records import JsonObject

_LINK = re.compile(r"(?:^|[a-z_])uuids?$", re.IGNORECASE)
_LINKS = frozenset({"messageId", "snapshotMessageId", "interruptedMessageId"})
"""Keys under which records name each other, beside those that end in uuid (transcripts.md, a)."""

_CONTENT = frozenset({"message", "toolUseResult", "original", "content", "data"})
"""Keys under which everything is said by somebody and nothing is a link."""

_DEPTH = 8
"""No link lies deeper; what somebody nested without end is carried over as it is."""


def relinked(data: JsonObject, renamed: Mapping[str, str]) -> JsonObject:
    """A record's object with every link to a renamed record changed; what was said stays.

    Raises `RecursionError` for what is nested too deeply.
    """
    return {key: _renamed(key, value, renamed, 0) for key, value in data.items()}


def _renamed(key: str, value: Any, renamed: Mapping[str, str], depth: int) -> Any:
    if key in _CONTENT or depth > _DEPTH:
        return value
    if isinstance(value, dict):
        fields = cast("JsonObject", value)
        return {name: _renamed(name, item, renamed, depth + 1) for name, item in fields.items()}
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return [_renamed(key, item, renamed, depth + 1) for item in items]
    if isinstance(value, str) and (key in _LINKS or _LINK.search(key)):
        return renamed.get(value, value)
    return value
