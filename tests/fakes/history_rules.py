"""The rules by which the real API answers 400 to a history."""

from __future__ import annotations

from typing import Any


def history_fault(body: dict[str, Any]) -> str | None:
    """The first broken rule of a request, in words, or None."""
    messages = body.get("messages") or []
    if not messages:
        return "messages: at least one message is required"
    if messages[0]["role"] != "user":
        return "messages: first message must use the user role"
    seen: set[str] = set()
    for number, message in enumerate(messages):
        fault = _message_fault(messages, number, seen)
        if fault:
            return f"messages.{number}: {fault}"
        if message["role"] not in {"user", "assistant"}:
            return f"messages.{number}: unexpected role"
    for block in body.get("system") or []:
        if isinstance(block, dict) and not block.get("text", "x").strip():
            return "system: text content blocks must be non-empty"
    return None


def _message_fault(messages: list[Any], number: int, seen: set[str]) -> str | None:
    message, is_last = messages[number], number == len(messages) - 1
    if number and messages[number - 1]["role"] == message["role"]:
        return "roles must alternate"
    blocks = blocks_of(message)
    if not blocks and not (is_last and message["role"] == "assistant"):
        return "all messages must have non-empty content"
    for block in blocks:
        fault = _block_fault(message["role"], block)
        if fault:
            return fault
    uses = [block["id"] for block in blocks if block["type"] == "tool_use"]
    if seen.intersection(uses) or len(set(uses)) < len(uses):
        return "tool_use ids must be unique"
    seen.update(uses)
    asked = _tool_uses(messages[number - 1]) if number else []
    answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    if message["role"] == "user":
        return _pairing_fault(blocks, asked, answered)
    return "tool_result in an assistant message" if answered else None


KINDS = {
    "user": {"text", "image", "document", "tool_result"},
    "assistant": {"text", "thinking", "redacted_thinking", "tool_use"},
}
"""What the two roles may say, beside the blocks of the server's own tools."""


def _block_fault(role: str, block: Any) -> str | None:
    kind = block["type"]
    of_server = kind == "server_tool_use" or kind.endswith("_tool_result")
    if kind not in KINDS[role] and not (role == "assistant" and of_server):
        return f"a block of type {kind} in a message of the {role}"
    if kind == "text" and not block["text"].strip():
        return "text content blocks must be non-empty"
    if kind in {"image", "document"} and not isinstance(block.get("source"), dict):
        return f"{kind} without a source"
    if kind == "thinking" and not (isinstance(block.get("thinking"), str) and block["signature"]):
        return "thinking without its text or signature"
    if kind == "tool_result" and isinstance(block.get("content"), list):
        return _result_fault(block)
    return None


def _result_fault(block: Any) -> str | None:
    kinds = {part["type"] for part in block["content"]}
    if "tool_reference" in kinds:
        return "Tool reference not found in available tools"
    if block.get("is_error") and kinds != {"text"}:
        return "all content must be of type text if is_error is true"
    bare = [p for p in block["content"] if p["type"] == "image" and "source" not in p]
    return "image without a source" if bare else None


def _pairing_fault(blocks: list[Any], asked: list[str], answered: list[str]) -> str | None:
    missing = [tool_id for tool_id in asked if tool_id not in answered]
    if missing:
        return f"tool_use ids were found without tool_result blocks right after: {missing}"
    if len(answered) != len(set(answered)):
        return "each tool_use must have a single result"
    if any(tool_id not in asked for tool_id in answered):
        return "unexpected tool_use_id in tool_result: no tool_use in the previous message"
    kinds = [block["type"] == "tool_result" for block in blocks]
    if asked and kinds != sorted(kinds, reverse=True):
        return "tool_result blocks must come first"
    return None


def _tool_uses(message: Any) -> list[str]:
    if message["role"] != "assistant":
        return []
    return [block["id"] for block in blocks_of(message) if block["type"] == "tool_use"]


def blocks_of(message: Any) -> list[Any]:
    """A message's content as blocks, also when it is a plain string."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
