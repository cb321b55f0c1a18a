"""What the Messages server of the tests can be told to do."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Body: TypeAlias = dict[str, Any]
Match: TypeAlias = Callable[[Body], bool]


class Gate:
    """Holds a reply until the test releases it, and tells the test that it is being held."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.released = threading.Event()

    def release(self) -> None:
        self.released.set()


@dataclass(frozen=True)
class Cut:
    """The socket is closed after that many wire events."""

    after: int


@dataclass(frozen=True)
class EarlyEnd:
    """The stream ends cleanly after that many wire events."""

    after: int


@dataclass(frozen=True)
class Stall:
    """Nothing more comes after that many wire events until the gate opens."""

    after: int
    gate: Gate = field(default_factory=Gate)


@dataclass(frozen=True)
class Malformed:
    """After that many wire events comes one that is not JSON."""

    after: int


@dataclass(frozen=True)
class ErrorEvent:
    """After that many wire events comes an `event: error`."""

    after: int
    type: str = "overloaded_error"
    message: str = "Overloaded"


Fault: TypeAlias = Cut | EarlyEnd | Stall | Malformed | ErrorEvent


@dataclass(frozen=True)
class Reply:
    """A message. `usage` is merged over the default; texts go out `piece` characters at a time."""

    blocks: tuple[Body, ...]
    stop_reason: str = "end_turn"
    usage: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    fault: Fault | None = None
    piece: int = 8
    stop_details: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Status:
    """An error response in Anthropic's envelope, or with a body of its own."""

    status: int
    type: str = "api_error"
    message: str = "scripted"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None


@dataclass(frozen=True)
class RawSse:
    """Bytes of a stream as they are, for example a recorded file; `end` closes or cuts."""

    data: bytes
    end: Literal["close", "cut"] = "close"


Behaviour: TypeAlias = Reply | Status | RawSse


def text(words: str) -> Body:
    return {"type": "text", "text": words}


def thinking(words: str, signature: str = "sig-1") -> Body:
    return {"type": "thinking", "thinking": words, "signature": signature}


def tool_use(name: str, arguments: Body, tool_id: str) -> Body:
    return {"type": "tool_use", "id": tool_id, "name": name, "input": arguments}


def refusal(*blocks: Body) -> Reply:
    return Reply(blocks, stop_reason="refusal")


def overloaded(**headers: str) -> Status:
    return Status(529, "overloaded_error", "Overloaded", _headers(headers))


def rate_limited(**headers: str) -> Status:
    return Status(429, "rate_limit_error", "Too many requests", _headers(headers))


def wire_events(reply: Reply, message_id: str, model: str) -> list[Body]:
    """The events of a streamed reply, in order."""
    usage = {"input_tokens": 10, "output_tokens": 1, **reply.usage}
    message = {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": 1},
    }
    events: list[Body] = [{"type": "message_start", "message": message}]
    for index, block in enumerate(reply.blocks):
        events += _block_events(index, block, reply.piece)
    delta: Body = {"stop_reason": reply.stop_reason, "stop_sequence": None}
    if reply.stop_details is not None:
        delta["stop_details"] = dict(reply.stop_details)
    end_usage = {"output_tokens": usage["output_tokens"]}
    events.append({"type": "message_delta", "delta": delta, "usage": end_usage})
    events.append({"type": "message_stop"})
    return events


def whole_message(reply: Reply, message_id: str, model: str) -> Body:
    """The same reply for a request that does not stream."""
    return {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": list(reply.blocks),
        "stop_reason": reply.stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 1, **reply.usage},
    }


def _headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def _block_events(index: int, block: Body, piece: int) -> list[Body]:
    kind = block["type"]
    deltas: list[Body] = []
    start = dict(block)
    if kind == "text":
        start["text"] = ""
        deltas = [{"type": "text_delta", "text": part} for part in _pieces(block["text"], piece)]
    elif kind == "thinking":
        start |= {"thinking": "", "signature": ""}
        parts = _pieces(block["thinking"], piece)
        deltas = [{"type": "thinking_delta", "thinking": part} for part in parts]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    elif kind == "tool_use":
        start["input"] = {}
        parts = _pieces(json.dumps(block["input"]), piece)
        deltas = [{"type": "input_json_delta", "partial_json": part} for part in parts]
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def _pieces(words: str, size: int) -> list[str]:
    return [words[start : start + size] for start in range(0, len(words), size)]
