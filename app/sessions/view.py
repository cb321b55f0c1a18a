"""What the API receives: the graph's chain from a leaf, as messages that are always accepted.

Whatever a transcript holds, the result keeps the API's rules: roles alternate and the user begins,
every tool_use has exactly one result right behind it, nothing is empty, ids are unique
(spec/sessions.md, Graph; cases B12, B13, B16, B41).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from app.sessions.api_names import name_for_api
from app.sessions.graph import MessageGraph, Path
from app.sessions.kept import Walk, walk_from
from app.sessions.prompts import CUT_OFF_RESULT, blocks_of, content_of, user_kind
from app.sessions.records import JsonObject, Record

EMPTY_RESULT = "(no output)"
TOO_DEEP = "These arguments were nested too deeply to be sent again."
DEEPEST = 100
"""Levels of nesting of a block that are sent."""
OPENING = "(The beginning of this conversation is not available.)"

THINKING = frozenset({"thinking", "redacted_thinking"})
PERMISSION_MODES = frozenset(
    {"default", "acceptEdits", "plan", "auto", "bypassPermissions", "dontAsk", "ask"}
)
"""Modes that prompts of real files name (transcripts.md, a16)."""
SAID = frozenset({"image", "document", "text"})
"""Kinds of blocks that a user message may have, beside results."""
REPLIED = frozenset({"thinking", "redacted_thinking", "tool_use", "text"})
"""Kinds of blocks that an assistant message may have, beside those of the server's own tools."""
_RESULT_PARTS = frozenset({"text", "image", "document", "search_result"})
"""Parts of a result. References to tools are none: the tools of another session are not offered."""
_ERROR_PARTS = frozenset({"text"})


@dataclass(slots=True)
class RequestView:
    """The messages of the next request, and what had to be done to make them valid."""

    messages: list[JsonObject] = field(default_factory=list[JsonObject])
    results_made: int = 0
    """Calls that have no result in the file and got one that says so."""
    orphan_results: int = 0
    """Results whose call is not in the request."""
    bad_texts: int = 0
    """Text blocks whose text is none."""
    bad_attachments: int = 0
    """Attachments that hold nothing that could be attached."""
    unknown_modes: int = 0
    """Prompts that name a permission mode that does not exist."""
    positions: list[int] = field(default_factory=list[int])
    """The records on the walk, oldest first."""


def request_view(graph: MessageGraph, leaf: int | None, model: str | None = None) -> RequestView:
    """The messages of the next request from `leaf`.

    Thinking is sent only when it has a signature and, where `model` is given, when that model
    wrote it.
    """
    return _Builder(graph, walk_from(graph, leaf), model).build()


def _stale(graph: MessageGraph, walk: Walk) -> frozenset[int]:
    """Kept messages whose thinking is not sent: what stood before them is gone (cases/B13).

    The calls that still wait for the model's next word keep theirs, as the API wants it.
    """
    last_word = 0
    for index, here in enumerate(walk.positions):
        record = graph.records[here]
        if record.type == "user" and not record.tool_results:
            last_word = index
    return walk.kept.intersection(walk.positions[:last_word])


