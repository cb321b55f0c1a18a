"""A session's messages as a report may carry them: what was said and done, one by one.

Thinking, pictures, sub-agents and what the program keeps beside a message are no part of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, cast

import msgspec

from app.sessions.catalogue import session_id_of
from app.sessions.foreign.read import read_any
from app.sessions.graph import GraphView, MessageGraph, open_view
from app.sessions.history import timeline
from app.sessions.prompts import blocks_of, content_of
from app.sessions.records import JsonObject, Record
from app.sessions.view import is_too_deep
from app.storage.local import FileLog

FOREIGN: Final = frozenset({"codex", "pi"})
"""Products whose sessions are imported as another product's (app/sessions/foreign): their converter
writes the name as `entrypoint`. Claude Code's transcripts are our own format and count as ours.
"""
MARKS: Final = ("thirdParty", "third_party")
"""Members that, when true, mark a record or one of its blocks as third-party content."""
RECORD_MARKS: Final = ("mcpMeta", "attributionMcpServer", "attributionPlugin")
"""Members of a record that name the outside server or plugin it came from (transcripts.md, a6)."""
MCP_PREFIX: Final = "mcp__"
"""How the tools of outside servers are named."""


class Message(msgspec.Struct, frozen=True):
    """One message of the branch that would be attached."""

    number: int
    """From 1, the oldest; it stays while the branch grows."""
    role: str
    at: str
    content: list[JsonObject]
    third_party: str = ""
    """What marks it as another product's, as words for people; empty when nothing does."""
    is_of_other_session: bool = False


class Transcript(msgspec.Struct, frozen=True):
    """The branch in use of one session."""

    session_id: str
    messages: tuple[Message, ...]


def load_transcript(file: Path) -> Transcript:
    """The transcript in a file of any origin. Blocking; raises `StorageError`."""
    parsed = read_any(FileLog(file).read())
    view = open_view(parsed.records)
    return read_transcript(session_id_of(file, parsed.records), view)


def read_transcript(session_id: str, view: GraphView) -> Transcript:
    """The messages of the branch that ends in the view's leaf, oldest first.

    Decodes every record of the branch: call it in a thread.
    """
    graph = view.graph
    messages: list[Message] = []
    for here in timeline(graph, view.leaf):
        record = graph.records[here]
        if not graph.is_main(here) or record.uuid in graph.retracted or record.is_synthetic:
            continue
        data = record.data
        content = [_clean(block) for block in _blocks(record, data) if _is_told(block)]
        mark = _mark(graph, record, data)
        if content or mark:
            messages.append(
                Message(
                    len(messages) + 1,
                    "assistant" if record.type == "assistant" else "user",
                    record.timestamp or "",
                    content,
                    mark,
                    record.session_id not in {None, session_id},
                )
            )
    return Transcript(session_id, tuple(messages))


def _blocks(record: Record, data: JsonObject) -> list[JsonObject]:
    if record.type in {"user", "assistant"}:
        return blocks_of(content_of(data))
    attachment = data.get("attachment")
    if record.type == "attachment" and isinstance(attachment, dict):
        fields = cast("JsonObject", attachment)
        if fields.get("type") == "queued_command":
            return blocks_of(fields.get("prompt"))
    return []


def _is_told(block: JsonObject) -> bool:
    return block.get("type") not in {"thinking", "redacted_thinking"}


def _clean(block: JsonObject) -> JsonObject:
    """The block with what a person can read of it; anything else is named and left out."""
    kind = block.get("type")
    if is_too_deep(block):
        return {"type": kind, "left_out": "nested too deeply"}
    if kind == "text":
        return {"type": kind, "text": str(block.get("text") or "")}
    if kind == "tool_use":
        return {key: block.get(key) for key in ("type", "id", "name", "input")}
    if kind == "tool_result":
        parts = [_clean(part) for part in blocks_of(block.get("content"))]
        is_error = block.get("is_error") is True
        named = {"type": kind, "tool_use_id": block.get("tool_use_id")}
        return {**named, "content": parts, "is_error": is_error}
    return {"type": kind, "left_out": "not a text"}


def _mark(graph: MessageGraph, record: Record, data: JsonObject) -> str:
    product = data.get("entrypoint")
    if product in FOREIGN:
        return f"a message of {product}"
    if any(data.get(name) is True for name in MARKS) or any(data.get(n) for n in RECORD_MARKS):
        return "content marked as another product's"
    for block in _blocks(record, data):
        meta = block.get("_meta")
        holders = [block, cast("JsonObject", meta)] if isinstance(meta, dict) else [block]
        if any(holder.get(name) is True for holder in holders for name in MARKS):
            return "content marked as another product's"
        name = block.get("name") if block.get("type") == "tool_use" else None
        if isinstance(name, str) and name.startswith(MCP_PREFIX):
            return f"a call of the outside tool {name}"
    return ""
