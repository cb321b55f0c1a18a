"""Which of the many things called `user` in a transcript is the person (transcripts.md, a5)."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, cast

from app.sessions.records import JsonObject, Record

UserKind: TypeAlias = Literal[
    "tool_result", "compact_summary", "meta", "echo", "machine", "interrupt", "empty", "prompt"
]

INTERRUPTED = "[Request interrupted by user]"
INTERRUPTED_RESULT = "The person interrupted this call; it did not finish."
"""How the result of an interrupted tool call ends."""
CUT_OFF_RESULT = "The program ended before this call did; its effects are unknown."
"""The result of a call whose process was killed."""
INTERRUPTED_FOR_TOOL = "[Request interrupted by user for tool use]"

_ECHOES = (
    "<command-name>",
    "<command-message>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
)
_MACHINES = ("<task-notification>", "<teammate-message")
_EDITOR_NOTES = ("<ide_opened_file>", "<ide_selection>")


def blocks_of(content: object) -> list[JsonObject]:
    """A message's content as a list of blocks; whatever is not a block is left out."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, list):
        return [
            cast("JsonObject", block)
            for block in cast("list[object]", content)
            if isinstance(block, dict) and isinstance(cast("JsonObject", block).get("type"), str)
        ]
    return []


def content_of(data: JsonObject) -> object:
    """`message.content` of a record, None when there is none."""
    message = data.get("message")
    return cast("dict[str, Any]", message).get("content") if isinstance(message, dict) else None


def text_of(data: JsonObject) -> str:
    """All text of a message, blocks joined by newlines."""
    texts = (
        block.get("text") for block in blocks_of(content_of(data)) if block.get("type") == "text"
    )
    return "\n".join(text for text in texts if isinstance(text, str))


def user_kind(record: Record, data: JsonObject) -> UserKind:
    """What a `user` record is. `data` is `record.data`, decoded once by the caller."""
    if record.tool_results:
        return "tool_result"
    if data.get("isCompactSummary") is True:
        return "compact_summary"
    if data.get("isMeta") is True:
        return "meta"
    text = text_of(data).lstrip()
    if text.startswith(_ECHOES):
        return "echo"
    origin = data.get("origin")
    kind = cast("JsonObject", origin).get("kind") if isinstance(origin, dict) else None
    if text.startswith(_MACHINES) or (kind is not None and kind not in {"human", "cli"}):
        return "machine"
    if text.startswith("[Request interrupted by user"):
        return "interrupt"
    has_picture = any(
        block.get("type") in {"image", "document"} for block in blocks_of(content_of(data))
    )
    if has_picture:
        return "prompt"
    if not text.strip():
        return "empty"
    return "prompt" if typed_text(data) else "machine"


def typed_text(data: JsonObject) -> str:
    """The text of a prompt without what an editor put beside it."""
    texts = [
        block.get("text") for block in blocks_of(content_of(data)) if block.get("type") == "text"
    ]
    typed = [t for t in texts if isinstance(t, str) and not t.lstrip().startswith(_EDITOR_NOTES)]
    return "\n".join(typed).strip()
