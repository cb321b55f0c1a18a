from __future__ import annotations

from typing import Any

import pytest

from app.sessions.graph import open_view
from app.sessions.records import new_record


def said(uuid: str, parent: str | None, kind: str = "user") -> dict[str, Any]:
    message = {"role": kind, "content": uuid, "id": uuid}
    return {"type": kind, "uuid": uuid, "parentUuid": parent, "message": message}


def choice(leaf: str | None, **more: Any) -> dict[str, Any]:
    return {"type": "last-prompt", "leafUuid": leaf, "sessionId": "s", **more}


TALK = [said("a", None), said("b", "a", "assistant"), said("c", "b"), said("d", "c", "assistant")]


def leaf_of(*records: dict[str, Any]) -> str | None:
    return open_view([new_record(each) for each in records]).leaf_uuid


@pytest.mark.parametrize(
    ("records", "leaf"),
    [
        ([*TALK], "d"),
        ([*TALK, choice("b", explicit=True)], "b"),
        ([*TALK, choice("b", explicit=True), {"type": "mode", "mode": "normal"}], "b"),
        ([*TALK, choice("b")], "d"),
        ([*TALK, choice("gone", explicit=True)], "d"),
        ([*TALK, choice("a", explicit=True), choice("b", explicit=True)], "b"),
        ([*TALK, choice("b", explicit=True), said("e", "b")], "e"),
        ([*TALK, choice(None, explicit=True)], None),
        ([*TALK, choice(None, explicit=True), said("e", None)], "e"),
    ],
    ids=[
        "none",
        "chosen",
        "then-metadata",
        "not-explicit",
        "unknown",
        "last-wins",
        "gone-on",
        "before-the-first",
        "begun-anew",
    ],
)
def test_a_chosen_leaf_holds_until_something_is_said(
    records: list[dict[str, Any]], leaf: str | None
) -> None:
    assert leaf_of(*records) == leaf


def test_a_choice_on_a_system_record_means_the_message_above() -> None:
    event = {"type": "system", "uuid": "x", "parentUuid": "b", "subtype": "turn_duration"}
    assert leaf_of(*TALK, event, choice("x", explicit=True)) == "b"
