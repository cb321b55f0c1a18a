"""Files made to be slow: the work grows with their size, not with its square."""

from __future__ import annotations

from typing import Any

import pytest

from app.sessions import codec
from app.sessions.codec import parse_transcript
from app.sessions.graph import MessageGraph, open_view
from app.sessions.history import timeline
from app.sessions.records import new_record
from app.sessions.view import request_view


def test_a_line_of_cut_objects_is_given_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    decode, tried = codec._decode, [0]

    def counted(text: str, start: int) -> Any:
        tried[0] += len(text)
        return decode(text, start)

    monkeypatch.setattr(codec, "_decode", counted)
    line = b'{"type":"user","x":' * 200_000
    parsed = parse_transcript(line + b"\n")
    assert parsed.count("corrupt_line") == 1
    assert tried[0] < 2 * codec._MAX_WORK


def test_whole_records_on_one_long_line_are_all_found() -> None:
    line = b'{"type":"mode","mode":"normal"}' * 50_000
    assert len(parse_transcript(line + b"\n").records) == 50_000


def side_branch(count: int) -> list[dict[str, Any]]:
    """A reply whose blocks hang one on the other beside the conversation."""
    message = {
        "id": "m",
        "role": "assistant",
        "model": "x",
        "content": [{"type": "text", "text": "t"}],
    }
    records: list[dict[str, Any]] = [
        {
            "type": "user",
            "uuid": "p",
            "parentUuid": None,
            "message": {"role": "user", "content": "hi"},
        }
    ]
    for number in range(count):
        parent = f"a{number - 1}" if number else "p"
        record = {"type": "assistant", "uuid": f"a{number}", "parentUuid": parent}
        records.append({**record, "message": message})
    records.append({"type": "assistant", "uuid": "z", "parentUuid": "p", "message": message})
    return records


def test_one_reply_of_very_many_records_is_walked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 4_000
    graph = MessageGraph(new_record(each) for each in side_branch(count))
    parent, asked = MessageGraph.parent, [0]

    def counted(self: MessageGraph, here: int) -> int | None:
        asked[0] += 1
        return parent(self, here)

    monkeypatch.setattr(MessageGraph, "parent", counted)
    for leaf in (count + 1, count):
        request_view(graph, leaf)
        timeline(graph, leaf)
    assert asked[0] < 20 * count


def test_what_is_retracted_is_sent_neither_as_a_block_nor_as_a_result() -> None:
    call = {"type": "tool_use", "id": "t", "name": "X", "input": {}}
    said = {"type": "text", "text": "RETRACTED"}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "RETRACTED TOO"}
    reply = {"id": "m", "role": "assistant", "model": "x"}
    records = [
        {
            "type": "user",
            "uuid": "p",
            "parentUuid": None,
            "message": {"role": "user", "content": "hi"},
        },
        {
            "type": "assistant",
            "uuid": "a",
            "parentUuid": "p",
            "message": {**reply, "content": [said]},
        },
        {
            "type": "assistant",
            "uuid": "b",
            "parentUuid": "a",
            "message": {**reply, "content": [call]},
        },
        {
            "type": "user",
            "uuid": "r",
            "parentUuid": "b",
            "message": {"role": "user", "content": [result]},
        },
        {
            "type": "system",
            "subtype": "api_refusal",
            "uuid": "s",
            "parentUuid": "r",
            "retractedMessageUuids": ["a", "r"],
        },
    ]
    view = open_view([new_record(each) for each in records])
    sent = str(request_view(view.graph, view.graph.position["r"]).messages)
    assert "RETRACTED" not in sent
    assert "tool_result" in sent
