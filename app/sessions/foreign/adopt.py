"""A session of ours out of somebody else's: the same conversation under ids of its own."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from app.sessions.records import JsonObject, Record, new_record

_LINK = re.compile(r"(?:^|[a-z_])uuids?$", re.IGNORECASE)
_LINKS = frozenset({"messageId", "snapshotMessageId", "interruptedMessageId"})
"""Keys under which records name each other, beside those that end in uuid (transcripts.md, a)."""

_CONTENT = frozenset({"message", "toolUseResult", "original", "content", "data"})
"""Keys under which everything is said by somebody and nothing is a link."""

_DEPTH = 8
"""No link lies deeper; what somebody nested without end is carried over as it is."""


def adopt(
    records: Iterable[Record], *, session_id: str, new_uuid: Callable[[], str]
) -> list[Record]:
    """The records under a new session id and new uuids; they share no id with their source.

    All branches, sidechains and what lies before compactions stay, unknown keys and types too.
    A uuid that is not in the file keeps its value, and one that occurs twice stays one. A record
    that is nested too deeply to be decoded is left out.
    """
    sources = list(records)
    renamed: dict[str, str] = {}
    for record in sources:
        if record.uuid is not None and record.uuid not in renamed:
            renamed[record.uuid] = new_uuid()
    own = {record.session_id for record in sources if record.session_id}
    adopted: list[Record] = []
    for record in sources:
        with contextlib.suppress(RecursionError):
            adopted.append(_adopted(record, session_id, own, renamed))
    return adopted


def _adopted(record: Record, session_id: str, own: set[str], renamed: Mapping[str, str]) -> Record:
    data = record.data
    changed: JsonObject = {key: _renamed(key, value, renamed, 0) for key, value in data.items()}
    for key in ("sessionId", "session_id"):
        if key in changed:
            changed[key] = session_id
    fork = changed.get("forkedFrom")
    if isinstance(fork, dict) and cast("JsonObject", fork).get("sessionId") in own:
        changed["forkedFrom"] = {**fork, "sessionId": session_id}
    return record if changed == data else new_record(changed)


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
