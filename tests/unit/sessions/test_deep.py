"""Records that are nested more deeply than Python can follow."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from app.models.clean import clean
from app.sessions.foreign.adopt import Adoption
from app.sessions.fork import fork_records
from app.sessions.graph import open_view
from app.sessions.records import Record, new_record, parse_record
from app.sessions.view import DEEPEST, TOO_DEEP, request_view


def deep_record(uuid: str = "d", parent: str | None = None) -> Record:
    """As the typed decoder reads one whose unknown keys it has passed over."""
    head = {"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s"}
    raw = json.dumps(head)[:-1].encode() + b',"x":' + b"[" * 5_000 + b"]" * 5_000 + b"}"
    record = parse_record(json.dumps(head).encode())
    return msgspec.structs.replace(record, source=raw, start=0, stop=len(raw))


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def test_such_a_record_still_orders_the_conversation() -> None:
    data = deep_record(parent="a").data
    assert (data["uuid"], data["parentUuid"], data["message"]["content"]) == ("d", "a", [])


def test_it_is_not_carried_over_but_counted() -> None:
    adoption = Adoption("new", lambda: "n")
    assert [record.uuid for record in adoption.take([deep_record()])] == []
    assert adoption.left_out == 1


def test_a_fork_goes_on_around_it() -> None:
    said = {"type": "user", "message": {"role": "user", "content": "hi"}, "sessionId": "s"}
    first = new_record({**said, "uuid": "a", "parentUuid": None})
    last = new_record({**said, "uuid": "c", "parentUuid": "d"})
    view = open_view([first, deep_record(parent="a"), last])
    forked = fork_records(
        view.graph, view.leaf, session_id="n", title="", new_uuid=iter("xyz").__next__
    )
    assert [(record.uuid, record.parent) for record in forked] == [
        ("x", None),
        ("y", "x"),
        ("z", "y"),
    ]


@pytest.mark.parametrize(("depth", "sent"), [(DEEPEST - 5, True), (DEEPEST, False), (700, False)])
def test_arguments_that_no_server_takes_are_named_instead(depth: int, sent: bool) -> None:
    call = {"type": "tool_use", "id": "t", "name": "X", "input": {"a": nested(depth)}}
    message = {"id": "m", "role": "assistant", "model": "x", "content": [call]}
    record = {"type": "assistant", "uuid": "a", "parentUuid": None, "message": message}
    view = open_view([new_record(record)])
    messages = request_view(view.graph, view.leaf).messages
    (found,) = messages[1]["content"]
    assert (found["input"] == {"unreadable": TOO_DEEP}) is not sent
    assert clean(messages) == messages
