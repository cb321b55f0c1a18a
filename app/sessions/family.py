"""A session and the sessions that share a beginning with it, as one tree.

A record that a fork copied is the one that it was copied from, through as many forks as there
were; one that keeps its uuid is the same one anyway (transcripts.md, a14 and quirk 9). Where the
file of a source is gone its copies take its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from app.sessions.lanes import children_of, straight_on
from app.sessions.outline import Node, Outline
from app.sessions.records import Record

LABEL = "label"
"""The type of our record that names a node; the last one counts, an empty one takes it away."""


class Member(msgspec.Struct, frozen=True):
    """One session of a family."""

    session_id: str
    title: str
    outline: Outline


class Family(msgspec.Struct, frozen=True):
    """The joined tree, as it looks from its first member."""

    nodes: tuple[Node, ...]
    """Those of the first member in file order, then those that only others have."""
    members: Mapping[str, Member]
    labels: Mapping[str, str]
    """By the uuid of a node."""
    origins: Mapping[str, tuple[str, str]]
    """By the uuid of a node: the session where it was said first, and its uuid there; without
    those that are in the family where they are held."""

    def by_uuid(self) -> dict[str, Node]:
        """The nodes by their uuid."""
        return {node.uuid: node for node in self.nodes}

    def records(self, node: Node) -> list[Record]:
        """The records of a node's turn, in the session that holds it."""
        member = self.members.get(node.session_id)
        return [] if member is None else member.outline.records(node.own)

    def first_records(self, node: Node) -> list[Record]:
        """The same where they were said first: a fork's copies were not paid for again."""
        session_id, uuid = self.origins.get(node.uuid, (node.session_id, node.own))
        member = self.members.get(session_id)
        return [] if member is None else member.outline.records(uuid)


class _Place(msgspec.Struct):
    member: Member
    node: Node


def joined(first: Member, others: Iterable[Member] = ()) -> Family:
    """One tree of a session and its relatives; each node once."""
    members = {each.session_id: each for each in (first, *others)}
    rename = _names(members.values())
    if len(members) == 1 and not first.outline.sources:
        nodes = tuple(first.outline.nodes.values())
        return Family(nodes, members, _labels([first], rename), {})
    origins: dict[str, _Place] = {}
    for member in members.values():
        for node in member.outline.nodes.values():
            name = rename(node.uuid)
            is_copy = node.uuid in member.outline.sources
            if name not in origins or (_is_copied(origins[name]) and not is_copy):
                origins[name] = _Place(member, node)
    own = {rename(node.uuid): _Place(first, node) for node in first.outline.nodes.values()}
    places = {**own, **{name: own.get(name, origin) for name, origin in origins.items()}}
    nodes = _nodes(first, places, origins, rename)
    forked = _with_forks(first, members, nodes, rename)
    return Family(
        nodes=tuple(forked),
        members=members,
        labels=_labels(members.values(), rename),
        origins={
            name: (each.member.session_id, each.node.uuid)
            for name, each in origins.items()
            if each.member is not places[name].member
        },
    )


def _is_copied(place: _Place) -> bool:
    return place.node.uuid in place.member.outline.sources


def _names(members: Iterable[Member]) -> Callable[[str], str]:
    """What a record is called where it was said first, by its uuid in any session."""
    source = {
        uuid: copied
        for member in members
        for uuid, (_, copied) in member.outline.sources.items()
        if copied != uuid
    }

    def rename(uuid: str) -> str:
        passed: set[str] = set()
        while uuid in source and uuid not in passed:
            passed.add(uuid)
            uuid = source[uuid]
        return uuid

    return rename


