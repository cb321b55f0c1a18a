"""The items of a Codex rollout in the API's form (codex-rs/protocol/src/models.rs)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import cast

from app.sessions.foreign.values import (
    arguments_from,
    image_from_url,
    number_at,
    object_at,
    objects_at,
    text_at,
    text_block,
)
from app.sessions.records import JsonObject

_CONTEXT = (
    "<environment_context>",
    "<ENVIRONMENT_CONTEXT>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "<permissions instructions>",
    "<apps_instructions>",
    "<skills_instructions>",
    "<collaboration_mode>",
    "<recommended_plugins>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<user_action>",
    "<skill>",
    "<subagent_notification>",
    "# AGENTS.md instructions",
)
"""How the texts begin that Codex puts into the person's place (codex-rs, instruction markers)."""

_FOLDER = re.compile(r"<cwd>([^<]+)</cwd>|Current working directory: (.+)")
_EXIT_CODE = re.compile(r"(?:Exit code: |.*\nProcess exited with code )(-?\d+)", re.DOTALL)
_HEAD = 400

CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "tool_search_call"})
OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output"})


def blocks_from(content: object) -> list[JsonObject]:
    """The texts and pictures of an item's content; other parts are left out."""
    if isinstance(content, str):
        return [text_block(content)] if content else []
    blocks: list[JsonObject] = []
    for item in objects_at({"content": content}, "content"):
        image = image_from_url(text_at(item, "image_url"))
        if image is not None:
            blocks.append(image)
        elif text := text_at(item, "text") or text_at(item, "refusal"):
            blocks.append(text_block(text))
    return blocks


def unread(key: str, content: object) -> JsonObject:
    """The content again, under its key, when it has parts that `blocks_from` leaves out."""
    if not isinstance(content, list):
        return {}
    parts = cast("list[object]", content)
    return {} if len(blocks_from(parts)) == len(parts) else {key: parts}


def is_context(blocks: Iterable[JsonObject]) -> bool:
    """Whether Codex wrote all of a message in the person's place."""
    texts = [text_at(block, "text") for block in blocks]
    return bool(texts) and all(text.lstrip().startswith(_CONTEXT) for text in texts)


def folder_in(blocks: Iterable[JsonObject]) -> str:
    """The working folder that an environment context names; the older header does not."""
    for block in blocks:
        match = _FOLDER.search(text_at(block, "text"))
        if match:
            return (match[1] or match[2]).strip()
    return ""


def reasoning_text(item: JsonObject) -> str:
    """The readable part of a reasoning item, often empty: the rest is encrypted."""
    full = [text_at(part, "text") for part in objects_at(item, "content")]
    short = [text_at(part, "text") for part in objects_at(item, "summary")]
    return "\n\n".join(text for text in full or short if text)


def tool_use(item: JsonObject, fallback_id: str) -> JsonObject:
    """A call of any kind as a `tool_use` block."""
    kind = text_at(item, "type")
    arguments: object = item.get("arguments")
    name = text_at(item, "name")
    if kind == "custom_tool_call":
        arguments = {"input": item.get("input")}
    elif kind == "local_shell_call":
        name, arguments = "local_shell", item.get("action")
    elif kind == "tool_search_call":
        name = "tool_search"
    elif kind == "web_search_call":
        name, arguments = "web_search", item.get("action")
    return {
        "type": "tool_use",
        "id": text_at(item, "call_id") or text_at(item, "id") or fallback_id,
        "name": name or "unknown",
        "input": arguments_from(arguments),
    }


def tool_result(item: JsonObject, call_id: str) -> JsonObject:
    """An output as a `tool_result` block, its text as it was."""
    output: object = item.get("tools" if item.get("type") == "tool_search_output" else "output")
    failed = False
    if isinstance(output, dict):
        fields = cast("JsonObject", output)
        failed = fields.get("success") is False
        output = fields.get("content_items") or fields.get("content")
    content: object = output
    if isinstance(output, list) and item.get("type") != "tool_search_output":
        content = blocks_from(cast("object", output))
    elif not isinstance(output, str):
        content = "" if output is None else json.dumps(output)
    result: JsonObject = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    if failed or (isinstance(content, str) and _failed(content)):
        result["is_error"] = True
    return result


def _failed(text: str) -> bool:
    """Whether a command's output says that it ended with another code than 0."""
    match = _EXIT_CODE.match(text[:_HEAD])
    if match:
        return int(match[1]) != 0
    if not text.startswith('{"output"') and not text.startswith('{"metadata"'):
        return False
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    code = object_at(cast("JsonObject", value), "metadata").get("exit_code")
    return isinstance(code, int) and code != 0


def usage_from(info: JsonObject) -> JsonObject:
    """The usage of one reply under the API's names; Codex counts cached tokens as input too."""
    last = object_at(info, "last_token_usage")
    cached, written = (
        number_at(last, "cached_input_tokens"),
        number_at(last, "cache_write_input_tokens"),
    )
    return {
        "input_tokens": max(number_at(last, "input_tokens") - cached - written, 0),
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": cached,
        "output_tokens": number_at(last, "output_tokens"),
    }
