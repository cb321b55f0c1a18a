"""From the wire events of one reply to our stream events.

Works on the JSON as it came, so that blocks of a kind we do not know, signatures and citations
are kept exactly. A tool's input is parsed only once its block is closed, and only from complete
JSON (cases/B40).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from app.models.errors import StreamMalformed, StreamTruncated
from app.models.fault import fault_from_event
from app.models.provider import (
    Block,
    BlockGrew,
    BlockStarted,
    BlockStopped,
    MessageEnded,
    MessageStarted,
    StreamEvent,
)
from app.models.usage import usage_from

_GROWS: Mapping[str, tuple[str, Literal["text", "thinking"]]] = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
}
"""Delta type to the block's field and the kind of our event."""

_CUT_SHORT = frozenset({"max_tokens", "model_context_window_exceeded", "refusal"})
"""Stop reasons with which a reply may rightly end in the middle of a tool's input."""


@dataclass(slots=True)
class _Open:
    """A block that is still growing."""

    block: Block
    parts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    json: list[str] = field(default_factory=list[str])


class Reply:
    """One reply being received: `feed` each wire event, then `end` when the stream is over."""

    def __init__(self, request_id: str | None = None, secret: str = "") -> None:
        self._request_id = request_id
        self._secret = secret
        self._open: dict[int, _Open] = {}
        self._broken_input = False
        self._usage: dict[str, Any] = {}
        self._stop_reason: str | None = None
        self._stop_details: Mapping[str, Any] | None = None
        self.stopped = False
        """`message_stop` has come: nothing more is to be read."""

    @property
    def whole(self) -> bool:
        """The stop reason is known and no block is open: a lost connection loses nothing."""
        return self._stop_reason is not None and not self._open

    def feed(self, data: str) -> Iterator[StreamEvent]:
        """The events of one wire event's JSON.

        Raises StreamMalformed for what cannot be read, or the error an `error` event stands for.
        """
        try:
            event = json.loads(data)
            kind = event["type"]
            yield from self._take(kind, event)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StreamMalformed(
                "A part of the reply was not readable.", request_id=self._request_id
            ) from error

    def end(self) -> MessageEnded:
        """The last event. Raises StreamTruncated without a stop reason, StreamMalformed for a
        tool's input that is not JSON although the reply claims to be complete.
        """
        if self._stop_reason is None:
            raise StreamTruncated(
                "The reply ended early, without a stop reason.", request_id=self._request_id
            )
        incomplete = self._broken_input or bool(self._open)
        if incomplete and self._stop_reason not in _CUT_SHORT:
            raise StreamMalformed(
                "A tool call in the reply was not complete.", request_id=self._request_id
            )
        return MessageEnded(
            self._stop_reason,
            usage_from(self._usage),
            self._stop_details,
            self._request_id,
            self._usage,
        )

    def _take(self, kind: str, event: dict[str, Any]) -> Iterator[StreamEvent]:
        match kind:
            case "message_start":
                message = event["message"]
                self._merge_usage(message.get("usage"))
                yield MessageStarted(
                    str(message.get("id", "")),
                    str(message.get("model", "")),
                    usage_from(self._usage),
                )
            case "content_block_start":
                yield from self._start(int(event["index"]), event["content_block"])
            case "content_block_delta":
                yield from self._grow(int(event["index"]), event["delta"])
            case "content_block_stop":
                yield from self._stop(int(event["index"]))
            case "message_delta":
                delta = event["delta"]
                self._stop_reason = delta.get("stop_reason") or self._stop_reason
                self._stop_details = delta.get("stop_details") or self._stop_details
                self._merge_usage(event.get("usage"))
            case "message_stop":
                self.stopped = True
            case "error":
                raise fault_from_event(event, self._request_id, self._secret)
            case _:
                return

    def _start(self, index: int, block: Block) -> Iterator[StreamEvent]:
        kind = str(block["type"])
        opened = self._open[index] = _Open(dict(block))
        is_tool = kind == "tool_use"
        yield BlockStarted(
            index,
            kind,
            str(block["id"]) if is_tool else "",
            str(block["name"]) if is_tool else "",
        )
        for field_name, event_kind in _GROWS.values():
            text = block.get(field_name)
            if kind == field_name and text:
                opened.parts[field_name] = [text]
                yield BlockGrew(index, event_kind, text)

    def _grow(self, index: int, delta: dict[str, Any]) -> Iterator[StreamEvent]:
        opened = self._open[index]
        kind = delta["type"]
        if kind in _GROWS:
            field_name, event_kind = _GROWS[kind]
            text = str(delta[field_name])
            opened.parts.setdefault(field_name, []).append(text)
            if text:
                yield BlockGrew(index, event_kind, text)
        elif kind == "input_json_delta":
            text = str(delta["partial_json"])
            opened.json.append(text)
            if text:
                yield BlockGrew(index, "input", text)
        elif kind == "citations_delta":
            citations: list[Any] = opened.block.get("citations") or []
            opened.block["citations"] = [*citations, delta["citation"]]
        else:
            _merge_unknown(opened.block, delta)

    def _stop(self, index: int) -> Iterator[StreamEvent]:
        opened = self._open.pop(index)
        block = opened.block
        for field_name, parts in opened.parts.items():
            block[field_name] = "".join(parts)
        written = "".join(opened.json)
        if written.strip():
            try:
                block["input"] = json.loads(written)
            except ValueError:
                # Whether this is a fault is known only with the stop reason.
                self._broken_input = True
                return
        if block["type"] == "tool_use" and not isinstance(block.get("input"), dict):
            self._broken_input = True
            return
        yield BlockStopped(index, block)

    def _merge_usage(self, usage: object) -> None:
        if isinstance(usage, Mapping):
            fields = cast("Mapping[str, Any]", usage)
            self._usage |= {key: value for key, value in fields.items() if value is not None}


def _merge_unknown(block: Block, delta: Mapping[str, Any]) -> None:
    """Signatures and deltas of kinds to come: strings are joined, anything else replaces."""
    for key, value in delta.items():
        if key == "type":
            continue
        known = block.get(key)
        block[key] = known + value if isinstance(known, str) and isinstance(value, str) else value
