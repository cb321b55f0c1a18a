from __future__ import annotations

from typing import Any

import pytest

from app.sessions.family import Family
from app.sessions.graph import MessageGraph
from app.sessions.node_facts import (
    Facts,
    FileChange,
    changes_files,
    compare,
    differences,
    facts_of,
)
from app.sessions.outline import Node
from tests.unit.sessions.families import Made, family, forked, session_id


def count_replies(graph: MessageGraph) -> float:
    """A price of one dollar a reply that is not a copy."""
    replies = (record for record in graph.records if record.type == "assistant")
    return float(sum(1 for record in replies if "forkedFrom" not in record.data))


def result(made: Made, tool_id: str, details: Any) -> Made:
    block = {"type": "tool_result", "tool_use_id": tool_id, "content": "ok"}
    return made.calls(tool_id, "Edit").user([block], toolUseResult=details)


def hunks(*lines: str) -> list[dict[str, Any]]:
    return [{"oldStart": 1, "newStart": 1, "lines": list(lines)}]


def named(found: Family, text: str) -> Node:
    return next(node for node in found.nodes if node.text == text)


def test_the_facts_of_a_turn_are_those_of_its_own_records() -> None:
    made = Made(1).user("one")
    result(made, "t1", {"filePath": "/a", "structuredPatch": hunks("-x", "+y", "+z", " k")})
    result(made, "t2", {"filePath": "/b", "type": "create", "content": "1\n2\n3\n"})
    result(made, "t3", {"filePath": "/a", "structuredPatch": hunks("+w", "\\ no newline")})
    result(made, "t4", "User rejected tool use")
    made.talk("two")
    found = family(made)
    facts = facts_of(found, named(found, "one"), count_replies)
    assert facts == Facts(4, (FileChange("/a", 3, 1), FileChange("/b", 3, 0)), 4.0)
    assert (facts.added, facts.removed) == (6, 1)
    assert facts_of(found, named(found, "two"), count_replies) == Facts(0, (), 1.0)
    assert changes_files(found, named(found, "one"))
    assert not changes_files(found, named(found, "two"))


@pytest.mark.parametrize(
    "details",
    [
        {"structuredPatch": hunks("+x")},
        {"filePath": 7, "structuredPatch": hunks("+x")},
        {"filePath": "/a", "structuredPatch": []},
        {"filePath": "/a", "type": "update"},
        ["structuredPatch"],
        {"stdout": 'it said "structuredPatch"'},
    ],
)
def test_what_tells_of_no_change_counts_as_none(details: Any) -> None:
    made = result(Made(1).user("one"), "t1", details)
    found = family(made)
    assert facts_of(found, found.nodes[0], count_replies).files == ()


def test_odd_hunks_end_nothing() -> None:
    patch = ["x", {"lines": "y"}, {"lines": [1, None, "+a"]}]
    made = result(Made(1).user("one"), "t1", {"filePath": "/a", "structuredPatch": patch})
    found = family(made)
    assert facts_of(found, found.nodes[0], count_replies).files == (FileChange("/a", 1, 0),)


def test_what_a_fork_copied_cost_what_it_did_at_first() -> None:
    origin = Made(1).talk("one")
    fork = forked(origin, 2).talk("two")
    alone, both = family(fork), family(fork, origin)
    assert facts_of(alone, named(alone, "one"), count_replies).cost_usd == 0
    assert facts_of(both, named(both, "one"), count_replies).cost_usd == 1
    assert facts_of(both, named(both, "two"), count_replies).cost_usd == 1


def test_a_cost_that_is_not_known_stays_unknown() -> None:
    found = family(Made(1).talk("one"))
    assert facts_of(found, found.nodes[0], lambda _: None).cost_usd is None


def branched() -> Family:
    made = Made(1).talk("one")
    start = made.leaf
    made.talk("left").talk("further left")
    made.leaf = start
    return family(made.talk("right"))


def test_two_nodes_are_compared_from_where_they_part() -> None:
    found = branched()
    seen: list[tuple[str, str]] = []

    def files_at(session_id: str, uuid: str) -> None:
        seen.append((session_id, uuid))

    left, right = named(found, "further left"), named(found, "right")
    result = compare(found, left, right, files_at)
    assert result.shared == named(found, "one") and result.files is None
    assert [node.text for node in result.only_first] == ["left", "further left"]
    assert [node.text for node in result.only_second] == ["right"]
    ends = [found.records(node)[-1].uuid for node in (left, right)]
    assert seen == [(left.session_id, ends[0]), (right.session_id, ends[1])]
    assert ends[0] != left.own


def test_a_node_and_the_one_before_it_part_at_that_one() -> None:
    found = branched()
    result = compare(found, named(found, "one"), named(found, "left"), lambda *_: {})
    assert (result.only_first, result.files) == ((), ())
    assert [node.text for node in result.only_second] == ["left"]


def test_of_another_session_without_a_prompt_the_last_turn_is_compared() -> None:
    origin = Made(1).talk("one").talk("two")
    found = family(origin, forked(origin, 2))
    seen: list[tuple[str, str]] = []

    def files_at(session_id: str, uuid: str) -> dict[str, bytes | None]:
        seen.append((session_id, uuid))
        return {}

    result = compare(found, named(found, "one"), named(found, "Title 2"), files_at)
    assert [node.text for node in result.only_second] == ["two", "Title 2"]
    assert seen[1] == (session_id(2), f"{session_id(2)[:8]}-f4")
    further = compare(found, named(found, "Title 2"), named(found, "Title 2"), files_at)
    assert further.shared == named(found, "two")


def test_two_roots_share_nothing() -> None:
    found = family(Made(1).talk("one").user("other", parent=None))
    result = compare(found, found.nodes[0], found.nodes[1], lambda *_: {})
    assert result.shared is None and len(result.only_first) == len(result.only_second) == 1


def test_files_that_differ() -> None:
    before = {"a": b"1\n2\n", "b": None, "c": b"same", "d": b"x\n", "e": b"\xff", "f": b"one"}
    after = {"a": b"1\n3\n", "b": b"new\n", "c": b"same", "d": None, "e": b"\xfe\xfe", "g": b"two"}
    found = {each.path: each for each in differences(before, after)}
    told = {path: (each.added, each.removed, each.words) for path, each in found.items()}
    assert told == {
        "a": (1, 1, ""),
        "b": (1, 0, "only at the second"),
        "d": (0, 1, "only at the first"),
        "e": (0, 0, "not text, 1 and 2 bytes"),
        "f": (0, 0, "not known at the second"),
        "g": (0, 0, "not known at the first"),
    }
    assert found["a"].hunks[0]["lines"] == [" 1", "-2", "+3"]
