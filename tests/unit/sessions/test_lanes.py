from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.sessions.lanes import (
    ASCII_SIGNS,
    MOST_LANES,
    TEXT_CELLS,
    UNICODE_SIGNS,
    Row,
    drawn_lanes,
    lanes_for,
    layout,
    only,
    sign_of,
)
from app.sessions.outline import Node, NodeKind


def tree(*edges: str, branch: str = "", forks: str = "") -> list[Node]:
    """Nodes from `child<parent` or `root`; the letters in `branch` are on the branch in use."""
    parts = [edge.partition("<") for edge in edges]
    return [
        Node(
            name,
            above or None,
            "fork" if name in forks else "prompt",
            name,
            on_branch=name in branch,
        )
        for name, _, above in parts
    ]


def drawn(nodes: list[Node], *folded: str, most: int = MOST_LANES) -> list[str]:
    rows = layout(nodes, folded)
    return [f"{drawn_lanes(row, ASCII_SIGNS, most)}{row.node.text}" for row in rows]


def test_side_branches_stand_directly_behind_the_node_where_they_leave() -> None:
    nodes = tree("a", "b<a", "c<b", "d<a", "e<d", branch="ade")
    assert drawn(nodes) == ["a", "|-b", "| c", "d", "e"]


def test_without_a_branch_in_use_the_newest_goes_straight_on() -> None:
    assert drawn(tree("a", "b<a", "c<a")) == ["a", "|-b", "c"]


def test_lanes_close_and_are_used_again() -> None:
    nodes = tree("a", "b<a", "c<b", "x<b", "d<a", "e<a", "f<e", branch="aef")
    assert drawn(nodes) == ["a", "|-b", "| |-c", "| x", "|-d", "e", "f"]


def test_the_last_fork_leaves_nothing_of_its_lane() -> None:
    nodes = tree("a", "b<a", "f<b", "g<f", "h<g", branch="ab", forks="f")
    assert drawn(nodes) == ["a", "b", "`.f", "  g", "  h"]


def test_a_fork_beside_a_straight_line_stands_after_the_other_branches() -> None:
    nodes = tree("a", "b<a", "c<a", "f<a", "g<f", branch="ac", forks="f")
    assert drawn(nodes) == ["a", "|-b", "`.f", "| g", "c"]


def test_a_folded_branch_keeps_its_first_node_and_counts_the_rest() -> None:
    nodes = tree("a", "b<a", "c<b", "x<b", "d<a", branch="ad")
    assert drawn(nodes, "b") == ["a", "|-b", "d"]
    assert [row.hidden for row in layout(nodes, {"b"})] == [0, 2, 0]
    assert [row.sides for row in layout(nodes)] == [1, 1, 0, 0, 0]


def test_what_leads_straight_on_is_never_folded() -> None:
    assert drawn(tree("a", "b<a", "c<b", branch="abc"), "b", "a") == ["a", "b", "c"]


def test_lanes_beyond_the_room_are_counted() -> None:
    names = "abcdefghij"
    edges = ["a"]
    for above, name in itertools.pairwise(names):
        edges += [f"{name}<{above}", f"{name.upper()}<{above}"]
    nodes = tree(*edges)
    deepest = [f"{'| ' * n}|-" for n in range(len(names) - 1)][-1]
    full = [line for line in drawn(nodes) if line.endswith("j")]
    assert full == [f"{deepest}j"]
    capped = [line for line in drawn(nodes, most=4) if line.endswith("j")]
    assert capped == ["| | +7 j"]


def test_further_roots_are_side_branches_before_the_one_in_use() -> None:
    nodes = tree("a", "b<a", "c", "d<c", "e<gone", branch="cd")
    assert drawn(nodes) == ["|-a", "| b", "|-e", "c", "d"]
    assert drawn(nodes, "a") == ["|-a", "|-e", "c", "d"]
    assert drawn(tree("a", "b<a", "c")) == ["|-a", "| b", "c"]


