from __future__ import annotations

import json
from typing import Any

import pytest

from app.models.errors import Overloaded, StreamMalformed, StreamTruncated
from app.models.provider import BlockGrew, BlockStopped, MessageEnded, StreamEvent, Usage
from app.models.reply import Reply
from app.models.usage import usage_from

START = {"type": "message_start", "message": {"id": "m", "model": "x", "usage": {}}}
STOP = {"type": "message_stop"}


def opened(block: dict[str, Any], index: int = 0) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def grew(delta: dict[str, Any], index: int = 0) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def closed(index: int = 0) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def ended(reason: str | None = "end_turn", **usage: int) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


def run(*events: dict[str, Any]) -> tuple[list[StreamEvent], MessageEnded]:
    reply = Reply("req")
    out = [event for wire in events for event in reply.feed(json.dumps(wire))]
    return out, reply.end()


def tool(written: str, start: Any = None) -> list[dict[str, Any]]:
    block = {"type": "tool_use", "id": "t", "name": "Bash", "input": {} if start is None else start}
    delta = {"type": "input_json_delta", "partial_json": written}
    return [START, opened(block), grew(delta), closed()]


def stopped(events: list[StreamEvent]) -> list[dict[str, Any]]:
    return [event.block for event in events if isinstance(event, BlockStopped)]


def test_a_tool_without_arguments_is_whole() -> None:
    events, _ = run(*tool(""), ended("tool_use"))
    assert stopped(events) == [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]


def test_arguments_may_come_with_the_start() -> None:
    events, _ = run(*tool("", {"command": "ls"}), ended("tool_use"))
    assert stopped(events)[0]["input"] == {"command": "ls"}


@pytest.mark.parametrize("written", ['{"a": 1', "[1]", '"x"', "null", '{"a": 1} {'])
def test_arguments_that_are_no_object_never_run(written: str) -> None:
    with pytest.raises(StreamMalformed):
        run(*tool(written), ended("tool_use"))
    for reason in ("max_tokens", "refusal", "model_context_window_exceeded"):
        events, end = run(*tool(written), ended(reason))
        assert stopped(events) == []
        assert end.stop_reason == reason


def test_an_open_block_at_the_end_is_a_fault() -> None:
    events = [START, opened({"type": "text", "text": ""}), ended()]
    with pytest.raises(StreamMalformed):
        run(*events)


def test_no_stop_reason_is_a_truncated_reply() -> None:
    for events in ([], [START], [START, ended(None)], [START, STOP]):
        with pytest.raises(StreamTruncated):
            run(*events)


@pytest.mark.parametrize(
    "data",
    ["", "{", "[]", "3", "{}", '{"type": "content_block_delta", "index": 5, "delta": {}}',
     '{"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use"}}',
     '{"type": "message_start"}', '{"type": "content_block_stop"}'],
)  # fmt: skip
def test_what_cannot_be_read_is_malformed(data: str) -> None:
    with pytest.raises(StreamMalformed):
        list(Reply().feed(data))


def test_an_error_event_is_the_error_it_names() -> None:
    wire = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    with pytest.raises(Overloaded):
        list(Reply().feed(json.dumps(wire)))


def test_unknown_events_and_blocks_do_no_harm() -> None:
    events, end = run(
        {"type": "ping"},
        START,
        {"type": "weather", "sky": "blue"},
        opened({"type": "compaction", "content": "a"}),
        grew({"type": "compaction_delta", "content": "b", "n": 2}),
        closed(),
        ended("brand_new_reason"),
        STOP,
    )
    assert stopped(events) == [{"type": "compaction", "content": "ab", "n": 2}]
    assert end.stop_reason == "brand_new_reason"


def test_signatures_and_citations_are_kept() -> None:
    cite = {"type": "char_location", "cited_text": "x"}
    events, _ = run(
        START,
        opened({"type": "thinking", "thinking": "", "signature": ""}),
        grew({"type": "thinking_delta", "thinking": "so"}),
        grew({"type": "signature_delta", "signature": "AB"}),
        closed(),
        opened({"type": "text", "text": "well, "}, 1),
        grew({"type": "text_delta", "text": "yes"}, 1),
        grew({"type": "citations_delta", "citation": cite}, 1),
        closed(1),
        ended(),
    )
    assert stopped(events) == [
        {"type": "thinking", "thinking": "so", "signature": "AB"},
        {"type": "text", "text": "well, yes", "citations": [cite]},
    ]
    assert [e.text for e in events if isinstance(e, BlockGrew)] == ["so", "well, ", "yes"]


def test_usage_is_the_last_that_was_told() -> None:
    start = {"input_tokens": 9, "output_tokens": 1, "cache_read_input_tokens": 4}
    message = {"id": "m", "model": "x", "usage": start}
    _, end = run({"type": "message_start", "message": message}, ended(output_tokens=30))
    assert end.usage == Usage(input=9, output=30, cache_read=4)


def test_cache_writes_without_a_split_are_short_lived() -> None:
    assert usage_from({"cache_creation_input_tokens": 7}) == Usage(cache_write_5m=7)
    split = {"ephemeral_1h_input_tokens": 5, "ephemeral_5m_input_tokens": 2}
    raw = {"cache_creation_input_tokens": 7, "cache_creation": split}
    assert usage_from(raw) == Usage(cache_write_5m=2, cache_write_1h=5)
    assert usage_from({"input_tokens": None, "output_tokens": "x"}) == Usage()
