"""The events of print mode's stream-json, in the shapes of Claude Code (spec/cli.md)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from app.models.provider import Usage
from app.sessions.envelope import new_uuid
from app.sessions.prompts import user_kind
from app.sessions.records import Record
from app.state.model import Session

JsonObject = dict[str, Any]


def init_event(
    session: Session, tools: tuple[str, ...], commands: tuple[str, ...], key_source: str
) -> JsonObject:
    """`system/init`: what the session works with; `key_source` names where the key came from."""
    return {
        "type": "system",
        "subtype": "init",
        "cwd": session.folder,
        "session_id": session.session_id,
        "tools": list(tools),
        "mcp_servers": [],
        "model": session.model,
        "permissionMode": session.mode,
        "slash_commands": list(commands),
        "apiKeySource": key_source,
        "uuid": new_uuid(),
    }


def record_event(record: Record, session_id: str) -> JsonObject | None:
    """What a new record of the transcript tells the reader; None for one that is not told.

    The prompt itself is not repeated: the reader has sent it.
    """
    common = {"parent_tool_use_id": None, "session_id": session_id, "uuid": record.uuid}
    data = record.data
    if record.type == "assistant":
        return {"type": "assistant", "message": data["message"], **common}
    if record.type == "user" and user_kind(record, data) in {"tool_result", "interrupt"}:
        event = {"type": "user", "message": data["message"], **common}
        if "toolUseResult" in data:
            event["tool_use_result"] = data["toolUseResult"]
        return event
    if record.is_boundary:
        return {
            "type": "system",
            "subtype": "compact_boundary",
            "compact_metadata": data.get("compactMetadata"),
            "session_id": session_id,
            "uuid": record.uuid,
        }
    return None


@dataclass(frozen=True, slots=True)
class Ending:
    """How a turn, or a run before its first turn, came to its end."""

    subtype: str
    """`success`, `error_during_execution` or `error_max_turns`."""
    result: str
    """The reply's text, or in one sentence what went wrong."""
    session_id: str
    seconds: float = 0.0
    model_calls: int = 0
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = 0.0
    """None when a model's price is unknown."""
    denials: tuple[JsonObject, ...] = ()

    @property
    def is_error(self) -> bool:
        """Whether the turn did not succeed."""
        return self.subtype != "success"


def result_event(ending: Ending) -> JsonObject:
    """The `result` event of a turn."""
    return {
        "type": "result",
        "subtype": ending.subtype,
        "is_error": ending.is_error,
        "duration_ms": round(ending.seconds * 1000),
        "num_turns": ending.model_calls,
        "result": ending.result,
        "session_id": ending.session_id,
        "total_cost_usd": ending.cost_usd,
        "usage": usage_keys(ending.usage),
        "permission_denials": list(ending.denials),
        "uuid": new_uuid(),
    }


def usage_keys(usage: Usage) -> JsonObject:
    """Tokens under the API's own names."""
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
    }