def test_what_was_left_again_behind_the_leaf_stands_beside() -> None:
    a, b, c, d = tree("a", "b<a", "c<b", "d<c", branch="ab")
    b = replace(b, current=True)
    assert drawn([a, b, c, d]) == ["a", "b", "`-c", "  d"]
    rewind = Node("r", "b", "restore", "r")
    undone, again = Node("u", "r", "restore", "u"), Node("n", "r", "prompt", "n")
    assert drawn([a, b, rewind]) == ["a", "b", "r"]
    assert drawn([a, b, rewind, undone]) == ["a", "b", "r", "u"]
    assert drawn([a, b, rewind, again]) == ["a", "b", "`-r", "  n"]
    assert drawn([a, b, c, d, rewind]) == ["a", "b", "|-c", "| d", "r"]
    further = Node("r", "d", "restore", "r")
    assert drawn([a, b, c, d, further]) == ["a", "b", "`-c", "  d", "  r"]


def test_what_is_filtered_out_leaves_its_followers_to_the_node_before() -> None:
    nodes = tree("a", "b<a", "c<b", "f<b", "g<f", "d<b", branch="abd", forks="f")
    assert drawn(only(nodes, lambda node: node.text in "acd")) == ["a", "|-c", "d"]
    assert drawn(only(nodes, lambda node: node.text in "ag")) == ["a", "`.f", "  g"]
    assert drawn(only(nodes, lambda node: node.text == "f")) == []


@st.composite
def forests(draw: st.DrawFn) -> list[Node]:
    count = draw(st.integers(1, 40))
    parents: list[int | None] = [None]
    parents += [draw(st.none() | st.integers(0, here - 1)) for here in range(1, count)]
    leaf = draw(st.none() | st.integers(0, count - 1))
    branch: set[int] = set()
    step = leaf
    while step is not None:
        branch.add(step)
        step = parents[step]
    some = st.sampled_from(("prompt", "fork", "restore"))
    kinds: list[NodeKind] = draw(st.lists(some, min_size=count, max_size=count))
    return [
        Node(
            str(here),
            None if above is None else str(above),
            kinds[here],
            "x",
            on_branch=here in branch,
            current=here == leaf,
        )
        for here, above in enumerate(parents)
    ]


@given(forests(), st.integers(20, 200))
def test_every_tree_is_drawn_whole_and_fits(nodes: list[Node], width: int) -> None:
    rows = layout(nodes)
    place = {row.node.uuid: index for index, row in enumerate(rows)}
    assert sorted(place) == sorted(node.uuid for node in nodes)
    for row in rows:
        above = row.node.parent
        if above is not None:
            before = rows[place[above]]
            assert place[above] < place[row.node.uuid]
            assert row.lane == before.lane + bool(row.lead)
        if row.node.on_branch:
            assert row.lane == 0
        assert len(row.bars) == min(row.lane, MOST_LANES)
    most = lanes_for(width, 4)
    for row in rows:
        if width >= 80:
            assert len(drawn_lanes(row, UNICODE_SIGNS, most)) + 4 + TEXT_CELLS <= width


@given(forests())
def test_a_bar_leads_to_the_next_node_of_its_lane_or_that_leaves_it(nodes: list[Node]) -> None:
    rows = layout(nodes)
    for index, row in enumerate(rows):
        for lane, goes_on in enumerate(row.bars):
            behind = (r for r in rows[index + 1 :] if r.lane <= lane or _leaves(r, lane))
            follower = next(behind, None)
            leads_on = follower is not None and (
                _leaves(follower, lane) or (follower.lane == lane and not follower.lead)
            )
            assert goes_on == leads_on


def _leaves(row: Row, lane: int) -> bool:
    return row.lane == lane + 1 and bool(row.lead)


@given(forests())
def test_folding_hides_what_it_counts(nodes: list[Node]) -> None:
    heads = {row.node.uuid for row in layout(nodes) if row.lead}
    rows = layout(nodes, heads)
    assert len(rows) + sum(row.hidden for row in rows) == len(nodes)


def test_the_signs_say_what_a_node_is() -> None:
    kinds = ("prompt", "compact", "unavailable", "restore", "fork")
    nodes = [Node("u", None, kind, "") for kind in kinds]
    assert "".join(sign_of(node, UNICODE_SIGNS) for node in nodes) == "○◆◆↺○"
    assert sign_of(Node("u", None, "prompt", "", on_branch=True), ASCII_SIGNS) == "*"