class _Builder:
    def __init__(self, graph: MessageGraph, walk: Walk, model: str | None) -> None:
        self.graph = graph
        self.walk = walk.positions
        self.path = Path(graph, walk.positions)
        self.stale = _stale(graph, walk)
        self.model = model
        self.view = RequestView(positions=list(walk.positions))
        self.sent_messages: set[str] = set()
        self.sent_tools: set[str] = set()

    def build(self) -> RequestView:
        for here in self.walk:
            record = self.graph.records[here]
            if not self.graph.is_main(here) or record.uuid in self.graph.retracted:
                continue
            if record.type == "assistant":
                self._assistant(here, record)
            elif record.type == "user":
                self._user(record)
            elif record.type == "attachment":
                self._attachment(record)
        if self.view.messages and self.view.messages[0]["role"] == "assistant":
            self.view.messages.insert(0, _user_text(OPENING))
        name_for_api(self.view.messages)
        return self.view

    def _assistant(self, here: int, record: Record) -> None:
        key = record.message_id or f"record {here}"
        if record.is_synthetic or key in self.sent_messages:
            return
        self.sent_messages.add(key)
        blocks: list[JsonObject] = []
        group = self.path.message(here)
        for member in group:
            if self.graph.records[member].uuid in self.graph.retracted:
                continue
            data = self.graph.records[member].data
            writer = None if member in self.stale else record.model
            blocks += self._sendable(blocks_of(content_of(data)), writer, REPLIED)
        sent = _pair_server_tools(blocks)
        self.view.orphan_results += sum(b["type"] != "server_tool_use" for b in blocks) - sum(
            b["type"] != "server_tool_use" for b in sent
        )
        blocks = sent
        uses = [str(block["id"]) for block in blocks if block["type"] == "tool_use"]
        self._put("assistant", blocks)
        if uses:
            self._put("user", [self._result(tool_id) for tool_id in uses])

    def _result(self, tool_id: str) -> JsonObject:
        candidates = [
            here
            for here in self.graph.results.get(tool_id, [])
            if self.path.has(here) and self.graph.records[here].uuid not in self.graph.retracted
        ]
        candidates.sort(key=lambda h: (h not in self.path.on_it, h))
        for here in candidates:
            for block in blocks_of(content_of(self.graph.records[here].data)):
                if block.get("type") == "tool_result" and block.get("tool_use_id") == tool_id:
                    return _clean_result(block)
        self.view.results_made += 1
        return {
            "type": "tool_result",
            "tool_use_id": tool_id,
            "content": CUT_OFF_RESULT,
            "is_error": True,
        }

    def _user(self, record: Record) -> None:
        data = record.data
        if user_kind(record, data) == "tool_result":
            known = self.sent_tools
            self.view.orphan_results += sum(1 for t in record.tool_results if t not in known)
        mode = data.get("permissionMode")
        self.view.unknown_modes += mode is not None and mode not in PERMISSION_MODES
        self._put("user", self._sendable(blocks_of(content_of(data)), None, SAID))

    def _attachment(self, record: Record) -> None:
        attachment = record.data.get("attachment")
        fields = cast("JsonObject", attachment) if isinstance(attachment, dict) else {}
        if not isinstance(fields.get("type"), str):
            self.view.bad_attachments += 1
        elif fields["type"] == "queued_command":
            self._put("user", self._sendable(blocks_of(fields.get("prompt")), None, SAID))

    def _sendable(
        self, blocks: list[JsonObject], writer: str | None, kinds: frozenset[str]
    ) -> list[JsonObject]:
        kept: list[JsonObject] = []
        for block in blocks:
            kind = block.get("type")
            if kind not in kinds and not (kinds is REPLIED and _is_server_kind(kind)):
                continue
            if kind != "tool_use" and (is_too_deep(block) or not _is_whole(block)):
                continue
            if kind == "text" and not _has_text(block):
                self.view.bad_texts += not isinstance(block.get("text"), str)
                continue
            if kind in THINKING and not self._thinking_counts(block, writer):
                continue
            if kind == "tool_use":
                tool_id = block.get("id")
                if not isinstance(tool_id, str) or not tool_id or tool_id in self.sent_tools:
                    continue
                if tool_id in self.graph.superseded:
                    continue
                self.sent_tools.add(tool_id)
            kept.append(_clean_block(block))
        return kept

    def _thinking_counts(self, block: JsonObject, writer: str | None) -> bool:
        if writer is None or (self.model is not None and writer != self.model):
            return False
        if block["type"] != "thinking":
            return True
        signature = block.get("signature")
        return (
            isinstance(block.get("thinking"), str)
            and isinstance(signature, str)
            and signature != ""
        )

    def _put(self, role: str, blocks: list[JsonObject]) -> None:
        if not blocks or (role == "assistant" and _only_thinking(blocks)):
            return
        messages = self.view.messages
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks
        else:
            messages.append({"role": role, "content": blocks})


def _user_text(text: str) -> JsonObject:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def _is_server_kind(kind: object) -> bool:
    return isinstance(kind, str) and (kind == "server_tool_use" or kind.endswith("_tool_result"))


def _pair_server_tools(blocks: list[JsonObject]) -> list[JsonObject]:
    """Drop server tool calls without their result and results without their call (cases/B12)."""
    uses = {b.get("id") for b in blocks if b["type"] == "server_tool_use"}
    answered = {b.get("tool_use_id") for b in blocks if "tool_use_id" in b}
    return [
        block
        for block in blocks
        if not _is_server_kind(block["type"])
        or (block["type"] == "server_tool_use" and block.get("id") in answered)
        or block.get("tool_use_id") in uses
    ]


def _is_whole(block: JsonObject) -> bool:
    """Whether a picture or document has what it is a picture or document of."""
    return block.get("type") not in {"image", "document"} or isinstance(block.get("source"), dict)


def is_too_deep(value: object) -> bool:
    """Whether a JSON value is nested deeper than anything real, and than servers take."""
    level: list[object] = [value]
    for _ in range(DEEPEST):
        inner: list[object] = []
        for each in level:
            if isinstance(each, dict):
                inner += cast("JsonObject", each).values()
            elif isinstance(each, list):
                inner += cast("list[object]", each)
        if not inner:
            return False
        level = inner
    return True


def _has_text(block: JsonObject) -> bool:
    text = block.get("text")
    return isinstance(text, str) and bool(text.strip())


def _only_thinking(blocks: list[JsonObject]) -> bool:
    return all(block["type"] in THINKING for block in blocks)


def _clean_block(block: JsonObject) -> JsonObject:
    """A copy without keys that belong to the transcript or to an earlier request's cache."""
    if block["type"] == "tool_use":
        arguments: object = block.get("input")
        fields = cast("JsonObject", arguments) if isinstance(arguments, dict) else {}
        fields = {"unreadable": TOO_DEEP} if is_too_deep(fields) else fields
        return {
            "type": "tool_use",
            "id": block["id"],
            "name": str(block.get("name") or "unknown"),
            "input": fields,
        }
    return {key: value for key, value in block.items() if key != "cache_control"}


def _clean_result(block: JsonObject) -> JsonObject:
    content, is_error = block.get("content"), block.get("is_error") is True
    if isinstance(content, list):
        parts = [
            {key: value for key, value in part.items() if key != "cache_control"}
            for part in blocks_of(cast("object", content))
            if part.get("type") in (_ERROR_PARTS if is_error else _RESULT_PARTS)
            and (part.get("type") != "text" or _has_text(part))
            and not is_too_deep(part)
            and _is_whole(part)
        ]
        kept: object = parts or EMPTY_RESULT
    else:
        kept = content if isinstance(content, str) and content.strip() else EMPTY_RESULT
    result: JsonObject = {
        "type": "tool_result",
        "tool_use_id": block["tool_use_id"],
        "content": kept,
    }
    if is_error:
        result["is_error"] = True
    return result
