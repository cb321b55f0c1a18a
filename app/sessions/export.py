"""A branch of a session as Markdown, for people who have no Reverie."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import cast

from app.plain_text import cut, plain
from app.sessions.graph import MessageGraph
from app.sessions.history import timeline
from app.sessions.prompts import blocks_of, content_of, text_of, typed_text, user_kind
from app.sessions.records import JsonObject, Record

MOST_RESULT = 2_000
"""Characters of a tool's result or input; the rest is counted."""

_FENCE = re.compile(r"`{3,}")
_COMMAND = re.compile(r"<command-name>([^<]*)")


def markdown_of(graph: MessageGraph, leaf: int | None, title: str) -> str:
    """The conversation that ends in `leaf`: prompts, replies, tool calls with their results.

    Thinking and what an app put in between are left out, summaries of a compaction are marked.
    """
    parts = [f"# {plain(title) or 'Untitled session'}"]
    for here in timeline(graph, leaf):
        record = graph.records[here]
        if record.type == "user":
            parts += _user(record)
        elif record.type == "assistant" and not record.is_synthetic:
            parts += _reply(graph, record)
        elif record.is_boundary:
            parts.append("---\n\n*Earlier messages were compacted here.*")
        elif record.type == "attachment":
            parts += _queued(record)
    return "\n\n".join(parts) + "\n"


def _user(record: Record) -> Iterator[str]:
    data = record.data
    kind = user_kind(record, data)
    if kind == "prompt":
        pictures = sum(1 for block in blocks_of(content_of(data)) if block.get("type") == "image")
        text = "\n\n".join([plain(typed_text(data)), *["*(picture)*"] * pictures]).strip()
        yield f"## Prompt\n\n{text}"
    elif kind == "compact_summary":
        yield f"## Summary of what came before\n\n{plain(text_of(data))}"
    elif kind == "interrupt":
        yield "*Interrupted.*"
    elif kind == "echo" and (found := _COMMAND.search(text_of(data))):
        yield f"*Command: {plain(found[1].strip())}*"


def _queued(record: Record) -> Iterator[str]:
    attachment = record.data.get("attachment")
    fields = cast("JsonObject", attachment) if isinstance(attachment, dict) else {}
    if fields.get("type") == "queued_command":
        texts = [block.get("text") for block in blocks_of(fields.get("prompt"))]
        yield "## Prompt\n\n" + plain("\n".join(t for t in texts if isinstance(t, str)))


def _reply(graph: MessageGraph, record: Record) -> Iterator[str]:
    for block in blocks_of(content_of(record.data)):
        text = block.get("text")
        if block.get("type") == "text" and isinstance(text, str) and text.strip():
            yield plain(text.strip())
        elif block.get("type") == "tool_use":
            yield _call(graph, block)


def _call(graph: MessageGraph, block: JsonObject) -> str:
    given: object = block.get("input")
    values = list(cast("JsonObject", given).values()) if isinstance(given, dict) else []
    shown = (
        values[0]
        if len(values) == 1 and isinstance(values[0], str)
        else _as_json(block.get("input"))
    )
    name = plain(str(block.get("name") or "tool"))
    call = f"**{name}**\n\n{_fenced(shown)}"
    result = _result(graph, str(block.get("id")))
    return call if result is None else f"{call}\n\n{_fenced(result)}"


def _as_json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, indent=2)
    except RecursionError:
        return "(nested too deeply to be shown)"


def _result(graph: MessageGraph, tool_id: str) -> str | None:
    for here in reversed(graph.results.get(tool_id, [])):
        for block in blocks_of(content_of(graph.records[here].data)):
            if block.get("type") == "tool_result" and block.get("tool_use_id") == tool_id:
                parts = blocks_of(block.get("content"))
                return "\n".join(str(part.get("text") or f"({part.get('type')})") for part in parts)
    return None


def _fenced(text: str) -> str:
    shown = plain(text).strip("\n")
    if len(shown) > MOST_RESULT:
        left = len(shown) - MOST_RESULT
        shown = f"{cut(shown, MOST_RESULT)}\n({left} more characters)"
    longest = max((len(found) for found in _FENCE.findall(shown)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{shown}\n{fence}"
