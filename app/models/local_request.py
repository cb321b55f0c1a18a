"""A request cut down to what the built-in small model can take: words only, and not too many."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from app.models.estimate import FRAME_TOKENS, estimate_text
from app.models.local_server import MODEL_ALIAS
from app.models.provider import Block, Message, ModelRequest

CONTEXT: Final = 8_192
MAX_TOKENS: Final = 1_024

SYSTEM: Final = (
    "You are a small language model that runs on the user's own computer. You can chat, but you "
    "cannot use tools or see files. Answer briefly and say so when you do not know."
)
"""Short, because this model reads about a hundred tokens a second (notes/wire.md, section 3)."""

_SAFETY = 256
"""Tokens kept free for the chat template and for what the estimate misses."""
_LONGEST_TOOL_TEXT = 400
"""Characters kept of a tool call or result: enough to know what it was about."""


def local_request(request: ModelRequest) -> ModelRequest:
    """The request as the small model gets it.

    Tool calls, results and pictures become short texts, thinking is left out, neighbours of one
    role are joined, and the oldest messages go when the whole would not fit.
    """
    max_tokens = min(request.max_tokens, MAX_TOKENS)
    budget = CONTEXT - max_tokens - estimate_text(SYSTEM) - _SAFETY
    messages = _newest(_joined(request.messages), budget)
    return ModelRequest(
        model=MODEL_ALIAS,
        messages=tuple({"role": role, "content": text} for role, text in messages),
        system=({"type": "text", "text": SYSTEM},),
        max_tokens=max_tokens,
    )


def _joined(messages: tuple[Message, ...]) -> list[tuple[str, str]]:
    joined: list[tuple[str, str]] = []
    for message in messages:
        role, text = str(message.get("role")), _words(message.get("content"))
        if not text:
            continue
        if joined and joined[-1][0] == role:
            joined[-1] = (role, f"{joined[-1][1]}\n\n{text}")
        else:
            joined.append((role, text))
    return joined


def _newest(messages: list[tuple[str, str]], budget: int) -> list[tuple[str, str]]:
    """As many of the last messages as fit, beginning with a user's; the very last is cut to fit."""
    kept: list[tuple[str, str]] = []
    for role, text in reversed(messages):
        cost = FRAME_TOKENS + estimate_text(text)
        if cost > budget:
            if not kept:
                kept.append((role, _cut(text, budget)))
            break
        budget -= cost
        kept.append((role, text))
    kept.reverse()
    while len(kept) > 1 and kept[0][0] != "user":
        del kept[0]
    return kept or [("user", "Hello.")]


def _cut(text: str, budget: int) -> str:
    """Head and tail of a text whose middle does not fit into `budget` tokens."""
    half = max(1, budget // 2 - FRAME_TOKENS)
    while len(text) > 2 * half and estimate_text(text[:half] + text[-half:]) > budget:
        half = half * 3 // 4
    return f"{text[:half]}\n[…]\n{text[-half:]}"


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content.strip()
    if not isinstance(content, (list, tuple)):
        return ""
    blocks = cast("list[Block] | tuple[Block, ...]", content)
    return "\n\n".join(text for block in blocks if (text := _block_words(block).strip()))


def _block_words(block: Mapping[str, Any]) -> str:
    match block.get("type"):
        case "text":
            return str(block.get("text", ""))
        case "tool_use":
            called = json.dumps(block.get("input"), ensure_ascii=False)
            return f"[used the tool {block.get('name')} with {_short(called)}]"
        case "tool_result":
            return f"[the tool answered: {_short(_words(block.get('content')))}]"
        case "image":
            return "[a picture]"
        case "document":
            return "[a document]"
        case _:
            return ""


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_TOOL_TEXT else text[: _LONGEST_TOOL_TEXT - 1] + "…"
