"""Tokens guessed without a tokenizer, for servers that cannot count and for the rehearsal.

The formula, rounded up once a string: an ASCII character is 1/3.5 token, any other character
below U+2E80 (accented Latin, Greek, Cyrillic, Arabic, …) 1/2, and from there on (CJK, Hangul,
emoji) 1. A picture is 1 600 tokens whatever its size, a page-carrying document 3 000, and a
message or tool carries 4 tokens of framing. It errs on the high side on purpose: what is guarded
with it is the end of the context window.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, cast

from app.models.provider import ModelRequest

ASCII_PER_TOKEN = 3.5
IMAGE_TOKENS = 1_600
DOCUMENT_TOKENS = 3_000
FRAME_TOKENS = 4

_WIDE_FROM = "\u2e80"


def estimate_text(text: str) -> int:
    """Tokens of a string."""
    if text.isascii():
        return math.ceil(len(text) / ASCII_PER_TOKEN)
    plain = sum(1 for character in text if character < "\x80")
    wide = sum(1 for character in text if character >= _WIDE_FROM)
    return math.ceil(plain / ASCII_PER_TOKEN + (len(text) - plain - wide) / 2 + wide)


def estimate_content(content: Any) -> int:
    """Tokens of a message's content, or of a tool result's: a string or a list of blocks."""
    if isinstance(content, str):
        return estimate_text(content)
    if isinstance(content, (list, tuple)):
        blocks = cast("list[Any] | tuple[Any, ...]", content)
        return sum(_block(block) for block in blocks)
    return 0


def estimate_request(request: ModelRequest) -> int:
    """Tokens of the whole prompt: system, tools and messages."""
    total = estimate_content(request.system)
    for tool in request.tools:
        total += FRAME_TOKENS + estimate_text(json.dumps(tool, ensure_ascii=False))
    for message in request.messages:
        total += FRAME_TOKENS + estimate_content(message.get("content"))
    return total


def _block(block: Any) -> int:
    if isinstance(block, str):
        return estimate_text(block)
    if not isinstance(block, Mapping):
        return 0
    fields = cast("Mapping[str, Any]", block)
    match fields.get("type"):
        case "image":
            return IMAGE_TOKENS
        case "document":
            return DOCUMENT_TOKENS
        case "tool_result":
            return FRAME_TOKENS + estimate_content(fields.get("content"))
        case "text":
            return estimate_text(str(fields.get("text", "")))
        case "thinking":
            return estimate_text(str(fields.get("thinking", "")))
        case _:
            return FRAME_TOKENS + estimate_text(json.dumps(fields, ensure_ascii=False, default=str))
