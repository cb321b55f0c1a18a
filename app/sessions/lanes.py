"""The order and the lanes in which a tree of nodes is drawn, a line a node.

The branch in use runs straight on in the first lane. A side branch stands in a lane of its own
directly behind the node where it leaves; its lane is free again when it has ended. Further roots
are side branches of a beginning that is not drawn, before the root that goes straight on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

from app.sessions.outline import Node

Lead: TypeAlias = Literal["", "side", "fork"]
Children: TypeAlias = Mapping[str | None, Sequence[Node]]
"""The nodes behind each, by its uuid."""

MOST_LANES = 12
"""Lanes that are drawn at most; deeper ones are counted."""
TEXT_CELLS = 30
"""Cells of text that a line keeps in any case."""


class Signs(msgspec.Struct, frozen=True):
    """What a tree is drawn with; lanes take two cells each, the others one."""

    bar: str = "│ "
    blank: str = "  "
    side: str = "├─"
    last: str = "╰─"
    fork: str = "╰┄"
    node: str = "○"
    on: str = "●"
    mark: str = "◆"
    restore: str = "↺"
    here: str = "←"


UNICODE_SIGNS = Signs()
ASCII_SIGNS = Signs("| ", "  ", "|-", "`-", "`.", "o", "*", "#", "@", "<")


class Row(msgspec.Struct, frozen=True, gc=False):
    """One line: a node and where it stands."""

    node: Node
    lane: int
    """0 is the first; as many lines could pass by at the left."""
    lead: Lead
    """How the first node of a branch is joined to the lane at its left."""
    bars: tuple[bool, ...]
    """For the lanes at the left, up to `MOST_LANES`, whether they go on below."""
    sides: int = 0
    """Branches that leave the straight line here."""
    hidden: int = 0
    """Nodes of this branch that are folded away."""


def layout(
    nodes: Sequence[Node], folded: Collection[str] = (), below: Children | None = None
) -> list[Row]:
    """The lines of a forest; a node whose parent is not among them is a root.

    `folded` are the first nodes of side branches of which only these are shown; `below` are the
    `children_of` the nodes where they are known.
    """
    below = children_of(nodes) if below is None else below
    rows: list[Row] = []
    waiting: list[_Waiting] = []
    _branch_off(waiting, None, below, 0, ())
    while waiting:
        node, lane, lead, bars = waiting.pop()
        if lead and node.uuid in folded:
            rows.append(Row(node, lane, lead, bars, 0, _count(node, below)))
            continue
        after = below.get(node.uuid)
        while (
            after is not None and len(after) == 1 and after[0].kind != "fork" and not node.current
        ):
            rows.append(Row(node, lane, lead, bars))
            node, lead = after[0], ""
            after = below.get(node.uuid)
        rows.append(Row(node, lane, lead, bars, _branch_off(waiting, node, below, lane, bars)))
    return rows


_Waiting: TypeAlias = tuple[Node, int, Lead, tuple[bool, ...]]


def _branch_off(
    waiting: list[_Waiting], node: Node | None, below: Children, lane: int, bars: tuple[bool, ...]
) -> int:
    """Let what is behind a node, or the roots, be drawn next; returns how many stand beside."""
    straight = straight_on(node, below)
    sides = side_branches(node, below)
    if straight is not None:
        waiting.append((straight, lane, "", bars))
    for place, side in enumerate(reversed(sides)):
        goes_on = straight is not None or place > 0
        inner = (*bars, goes_on) if len(bars) < MOST_LANES else bars
        waiting.append((side, lane + 1, "fork" if side.kind == "fork" else "side", inner))
    return len(sides)


def children_of(nodes: Iterable[Node]) -> Children:
    """The nodes behind each; under None those whose parent is not among them."""
    listed = list(nodes)
    known = {node.uuid for node in listed}
    below: dict[str | None, list[Node]] = {}
    for node in listed:
        below.setdefault(node.parent if node.parent in known else None, []).append(node)
    return {above: tuple(after) for above, after in below.items()}


def straight_on(node: Node | None, below: Children) -> Node | None:
    """Of the nodes behind another, or of the roots, the one in the same lane: on the branch in use,
    or the newest.

    Other sessions always stand beside, unless the branch in use leads through one. What was said
    behind the leaf in use and left again stands beside too, but for rewinds that ended there.
    """
    after = below.get(None if node is None else node.uuid, ())
    for each in after:
        if each.on_branch:
            return each
    if node is not None and node.current:
        return next((each for each in after if _is_rewinds_alone(each, below)), None)
    return next((each for each in reversed(after) if each.kind != "fork"), None)


def _is_rewinds_alone(node: Node, below: Children) -> bool:
    """Whether this is a rewind, followed by nothing but further ones, one behind the other."""
    while node.kind == "restore":
        after = below.get(node.uuid, ())
        if len(after) != 1:
            return not after
        node = after[0]
    return False


def side_branches(node: Node | None, below: Children) -> list[Node]:
    """The nodes behind another, or the roots, that do not go straight on."""
    straight = straight_on(node, below)
    after = below.get(None if node is None else node.uuid, ())
    return [each for each in after if each is not straight]


def above(node: Node, by_uuid: Mapping[str, Node]) -> Node | None:
    """The node before another one."""
    return None if node.parent is None else by_uuid.get(node.parent)


def _count(node: Node, below: Children) -> int:
    """How many nodes follow, on all branches."""
    count, waiting = 0, [node.uuid]
    while waiting:
        after = below.get(waiting.pop(), ())
        count += len(after)
        waiting += [each.uuid for each in after]
    return count


def only(nodes: Sequence[Node], is_kept: Callable[[Node], bool]) -> list[Node]:
    """Some of the nodes, each behind the nearest one before it that is kept.

    The first line of another session is kept where anything behind it is.
    """
    by_uuid = {node.uuid: node for node in nodes}
    kept = {node.uuid for node in nodes if node.kind != "fork" and is_kept(node)}
    for node in nodes:
        if node.uuid in kept:
            _keep_forks(node, by_uuid, kept)
    nearest: dict[str, str | None] = {}
    shown: list[Node] = []
    for node in nodes:
        if node.uuid in kept:
            before = _kept_above(node, by_uuid, kept, nearest)
            shown.append(msgspec.structs.replace(node, parent=before))
    return shown


def _keep_forks(node: Node, by_uuid: dict[str, Node], kept: set[str]) -> None:
    """Keep the fork that a kept node is behind, with nothing kept between the two."""
    before = above(node, by_uuid)
    while before is not None and before.uuid not in kept:
        if before.kind == "fork":
            kept.add(before.uuid)
        before = above(before, by_uuid)


def _kept_above(
    node: Node, by_uuid: dict[str, Node], kept: set[str], nearest: dict[str, str | None]
) -> str | None:
    passed: list[str] = []
    found = node.parent
    while found is not None and found not in kept:
        if found in nearest:
            found = nearest[found]
            break
        passed.append(found)
        before = by_uuid.get(found)
        found = None if before is None else before.parent
    nearest.update(dict.fromkeys(passed, found))
    return found


def lanes_for(width: int, around: int) -> int:
    """Lanes that a line of `width` cells has room for beside `around` cells and its text."""
    return min(max((width - around - TEXT_CELLS) // 2, 1), MOST_LANES)


def drawn_lanes(row: Row, signs: Signs, most: int = MOST_LANES) -> str:
    """What stands in front of a node's sign; of lanes beyond `most` the number is said."""
    deeper = row.lane - most
    if deeper > 0:
        bars = row.bars[: max(most - 2, 0)]
        count = f"+{deeper + 2 if most >= 2 else row.lane} "
        return "".join(signs.bar if each else signs.blank for each in bars) + count
    if not row.lead:
        return "".join(signs.bar if each else signs.blank for each in row.bars)
    before = "".join(signs.bar if each else signs.blank for each in row.bars[:-1])
    if row.lead == "fork":
        return before + signs.fork
    return before + (signs.side if row.bars[-1] else signs.last)


def sign_of(node: Node, signs: Signs) -> str:
    """The sign of a node: what it is, and whether it leads to the leaf in use."""
    if node.kind in {"compact", "unavailable"}:
        return signs.mark
    if node.kind == "restore":
        return signs.restore
    return signs.on if node.on_branch else signs.node
