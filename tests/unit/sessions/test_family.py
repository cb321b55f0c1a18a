from __future__ import annotations

from pathlib import Path

from app.sessions.family import branch_end
from app.sessions.relatives import relatives
from tests.unit.sessions.families import (
    Made,
    edges,
    family,
    forked,
    kept_uuids,
    member,
    session_id,
    view_of,
)


def source() -> Made:
    return Made(1).talk("one").talk("two")


def test_a_fork_hangs_on_the_node_that_it_shares_last() -> None:
    fork = forked(source(), 2).talk("elsewhere")
    found = family(source(), fork)
    assert edges(found.nodes) == [
        ("one", ""), ("two", "one"), ("Title 2", "two"), ("elsewhere", "Title 2"),
    ]  # fmt: skip
    assert [node.session_id for node in found.nodes] == [session_id(n) for n in (1, 1, 2, 2)]
    assert [node.on_branch for node in found.nodes] == [True, True, False, False]


def test_seen_from_the_fork_the_shared_nodes_are_its_own() -> None:
    origin = source()
    fork = forked(origin, 2, f"{origin.id[:8]}-u2").talk("elsewhere")
    found = family(fork, source())
    assert edges(found.nodes) == [
        ("one", ""), ("elsewhere", "one"), ("Title 1", "one"), ("two", "Title 1"),
    ]  # fmt: skip
    one, elsewhere, *_ = found.nodes
    assert one.uuid == f"{origin.id[:8]}-u1" and one.own == f"{fork.id[:8]}-f1"
    assert one.session_id == elsewhere.session_id == fork.id
    assert elsewhere.current and one.on_branch


def test_a_fork_of_a_fork_shows_nothing_twice() -> None:
    first = source()
    second = forked(first, 2).talk("three")
    third = forked(second, 3).talk("four")
    for order in ((first, second, third), (third, second, first), (second, third, first)):
        found = family(*order)
        prompts = sorted(node.text for node in found.nodes if node.kind == "prompt")
        assert prompts == ["four", "one", "three", "two"]
        assert dict(edges(found.nodes))["two"] == "one"


def test_where_the_source_is_gone_its_copies_are_the_nodes() -> None:
    one, other = forked(source(), 2).talk("left"), forked(source(), 3).talk("right")
    found = family(one, other)
    assert edges(found.nodes) == [
        ("one", ""), ("two", "one"), ("left", "two"), ("Title 3", "two"), ("right", "Title 3"),
    ]  # fmt: skip


def test_a_fork_that_keeps_the_uuids_is_joined_by_them() -> None:
    found = family(source(), kept_uuids(source(), 2, 2).talk("elsewhere"))
    assert edges(found.nodes) == [
        ("one", ""), ("two", "one"), ("Title 2", "one"), ("elsewhere", "Title 2"),
    ]  # fmt: skip


def test_a_fork_without_a_prompt_of_its_own_is_there() -> None:
    found = family(source(), forked(source(), 2))
    assert edges(found.nodes)[-1] == ("Title 2", "two")


def test_the_beginning_before_a_compaction_is_that_of_the_source() -> None:
    origin = Made(1).talk("early")
    origin.add("system", None, subtype="compact_boundary", logicalParentUuid=origin.leaf)
    origin.user("It was early.", isCompactSummary=True).talk("late")
    fork = forked(origin, 2).talk("elsewhere")
    found = family(fork, origin)
    texts = {node.text: node for node in found.nodes}
    assert texts["compact"].kind == "compact"
    assert dict(edges(found.nodes))["compact"] == "early"
    assert texts["early"].session_id == origin.id and texts["early"].on_branch


def test_two_files_that_claim_a_circle_are_joined_without_it() -> None:
    one, other = Made(1).user("one"), Made(2).user("other")
    one.user("copy of q", forkedFrom={"sessionId": other.id, "messageUuid": f"{other.id[:8]}-u3"})
    one.user("x")
    other.user("copy of x", forkedFrom={"sessionId": one.id, "messageUuid": f"{one.id[:8]}-u3"})
    other.user("q")
    assert edges(family(one, other).nodes) == [("one", ""), ("q", "one"), ("x", "q"), ("other", "")]
    assert edges(family(other, one).nodes) == [
        ("other", ""), ("x", "other"), ("q", "x"), ("one", ""),
    ]  # fmt: skip


