from __future__ import annotations

import json

import pytest

from app.sessions.branches import prompts_of
from app.sessions.codec import parse_transcript
from app.sessions.graph import GraphView, open_view
from app.sessions.outline import grown, outline
from tests.unit.sessions.families import Made, edges, view_of
from tests.unit.sessions.real_files import NO_TRANSCRIPTS, TRANSCRIPTS

REAL = [file for file in sorted(TRANSCRIPTS.glob("*.jsonl")) if file.name not in NO_TRANSCRIPTS]


def test_prompts_with_their_turns_and_the_branch_in_use() -> None:
    made = Made().talk("one")
    fork = made.leaf
    made.talk("two").calls("t1", "Bash", command="ls").result("t1", "a")
    made.leaf = fork
    made.talk("three")
    found = outline(view_of(made))
    nodes = list(found.nodes.values())
    assert edges(nodes) == [("one", ""), ("two", "one"), ("three", "one")]
    assert [node.tools for node in nodes] == [0, 1, 0]
    assert [node.on_branch for node in nodes] == [True, False, True]
    assert [node.current for node in nodes] == [False, False, True]
    assert [record.type for record in found.records(nodes[1].uuid)] == [
        "user", "assistant", "assistant", "user",
    ]  # fmt: skip


def test_an_echo_beside_a_prompt_is_no_branch() -> None:
    made = Made().talk("one")
    leaf = made.leaf
    made.user("<command-name>/exit</command-name>")
    made.leaf = leaf
    made.talk("two")
    assert edges(list(outline(view_of(made)).nodes.values())) == [("one", ""), ("two", "one")]


def test_a_rewind_is_a_node_and_a_recap_belongs_to_one() -> None:
    made = Made().talk("one")
    start = made.leaf
    made.talk("two").add("system", subtype="away_summary", content="You were away.")
    rewind = {"target": "x", "mode": "both", "undoes": None}
    made.add("system", start, subtype="rewind", rewind=rewind, content="Rewound to “two”.")
    made.talk("again")
    nodes = list(outline(view_of(made)).nodes.values())
    assert edges(nodes) == [
        ("one", ""), ("two", "one"), ("Rewound to “two”.", "one"), ("again", "Rewound to “two”."),
    ]  # fmt: skip
    assert [node.kind for node in nodes] == ["prompt", "prompt", "restore", "prompt"]
    assert [node.recaps for node in nodes] == [0, 1, 0, 0]


def test_what_follows_kept_messages_stands_behind_their_compaction() -> None:
    made = Made().talk("early").talk("kept")
    tail = made.leaf or ""
    head = f"{tail[:-1]}{int(tail[-1]) - 1}"
    boundary = f"{made.id[:8]}-u5"
    segment = {"headUuid": head, "anchorUuid": f"{made.id[:8]}-u6", "tailUuid": tail}
    metadata = {"preTokens": 9, "preservedSegment": segment}
    made.add(
        "system", None, subtype="compact_boundary", logicalParentUuid=tail, compactMetadata=metadata
    )
    made.user("It was early.", parent=boundary, isCompactSummary=True)
    made.user("late", parent=tail)
    nodes = list(outline(view_of(made)).nodes.values())
    assert edges(nodes)[2:] == [("compact 9 tokens", "kept"), ("late", "compact 9 tokens")]
    assert all(node.on_branch for node in nodes)


def test_the_size_of_a_compaction_is_said_where_it_is_known() -> None:
    for sizes, text in (
        ({"preTokens": 0, "postTokens": 9}, "compact"),
        ({"preTokens": 0}, "compact"),
        ({"preTokens": 12, "postTokens": 9}, "compact 12 tokens to 9"),
    ):
        made = Made().talk("early")
        made.add("system", None, subtype="compact_boundary", compactMetadata=sizes)
        assert list(outline(view_of(made)).nodes.values())[-1].text == text


def test_a_kept_tail_that_claims_a_circle_is_outlined_without_it() -> None:
    made = Made().user("one").user("tail")
    one, tail, boundary, late = (f"{made.id[:8]}-u{number}" for number in range(1, 5))
    metadata = {"preservedSegment": {"headUuid": tail, "anchorUuid": one, "tailUuid": tail}}
    made.add(
        "system", None, subtype="compact_boundary", logicalParentUuid=late, compactMetadata=metadata
    )
    made.user("late", parent=tail)
    found = outline(view_of(made))
    assert {node.uuid: node.parent for node in found.nodes.values()} == {
        one: None, tail: one, boundary: None, late: boundary,
    }  # fmt: skip


def test_a_turn_that_goes_on_is_outlined_by_what_was_added() -> None:
    made = Made().talk("one").user("two")
    made.calls("t1", "Bash", command="ls").calls("t2", "Bash", command="pwd")
    made.result("t1", "a")
    made.add("assistant", f"{made.id[:8]}-u4", message={"id": "m", "content": []})
    made.raw(type="custom-title", customTitle="x", sessionId=made.id)
    made.user("a helper's prompt", isSidechain=True)
    made.leaf = f"{made.id[:8]}-u7"
    made.add("system", subtype="away_summary", content="You were away.")
    ends = made.leaf
    made.talk("three")
    made.add("system", ends, subtype="rewind", content="Went back.", rewind={})
    records = parse_transcript(made.text().encode()).records
    start = next(place for place, record in enumerate(records) if record.tool_uses)
    view = open_view(records[:start])
    known, folded = outline(view), 0
    for record in records[start:]:
        view = view.after(record)
        whole, added = outline(view), grown(known, view)
        if added is None:
            assert whole.nodes.keys() != known.nodes.keys()
        else:
            folded += 1
            same = (added.nodes, added.turns, added.sources, added.last)
            assert same == (whole.nodes, whole.turns, whole.sources, whole.last)
        known = whole
    assert folded == len(records) - start - 2
    assert grown(known, open_view(records)) is None


def test_a_leaf_that_moves_to_another_turn_is_no_growth() -> None:
    made = Made().talk("one")
    start = made.leaf
    view = view_of(made.talk("two"))
    moved = GraphView(view.graph, view.length, view.graph.position[start or ""])
    assert grown(outline(view), moved) is None


def test_a_circle_of_parents_ends() -> None:
    made = Made().user("one").user("two")
    lines = [json.loads(line) for line in made.lines]
    lines[0]["parentUuid"] = lines[1]["uuid"]
    text = "\n".join(json.dumps(line) for line in lines)
    view = open_view(parse_transcript(text.encode()).records)
    assert {node.text for node in outline(view).nodes.values()} == {"one", "two"}


@pytest.mark.parametrize("file", REAL, ids=lambda file: file.name)
def test_the_prompts_of_real_sessions_are_all_nodes(file) -> None:
    view = open_view(parse_transcript(file.read_bytes()).records)
    found = outline(view)
    prompts = [here for here, node in found.nodes.items() if node.kind == "prompt"]
    assert prompts == prompts_of(view.graph)
    on_branch = [node for node in found.nodes.values() if node.on_branch]
    uuids = {node.uuid for node in found.nodes.values()}
    assert sum(node.current for node in on_branch) == bool(on_branch)
    assert all(node.parent is None or node.parent in uuids for node in found.nodes.values())
    assert all(turn[0] == here for here, turn in found.turns.items())
