from __future__ import annotations

import time
from typing import Any

import pytest

from app.background.post_turn import summarise_turn
from app.background.turn import last_turn
from app.sessions.graph import GraphView, open_view
from app.sessions.records import parse_record
from app.state.background import TurnSummary
from app.state.model import TurnEnd
from tests.unit.background.turn_table import ASK, CASES, LONG
from tests.unit.background.turns import Step, Talk, view_of


@pytest.mark.parametrize(
    ("steps", "end", "keywords", "expected"),
    [case[1:] for case in CASES],
    ids=[case[0].replace(" ", "_") for case in CASES],
)
def test_a_turn_is_summed_up(
    steps: list[Step], end: TurnEnd | None, keywords: dict[str, Any], expected: Any
) -> None:
    found = summarise_turn(view_of(steps), end, **keywords)
    assert found == (None if expected is None else TurnSummary(*expected))


@pytest.mark.parametrize("case", CASES, ids=[case[0].replace(" ", "_") for case in CASES])
def test_a_session_read_from_disk_gives_the_same(case: Any) -> None:
    _, steps, end, keywords, expected = case
    view = read_back(view_of(steps))
    found = summarise_turn(view, end, **keywords)
    assert found == (None if expected is None else TurnSummary(*expected))


def test_every_detail_is_one_short_line() -> None:
    details = [case[4][1] for case in CASES if case[4]]
    assert len(details) >= 60
    assert all(len(detail) <= 60 and detail.isprintable() for detail in details)


def test_the_status_line_shows_category_and_detail() -> None:
    assert TurnSummary("completed", "tests pass").in_words == "completed · tests pass"
    assert TurnSummary("idle", "").in_words == "idle"


def test_parallel_calls_beside_the_walk_are_seen() -> None:
    talk = Talk()
    talk.ask("edit both")
    talk.assistant(
        {"type": "tool_use", "id": "p1", "name": "Edit", "input": {}},
        {"type": "tool_use", "id": "p2", "name": "Edit", "input": {}},
        number=90,
    )
    first, second = talk.view.graph.records[1].uuid, talk.view.graph.records[2].uuid
    for parent, tool_id, path in ((first, "p1", "/w/a"), (second, "p2", "/w/b")):
        block = {"type": "tool_result", "tool_use_id": tool_id, "content": "ok"}
        details = {"filePath": path, "type": "create"}
        message = {"role": "user", "content": [block]}
        talk.add("user", parentUuid=parent, message=message, toolUseResult=details)
    assert summarise_turn(talk.view, None) == TurnSummary("completed", "2 files changed")


def test_another_branch_has_its_own_summary() -> None:
    talk = Talk()
    talk.ask("first")
    talk.say("The first is done.")
    fork = talk.view
    talk.ask("second")
    talk.say("Which one?")
    assert summarise_turn(talk.view, None) == TurnSummary("waiting", "asks: Which one?", True)
    back = GraphView(talk.view.graph, talk.view.length, fork.leaf)
    assert summarise_turn(back, None) == TurnSummary("completed", "The first is done")


def test_records_before_the_prompt_are_never_decoded() -> None:
    turns: list[Step] = [("ask", "x" * 20_000), ("say", LONG)]
    view = read_back(view_of([*turns * 2_000, ASK, ("say", "The cache is in.")]))
    began = time.perf_counter()
    assert summarise_turn(view, None) is not None
    assert time.perf_counter() - began < 0.05


def test_a_turn_that_is_too_long_is_read_from_its_end() -> None:
    steps: list[Step] = [ASK, ("edit", "/w/old.py")]
    steps += [("run", "cat x", "y" * 500_000)] * 5
    steps += [("edit", "/w/a.py"), ("say", LONG)]
    view = read_back(view_of(steps))
    turn = last_turn(view)
    assert turn is not None and not turn.is_whole
    assert summarise_turn(view, None) == TurnSummary("completed", "2+ files changed")


@pytest.mark.parametrize("piece", [*"`„“?*x。\ud800", '"', "- a\n", "```\n", "'a ", "? "])
def test_strange_replies_cost_little(piece: str) -> None:
    reply = piece * (1_000_000 // len(piece))
    view = view_of([ASK, ("say", reply)])
    began = time.perf_counter()
    found = summarise_turn(view, None)
    assert time.perf_counter() - began < 20
    assert found is None or len(found.detail) <= 60


@pytest.mark.parametrize(
    "content", [None, 5, {"a": 1}, [None, 3], [{"type": "text", "text": 4}], [{"type": "tool_use"}]]
)
def test_malformed_messages_are_passed_over(content: Any) -> None:
    talk = Talk()
    talk.ask("go")
    talk.add("assistant", message={"id": "m", "role": "assistant", "content": content})
    talk.result("t", content, [1, 2])
    found = summarise_turn(talk.view, None)
    assert found is None or found.category == "completed"


def read_back(view: GraphView) -> GraphView:
    """The same conversation, as a file gives it."""
    return open_view([parse_record(record.raw) for record in view.graph.records])