def _nodes(
    first: Member,
    places: Mapping[str, _Place],
    origins: Mapping[str, _Place],
    rename: Callable[[str], str],
) -> list[Node]:
    """Each node as its origin has it, marked by how it stands in the session that is looked at."""
    last = first.outline.last
    current = None if last is None else rename(first.outline.nodes[last].uuid)
    branch: set[str] = set()
    step = current
    while step is not None and step not in branch and step in origins:
        branch.add(step)
        parent = origins[step].node.parent
        step = None if parent is None else rename(parent)
    found: list[Node] = []
    for name, place in places.items():
        node = origins[name].node
        parent = None if node.parent is None else rename(node.parent)
        found.append(
            replace(
                node,
                uuid=name,
                parent=parent if parent in places else None,
                tools=place.node.tools,
                recaps=place.node.recaps,
                on_branch=name in branch,
                current=name == current,
                session_id=place.member.session_id,
                own=place.node.uuid,
            )
        )
    return found


def _with_forks(
    first: Member, members: Mapping[str, Member], nodes: list[Node], rename: Callable[[str], str]
) -> list[Node]:
    """The nodes, those of another session behind a node that says which one it is."""
    holder = {node.uuid: node.session_id for node in nodes}
    found: list[Node] = []
    heads: dict[tuple[str, str], Node] = {}
    seen: set[str] = set()
    for node in nodes:
        seen.add(node.session_id)
        above = node.parent
        if above is None or node.session_id in (first.session_id, holder[above]):
            found.append(node)
            continue
        key = node.session_id, above
        if key not in heads:
            taken = any(session == node.session_id for session, _ in heads)
            uuid = f"{node.session_id}:{above}" if taken else node.session_id
            heads[key] = _head(members[node.session_id], uuid, above, on_branch=node.on_branch)
            found.append(heads[key])
        elif node.on_branch:
            found[found.index(heads[key])] = heads[key] = replace(heads[key], on_branch=True)
        found.append(replace(node, parent=heads[key].uuid))
    for member in members.values():
        last = member.outline.last
        if member.session_id not in seen and last is not None and member is not first:
            above = rename(member.outline.nodes[last].uuid)
            found.append(_head(member, member.session_id, above, on_branch=False))
    return found


def _head(member: Member, uuid: str, above: str, *, on_branch: bool) -> Node:
    return Node(
        uuid=uuid,
        parent=above,
        kind="fork",
        text=member.title,
        on_branch=on_branch,
        session_id=member.session_id,
    )


def _labels(members: Iterable[Member], rename: Callable[[str], str]) -> dict[str, str]:
    """Labels of all sessions; those of the first member beat the others."""
    labels: dict[str, str] = {}
    for member in reversed(list(members)):
        view = member.outline.view
        for record in view.graph.records[: view.length]:
            if record.type == LABEL:
                uuid, text = record.data.get("messageUuid"), record.data.get("label")
                if isinstance(uuid, str) and isinstance(text, str):
                    labels[rename(uuid)] = text
    return {uuid: text for uuid, text in labels.items() if text.strip()}


def branch_end(family: Family, node: Node) -> tuple[Member, int | None]:
    """The session that holds a node, and the leaf of its branch through it.

    That is the branch in use where the node is on it, else the newest one.
    """
    member = family.members[node.session_id]
    outline = member.outline
    if node.kind == "fork":
        return member, outline.view.leaf
    below = children_of(outline.nodes.values())
    position = outline.view.graph.position
    uuid = node.own
    while (after := straight_on(below.get(uuid, []))) is not None:
        uuid = after.uuid
    here = position[uuid]
    return member, outline.view.leaf if here == outline.last else outline.turns[here][-1]


def way_to(nodes: Mapping[str, Node], node: Node) -> list[Node]:
    """The nodes from the root to this one."""
    way: list[Node] = []
    here: Node | None = node
    while here is not None:
        way.append(here)
        here = nodes.get(here.parent or "")
    return way[::-1]


def parted(first: Sequence[Node], second: Sequence[Node]) -> int:
    """How many nodes two ways have in common."""
    count = 0
    for one, other in zip(first, second, strict=False):
        if one.uuid != other.uuid:
            break
        count += 1
    return count
