"""The messages of a pi session in the API's form (packages/ai/src/types.ts, core/messages.ts)."""

from __future__ import annotations

from typing import cast

from app.sessions.foreign.values import (
    PICTURES,
    arguments_from,
    image_block,
    number_at,
    object_at,
    objects_at,
    text_at,
    text_block,
)
from app.sessions.records import JsonObject

STOP_REASONS = {"stop": "end_turn", "length": "max_tokens", "toolUse": "tool_use"}


def blocks_from(content: object) -> list[JsonObject]:
    """The texts and pictures of a message; other parts are left out."""
    if isinstance(content, str):
        return [text_block(content)] if content else []
    blocks: list[JsonObject] = []
    for part in objects_at({"content": content}, "content"):
        media_type = text_at(part, "mimeType")
        if part.get("type") == "image" and media_type in PICTURES and text_at(part, "data"):
            blocks.append(image_block(media_type, text_at(part, "data")))
        elif part.get("type") == "text" and text_at(part, "text"):
            blocks.append(text_block(text_at(part, "text")))
    return blocks


def unread(message: JsonObject) -> JsonObject:
    """The content again when it has parts that `blocks_from` leaves out."""
    content = message.get("content")
    if isinstance(content, list) and len(blocks_from(message.get("content"))) != len(
        cast("list[object]", content)
    ):
        return {"content": content}
    return {}


def reply_parts(message: JsonObject) -> list[JsonObject]:
    """The parts of a reply, also where its content is one text."""
    text = text_at(message, "content")
    return [text_block(text)] if text else objects_at(message, "content")


def reply_block(part: JsonObject) -> tuple[JsonObject | None, JsonObject]:
    """A part of a reply as a block, None for an unknown one, and what has no place in it.

    Signatures are of other APIs than ours: thinking stays without, so that it is never sent.
    """
    match part.get("type"):
        case "text":
            block = text_block(text_at(part, "text"))
            used = ("type", "text")
        case "thinking":
            block: JsonObject = {"type": "thinking", "thinking": text_at(part, "thinking")}
            used = ("type", "thinking")
        case "toolCall":
            block = {
                "type": "tool_use",
                "id": text_at(part, "id"),
                "name": text_at(part, "name") or "unknown",
                "input": arguments_from(part.get("arguments")),
            }
            used = ("type", "id", "name", "arguments")
        case _:
            return None, part
    return block, {key: value for key, value in part.items() if key not in used}


def usage_from(message: JsonObject) -> JsonObject | None:
    """A reply's usage under the API's names, None when it has none."""
    usage = object_at(message, "usage")
    if not usage:
        return None
    return {
        "input_tokens": number_at(usage, "input"),
        "cache_creation_input_tokens": number_at(usage, "cacheWrite"),
        "cache_read_input_tokens": number_at(usage, "cacheRead"),
        "output_tokens": number_at(usage, "output"),
    }


def tool_result(message: JsonObject) -> JsonObject:
    """A `toolResult` message as a block."""
    blocks = blocks_from(message.get("content"))
    only_text = len(blocks) == 1 and blocks[0]["type"] == "text"
    result: JsonObject = {
        "type": "tool_result",
        "tool_use_id": text_at(message, "toolCallId"),
        "content": blocks[0]["text"] if only_text else blocks,
    }
    if message.get("isError") is True:
        result["is_error"] = True
    return result


def shell_output(message: JsonObject) -> str:
    """What a command of the person printed, and how it ended, as Claude Code notes it."""
    text = text_at(message, "output")
    code = message.get("exitCode")
    if message.get("cancelled") is True:
        text += "\n(cancelled)"
    elif isinstance(code, int) and code != 0:
        text += f"\n(exit code {code})"
    if message.get("truncated") is True and text_at(message, "fullOutputPath"):
        text += f"\n(cut; all of it: {text_at(message, 'fullOutputPath')})"
    return f"<bash-stdout>{text.strip()}</bash-stdout><bash-stderr></bash-stderr>"
