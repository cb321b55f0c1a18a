"""Codex rollouts as records of ours.

Layouts: codex-rs/protocol/src/protocol.rs (`RolloutLine`: timestamp, type, payload), and the older
one of bare items behind a header. A rollout is linear; a `thread_rolled_back` event makes the next
prompt a branch. Most `event_msg` lines repeat items and are kept aside.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from app.sessions.codec import Parsed, parse_transcript
from app.sessions.foreign.chain import (
    At,
    Chain,
    Source,
    read_objects,
    session_id_for,
    without,
)
from app.sessions.foreign.codex_items import (
    CALLS,
    OUTPUTS,
    blocks_from,
    folder_in,
    is_context,
    reasoning_text,
    tool_result,
    tool_use,
    unread,
    usage_from,
)
from app.sessions.foreign.values import number_at, object_at, objects_at, text_at
from app.sessions.records import JsonObject

_NO_SUMMARY = "(Codex compacted the conversation here. Its summary is encrypted.)"
_NO_RESULTS = "(Codex does not write down what a web search found.)"


def convert_codex(content: bytes) -> Parsed:
    """The records of a rollout, and what was wrong with its lines. Nothing is left out."""
    parsed = parse_transcript(content)
    sources, flaws = read_objects(parsed)
    converter = _Converter(sources)
    for source in sources:
        converter.take(source)
    converter.close_reply()
    return converter.chain.parsed((*parsed.flaws, *flaws))


class _Said(NamedTuple):
    """A text of the branch in use, to be found again among what a compaction kept."""

    text: str
    uuid: str


def _header(sources: list[Source]) -> JsonObject:
    for source in sources:
        if source.data.get("type") == "session_meta":
            return object_at(source.data, "payload")
        if not text_at(source.data, "type") and text_at(source.data, "id"):
            return source.data
    return {}


def _text_of(blocks: list[JsonObject]) -> str:
    return "\n".join(text for block in blocks if (text := text_at(block, "text")))


def _is_item_message(source: Source) -> bool:
    data = source.data
    item = object_at(data, "payload") if data.get("type") == "response_item" else data
    return item.get("type") == "message"


class _Converter:
    def __init__(self, sources: list[Source]) -> None:
        header = _header(sources)
        own = text_at(header, "id") or text_at(header, "session_id")
        self.chain = Chain(
            "codex",
            session_id_for("codex", own or repr(sources[:1])),
            version=text_at(header, "cli_version"),
            cwd=text_at(header, "cwd"),
            branch=text_at(object_at(header, "git"), "branch"),
        )
        self.has_items = any(_is_item_message(source) for source in sources)
        self.timestamp = text_at(header, "timestamp") or None
        self.model = text_at(header, "model")
        self.parent: str | None = None
        self.before_prompts: list[tuple[str | None, int]] = []
        """For each prompt of the branch: what it hangs on, and how much had been said."""
        self.said: list[_Said] = []
        self.places: dict[str, list[int]] = {}
        """By text: where in `said` it stands."""
        self.reply: list[JsonObject] = []
        """The blocks of the reply that may still go on."""
        self.closed: list[JsonObject] = []
        """The reply before, whose usage may still come."""
        self.calls: dict[str, str] = {}
        self.counted: JsonObject = {}
        self.lines: dict[int, int] = {}

    def take(self, source: Source) -> None:
        data = source.data
        at = At(source.line, text_at(data, "timestamp") or self.timestamp)
        self.timestamp = at.timestamp
        kind, payload = text_at(data, "type"), object_at(data, "payload")
        if not isinstance(data.get("payload"), dict):
            if not self._item(data, at):
                self.chain.aside(source, kind or text_at(data, "record_type"))
            return
        used = False
        if kind == "response_item":
            used = self._item(payload, at)
        elif kind == "compacted":
            used = self._compacted(payload, at)
        elif kind == "turn_context":
            self.model = text_at(payload, "model") or self.model
            self.chain.cwd = text_at(payload, "cwd") or self.chain.cwd
        elif kind == "event_msg":
            used = self._event(payload, at)
        if not used:
            self.chain.aside(source, kind)

    # items

    def _item(self, item: JsonObject, at: At) -> bool:
        """Add an item to the conversation; False when it has no place there."""
        kind = text_at(item, "type")
        if kind == "message":
            return self._message(item, at)
        if kind == "reasoning":
            text = reasoning_text(item)
            rest = without(item, "type", "summary", "content")
            return bool(text) and self._block({"type": "thinking", "thinking": text}, at, rest)
        if kind == "agent_message":
            blocks = blocks_from(item.get("content"))
            rest = without(item, "type", "content")
            return bool(blocks) and self._user(blocks, at, rest, meta=True)
        if kind in CALLS or kind == "web_search_call":
            rest = without(item, "type", "name", "arguments", "input", "action", "call_id")
            self._block(tool_use(item, f"call_{self._count(at)}"), at, rest)
            if kind == "web_search_call":
                call_id = self.reply[-1]["message"]["content"][0]["id"]
                self._result({"output": _NO_RESULTS}, call_id, at, {})
            return True
        if kind in OUTPUTS and text_at(item, "call_id"):
            rest = without(item, "type", "call_id", "output", "tools")
            rest |= unread("output", item.get("output"))
            self._result(item, text_at(item, "call_id"), at, rest)
            return True
        return False

    def _message(self, item: JsonObject, at: At) -> bool:
        blocks = blocks_from(item.get("content"))
        rest = without(item, "type", "role", "content") | unread("content", item.get("content"))
        if not blocks:
            return False
        if item.get("role") == "assistant":
            for block in blocks:
                self._block(block, at, rest)
                rest = {}
            return True
        meta = item.get("role") != "user" or is_context(blocks)
        return self._user(blocks, at, rest, meta=meta)

    def _user(self, blocks: list[JsonObject], at: At, rest: JsonObject, *, meta: bool) -> bool:
        self.close_reply()
        marks = {"isMeta": True} if meta else {}
        if not meta:
            self.before_prompts.append((self.parent, len(self.said)))
        elif not self.chain.cwd:
            self.chain.cwd = folder_in(blocks)
        only_text = len(blocks) == 1 and blocks[0]["type"] == "text"
        content = text_at(blocks[0], "text") if only_text else blocks
        made = self.chain.user(self._key(at), self.parent, content, at, original=rest, **marks)
        self._go_on(made, blocks)
        return True

    def _block(self, block: JsonObject, at: At, rest: JsonObject) -> bool:
        key = self._key(at)
        first = self.reply[0]["message"]["id"] if self.reply else f"msg_{self.chain.uuid(key)}"
        message: JsonObject = {
            "model": self.model or "unknown",
            "id": first,
            "type": "message",
            "role": "assistant",
            "content": [block],
            "stop_reason": None,
            "stop_sequence": None,
        }
        made = self.chain.assistant(key, self.parent, message, at, original=rest)
        self.reply.append(made)
        if block["type"] == "tool_use":
            self.calls[block["id"]] = made["uuid"]
        self._go_on(made, [block])
        return True

    def _result(self, item: JsonObject, call_id: str, at: At, rest: JsonObject) -> None:
        self.close_reply()
        result = tool_result(item, call_id)
        caller = self.calls.get(call_id)
        marks = {"sourceToolAssistantUUID": caller} if caller else {}
        made = self.chain.user(self._key(at), self.parent, [result], at, original=rest, **marks)
        self.parent = made["uuid"]

    def _go_on(self, made: JsonObject, blocks: list[JsonObject]) -> None:
        self.parent = made["uuid"]
        text = _text_of(blocks)
        if text:
            self.places.setdefault(text, []).append(len(self.said))
            self.said.append(_Said(text, made["uuid"]))

    def close_reply(self) -> None:
        """The reply is over: what it ended with is written into its records."""
        if not self.reply:
            return
        called = any(r["message"]["content"][0]["type"] == "tool_use" for r in self.reply)
        for record in self.reply:
            record["message"]["stop_reason"] = "tool_use" if called else "end_turn"
        self.closed, self.reply = self.reply, []

    # what stands between items

    def _event(self, event: JsonObject, at: At) -> bool:
        """Follow an event; True when nothing of it is left to be kept."""
        kind = text_at(event, "type")
        if kind == "token_count":
            self._count_usage(object_at(event, "info"))
        elif kind == "thread_rolled_back":
            self._roll_back(number_at(event, "num_turns"))
        elif kind == "thread_name_updated" and text_at(event, "thread_name"):
            self.chain.title(text_at(event, "thread_name"), at.line)
        elif not self.has_items and kind in {"user_message", "agent_message"}:
            role = "user" if kind == "user_message" else "assistant"
            item: JsonObject = {"role": role, "content": event.get("message")}
            return self._message(item | without(event, "message", "type"), at)
        return False

    def _count_usage(self, info: JsonObject) -> None:
        """Give a reply the tokens that are counted after it; a count may come twice."""
        total = object_at(info, "total_token_usage")
        reply = self.reply or self.closed
        if total == self.counted or not reply or "usage" in reply[0]["message"]:
            return
        self.counted = total
        for record in reply:
            record["message"]["usage"] = usage_from(info)

    def _roll_back(self, turns: int) -> None:
        """The last turns were taken back: what follows hangs on what was before them."""
        self.close_reply()
        turns = min(turns, len(self.before_prompts))
        if turns:
            self.parent, said = self.before_prompts[-turns]
            del self.before_prompts[-turns:]
            for taken in self.said[said:]:
                self.places[taken.text].pop()
            del self.said[said:]

    def _compacted(self, payload: JsonObject, at: At) -> bool:
        self.close_reply()
        kept, other = self._kept(payload)
        summary = text_at(payload, "message") or "\n\n".join(other) or _NO_SUMMARY
        rest = without(payload, "message")
        boundary, made = self.chain.compaction(
            self._key(at), self.parent, summary, at, original=rest
        )
        self.chain.keep(boundary, made, kept)
        self.parent = made["uuid"]
        return True

    def _kept(self, payload: JsonObject) -> tuple[list[str], list[str]]:
        """The uuids of what the new history still holds, and the texts that only it holds."""
        found: list[str] = []
        other: list[str] = []
        end = len(self.said)
        for item in reversed(objects_at(payload, "replacement_history")):
            blocks = blocks_from(item.get("content"))
            text = _text_of(blocks)
            if not text:
                continue
            places = self.places.get(text, [])
            before = bisect_left(places, end)
            if before:
                end = places[before - 1]
                found.append(self.said[end].uuid)
            elif not is_context(blocks):
                other.append(text)
        return found[::-1], other[::-1]

    # keys

    def _count(self, at: At) -> str:
        """Names the record that is made next: its line, and a number where a line makes several."""
        return f"{at.line}.{self.lines.get(at.line, 0)}"

    def _key(self, at: At) -> str:
        key = self._count(at)
        self.lines[at.line] = self.lines.get(at.line, 0) + 1
        return key