def test_a_node_named_as_a_session_is_no_head_of_it() -> None:
    origin = Made(1).user("one")
    fork = forked(origin, 2).talk("elsewhere")
    origin.lines = [line.replace("-u2", "-x") for line in origin.user("two").lines]
    origin.lines[1] = origin.lines[1].replace(f"{origin.id[:8]}-x", fork.id)
    found = family(origin, fork)
    assert sorted(node.text for node in found.nodes) == ["Title 2", "elsewhere", "one", "two"]
    assert len(found.by_uuid()) == 4


def test_copies_of_one_message_in_one_session_are_all_there() -> None:
    origin, fork = source(), Made(2)
    named = {"sessionId": origin.id, "messageUuid": f"{origin.id[:8]}-u1"}
    fork.user("first", forkedFrom=named).user("second", forkedFrom=named)
    assert [node.own for node in family(fork, origin).nodes if node.session_id == fork.id] == [
        f"{fork.id[:8]}-u1", f"{fork.id[:8]}-u2",
    ]  # fmt: skip


def test_the_last_label_wins_and_an_empty_one_clears() -> None:
    origin = source()
    one, two = f"{origin.id[:8]}-u1", f"{origin.id[:8]}-u3"
    for uuid, text in ((one, "start"), (two, "odd"), (one, "begin"), (two, " ")):
        origin.raw(type="label", label=text, messageUuid=uuid, sessionId=origin.id)
    fork = forked(source(), 2)
    fork.raw(type="label", label="copy", messageUuid=f"{fork.id[:8]}-f1", sessionId=fork.id)
    assert family(origin).labels == {one: "begin"}
    assert family(origin, fork).labels == {one: "begin"}
    assert family(fork, source()).labels == {one: "copy"}


def test_the_end_of_a_branch() -> None:
    origin = Made(1).talk("one")
    start = origin.leaf
    origin.talk("side").talk("side two")
    side_end = origin.leaf
    origin.leaf = start
    origin.talk("main")
    fork = forked(origin, 2).talk("elsewhere")
    found = family(origin, fork)
    by_text = {node.text: node for node in found.nodes}
    graph = view_of(origin).graph

    def end(text: str) -> tuple[str, str | None]:
        held, leaf = branch_end(found, by_text[text])
        return held.session_id, held.outline.view.graph.records[leaf or 0].uuid

    assert end("one") == (origin.id, graph.records[len(graph.records) - 1].uuid)
    assert end("side") == (origin.id, side_end)
    assert end("Title 2") == end("elsewhere") == (fork.id, fork.leaf)


def test_the_branch_in_use_ends_at_its_leaf() -> None:
    made = Made(1).talk("one")
    start = made.leaf
    made.talk("left again").raw(type="last-prompt", leafUuid=start, explicit=True)
    found = family(made)
    held, leaf = branch_end(found, found.nodes[0])
    assert held.outline.view.graph.records[leaf or 0].uuid == start


def test_relatives_are_found_whichever_session_is_open(tmp_path: Path) -> None:
    first = source()
    second = forked(first, 2).talk("three")
    third = forked(second, 3).talk("four")
    fourth = kept_uuids(first, 4, 2).talk("five")
    made = [first, second, third, fourth]
    for each in (*made, Made(5).talk("a stranger")):
        each.write(tmp_path)
    (tmp_path / f"{session_id(6)}.jsonl").write_bytes(b"\xff{broken\n")
    for each in made:
        found = {kin.session_id for kin in relatives(member(each), tmp_path)}
        assert found == {other.id for other in made} - {each.id}


def test_siblings_of_a_source_that_is_gone_are_found(tmp_path: Path) -> None:
    one, other = forked(source(), 2).talk("left"), forked(source(), 3).talk("right")
    other.write(tmp_path)
    assert [kin.session_id for kin in relatives(member(one), tmp_path)] == [other.id]


def test_the_search_for_relatives_can_be_ended(tmp_path: Path) -> None:
    forked(source(), 2).write(tmp_path)
    assert list(relatives(member(source()), tmp_path, lambda: False)) == []
