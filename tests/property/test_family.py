from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.sessions.codec import parse_transcript
from app.sessions.family import Family, Member, branch_end, joined, way_to
from app.sessions.graph import open_view
from app.sessions.lanes import layout, only
from app.sessions.outline import outline
from tests.fakes.sessions import session_id
from widgets.tree.model import TreeModel

SESSIONS = [session_id(number) for number in (1, 2, 3)]
NAMES = ["a", "b", "c", "d", "e", "", SESSIONS[1], f"{SESSIONS[1]}:a"]
"""Uuids of records; one is a session's too, and one is what a second head of it might be called."""


@st.composite
def records(draw: st.DrawFn, session: str) -> list[dict[str, Any]]:
    """Messages that hang on anything, some of them copies of anything."""
    uuids = draw(st.lists(st.sampled_from(NAMES), max_size=6, unique=True))
    found: list[dict[str, Any]] = []
    for uuid in uuids:
        kind = draw(st.sampled_from(["user", "user", "assistant", "boundary"]))
        above = draw(st.none() | st.sampled_from(NAMES))
        record: dict[str, Any] = {"type": kind, "uuid": uuid, "parentUuid": above}
        record |= {"sessionId": session, "isSidechain": False}
        record["message"] = {"role": "user", "content": f"said {uuid} in {session[:8]}"}
        if kind == "boundary":
            metadata = {"preservedSegment": {"headUuid": above, "tailUuid": above}}
            record |= {"type": "system", "subtype": "compact_boundary"}
            record |= {"logicalParentUuid": above, "compactMetadata": metadata}
        if draw(st.booleans()):
            source = {"sessionId": draw(st.sampled_from(SESSIONS))}
            record["forkedFrom"] = {**source, "messageUuid": draw(st.sampled_from(NAMES))}
        found.append(record)
    return found


@st.composite
def families(draw: st.DrawFn) -> list[Member]:
    members: list[Member] = []
    for session in SESSIONS[: draw(st.integers(1, 3))]:
        text = "".join(f"{json.dumps(each)}\n" for each in draw(records(session)))
        view = open_view(parse_transcript(text.encode()).records)
        members.append(Member(session, f"Title of {session[:8]}", outline(view, session)))
    return members


def is_forest(family: Family) -> bool:
    parents = {node.uuid: node.parent for node in family.nodes}
    if len(parents) != len(family.nodes):
        return False
    for start in parents.values():
        here, steps = start, 0
        while here is not None:
            steps += 1
            if here not in parents or steps > len(parents):
                return False
            here = parents[here]
    return True


@given(families())
def test_whatever_files_claim_they_join_to_a_forest_with_every_node(members: list[Member]) -> None:
    for first in members:
        family = joined(first, [each for each in members if each is not first])
        assert is_forest(family)
        shown = {(node.session_id, node.own) for node in family.nodes if node.kind != "fork"}
        copied = {copy for each in members for copy in each.outline.sources}
        copied |= {name for each in members for _, name in each.outline.sources.values()}
        for member in members:
            others = [each for each in members if each is not member]
            for node in member.outline.nodes.values():
                twin = any(node.uuid in each.outline.view.graph.position for each in others)
                may_be_shown_as_another_s = member is not first and (twin or node.uuid in copied)
                assert (member.session_id, node.uuid) in shown or may_be_shown_as_another_s


@given(families())
def test_every_such_forest_is_drawn_and_walked_whole(members: list[Member]) -> None:
    family = joined(members[0], members[1:])
    assert is_forest(family)
    assert len(layout(family.nodes)) == len(family.nodes)
    nodes = family.by_uuid()
    model = TreeModel(lambda node: len(node.text) % 2 == 0)
    model.show(family)
    for node in family.nodes:
        assert way_to(nodes, node)[-1] is node
        branch_end(family, node)
        model.go_to(node.uuid)
        assert model.chosen is not None and model.chosen.uuid == node.uuid
        model.fold()
    only(family.nodes, lambda node: node.kind == "prompt")
