"""Whose session a file holds, told by its first records and never by its name."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, cast

import msgspec

Origin: TypeAlias = Literal["claude-code", "codex", "pi"]

ORIGIN_NAMES: dict[Origin, str] = {"claude-code": "Claude Code", "codex": "Codex", "pi": "pi"}
"""How people call the tools."""

_LINES = 20
_BYTES = 1 << 20
"""No more is looked at; the first line alone decides nearly always."""

_ENVELOPES = frozenset({"turn_context", "compacted", "world_state"})
_SIGNED = frozenset({"timestamp", "originator", "cli_version", "instructions", "source", "git"})
"""Keys of which Codex's own head has one at least."""
_BARE_ITEMS = frozenset(
    {
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "web_search_call",
    }
)
_PI_ENTRIES = frozenset(
    {
        "message",
        "compaction",
        "branch_summary",
        "custom_message",
        "model_change",
        "thinking_level_change",
        "session_info",
        "label",
        "custom",
    }
)


class _Head(msgspec.Struct):
    """The keys that tell the formats apart; their values may be anything."""

    type: Any = None
    id: Any = None
    timestamp: Any = None
    payload: Any = None
    instructions: Any = msgspec.UNSET
    git: Any = msgspec.UNSET
    record_type: Any = None
    role: Any = None
    cwd: Any = None
    message: Any = None
    parent_id: Any = msgspec.field(default=msgspec.UNSET, name="parentId")
    uuid: Any = None
    session_id: Any = msgspec.field(default=None, name="sessionId")
    leaf_uuid: Any = msgspec.field(default=None, name="leafUuid")
    message_id: Any = msgspec.field(default=None, name="messageId")


_decoder = msgspec.json.Decoder(_Head)


def origin_of(content: bytes) -> Origin | None:
    """The tool that wrote a session, None when its first records are of none that we know."""
    start = 0
    for _ in range(_LINES):
        stop = content.find(b"\n", start, _BYTES)
        line = content[start : stop if stop >= 0 else _BYTES].strip(b"\x00 \t\r")
        found = _origin_of_line(line) if line else None
        if found is not None:
            return found
        if stop < 0:
            return None
        start = stop + 1
    return None


def _origin_of_line(line: bytes) -> Origin | None:
    try:
        head = _decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(head.type, str):
        return "codex" if _is_bare_header(head) or isinstance(head.record_type, str) else None
    payload: object = head.payload
    if isinstance(payload, dict):
        return "codex" if _is_codex(head.type, cast("dict[str, Any]", payload)) else None
    if isinstance(head.uuid, str) or isinstance(head.session_id, str):
        return "claude-code"
    if isinstance(head.leaf_uuid, str) or isinstance(head.message_id, str):
        return "claude-code"
    if head.type == "session":
        return "pi" if isinstance(head.id, str) else None
    if head.type in _PI_ENTRIES and _is_entry(head):
        return "pi"
    if head.type in _BARE_ITEMS or (head.type == "message" and isinstance(head.role, str)):
        return "codex"
    return None


def _is_codex(kind: str, payload: dict[str, Any]) -> bool:
    """Whether only Codex writes such a line: others have taken over the names of its envelopes."""
    if kind == "session_meta":
        return not _SIGNED.isdisjoint(payload)
    if kind == "response_item":
        return payload.get("type") != "message" or payload.get("role") == "assistant"
    return kind in _ENVELOPES


def _is_bare_header(head: _Head) -> bool:
    """Whether it is the first line of Codex's older layout."""
    has_more = head.instructions is not msgspec.UNSET or head.git is not msgspec.UNSET
    return isinstance(head.id, str) and isinstance(head.timestamp, str) and has_more


def _is_entry(head: _Head) -> bool:
    """Whether a line without pi's header is an entry: in its tree, or a message as pi wraps it."""
    in_tree = head.parent_id is not msgspec.UNSET and isinstance(head.id, str)
    return in_tree or (head.type == "message" and isinstance(head.message, dict))
