"""A session and the sessions that share a beginning with it, as one tree.

A record that a fork copied is the one that it was copied from, through as many forks as there
were; one that keeps its uuid is the same one anyway (transcripts.md, a14 and quirk 9). Where the
file of a source is gone its copies take its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from app.sessions.lanes import above, children_of, straight_on
from app.sessions.outline import Node, Outline, cut_circles
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
        """The messages of a node's turn in the session that holds it, its own first; of a fork's
        first line those of that session's last turn.
        """
        member = self.members.get(node.session_id)
        if member is None:
            return []
        outline = member.outline
        if node.kind != "fork":
            return outline.records(node.own)
        return [] if outline.last is None else outline.records(outline.nodes[outline.last].uuid)

    def first_records(self, node: Node) -> list[Record]:
        """The same where they were said first: a fork's copies were not paid for again."""
        session_id, uuid = self.origins.get(node.uuid, (node.session_id, node.own))
        member = self.members.get(session_id)
        return [] if member is None else member.outline.records(uuid)


class _Place(msgspec.Struct):
    member: Member
    node: Node


def joined(first: Member, others: Iterable[Member] = ()) -> Family:
    """One forest of a session and its relatives: each node once, whatever their files claim."""
    members = {each.session_id: each for each in (first, *others)}
    rename = _names(list(members.values()))
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


def with_turn(family: Family, own: Member) -> Family:
    """The same tree with the last turn of one of its members as it is now (`outline.grown`)."""
    last = own.outline.last
    turn = None if last is None else own.outline.nodes[last]
    nodes = family.nodes if turn is None else tuple(_counted(node, turn) for node in family.nodes)
    return replace(family, nodes=nodes, members={**family.members, own.session_id: own})


def _counted(node: Node, turn: Node) -> Node:
    if node.own != turn.own or node.session_id != turn.session_id:
        return node
    return replace(node, tools=turn.tools, recaps=turn.recaps)


def _is_copied(place: _Place) -> bool:
    return place.node.uuid in place.member.outline.sources


def _names(members: Sequence[Member]) -> Callable[[str], str]:
    """What a record is called where it was said first, by its uuid in any session.

    Records that claim to be copies of each other keep their names, and so does each but the first
    of those that one session claims to have copied from the same one.
    """
    sources: dict[str, str | None] = {}
    for member in members:
        for uuid, (_, source) in member.outline.sources.items():
            sources[uuid] = source if source != uuid else None
    names: dict[str, str] = {}
    for start, copied in sources.items():
        passed: dict[str, None] = {}
        end, further = start, copied
        while further is not None and end not in names and end not in passed:
            passed[end] = None
            end, further = further, sources.get(further)
        way = list(passed)
        if end in passed:
            circle = way.index(end)
            names.update((uuid, uuid) for uuid in way[circle:])
            way = way[:circle]
        names.update(dict.fromkeys(way, names.get(end, end)))
    for member in members:
        _tell_apart(member, names)
    return lambda uuid: names.get(uuid, uuid)


def _tell_apart(member: Member, names: dict[str, str]) -> None:
    """Let no two nodes of a session have the same name."""
    uuids = [node.uuid for node in member.outline.nodes.values()]
    taken = {uuid for uuid in uuids if names.get(uuid, uuid) == uuid}
    for uuid in uuids:
        name = names.get(uuid, uuid)
        if name != uuid and name in taken:
            names[uuid] = uuid
        taken.add(names.get(uuid, uuid))


def _nodes(
    first: Member,
    places: Mapping[str, _Place],
    origins: Mapping[str, _Place],
    rename: Callable[[str], str],
) -> list[Node]:
    """Each node as its origin has it, marked by how it stands in the session that is looked at.

    What a node follows is told by another file than what that one follows, so that two files can
    make a circle: its first node follows what it does in the file that holds it.
    """

    def parent_in(place: _Place) -> str | None:
        parent = None if place.node.parent is None else rename(place.node.parent)
        return parent if parent in places else None

    parents = {name: parent_in(origin) for name, origin in origins.items()}
    cut_circles(parents, lambda name: parent_in(places[name]))
    last = first.outline.last
    current = None if last is None else rename(first.outline.nodes[last].uuid)
    branch: set[str] = set()
    step = current
    while step is not None:
        branch.add(step)
        step = parents[step]
    found: list[Node] = []
    for name, place in places.items():
        found.append(
            replace(
                origins[name].node,
                uuid=name,
                parent=parents[name],
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
    taken = set(holder)
    found: list[Node] = []
    heads: dict[tuple[str, str], Node] = {}
    seen: set[str] = set()
    for node in nodes:
        seen.add(node.session_id)
        before = node.parent
        if before is None or node.session_id in (first.session_id, holder[before]):
            found.append(node)
            continue
        key = node.session_id, before
        if key not in heads:
            heads[key] = _head(members[node.session_id], before, taken, on_branch=node.on_branch)
            found.append(heads[key])
        elif node.on_branch:
            found[found.index(heads[key])] = heads[key] = replace(heads[key], on_branch=True)
        found.append(replace(node, parent=heads[key].uuid))
    for member in members.values():
        last = member.outline.last
        if member.session_id not in seen and last is not None and member is not first:
            before = rename(member.outline.nodes[last].uuid)
            found.append(_head(member, before, taken, on_branch=False))
    return found


def _head(member: Member, before: str, taken: set[str], *, on_branch: bool) -> Node:
    """The first line of a session, behind the node that it hangs on; no other node has its name."""
    uuid = member.session_id
    if uuid in taken:
        uuid = f"{uuid}:{before}"
    while uuid in taken:
        uuid += ":"
    taken.add(uuid)
    return Node(
        uuid=uuid,
        parent=before,
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
    here = position[node.own]
    while here != outline.last:
        after = straight_on(outline.nodes[here], below)
        if after is None:
            break
        here = position[after.uuid]
    return member, outline.view.leaf if here == outline.last else outline.turns[here][-1]


def way_to(nodes: Mapping[str, Node], node: Node) -> list[Node]:
    """The nodes from the root to this one."""
    way: list[Node] = []
    here: Node | None = node
    while here is not None:
        way.append(here)
        here = above(here, nodes)
    return way[::-1]


def parted(first: Sequence[Node], second: Sequence[Node]) -> int:
    """How many nodes two ways have in common."""
    count = 0
    for one, other in zip(first, second, strict=False):
        if one.uuid != other.uuid:
            break
        count += 1
    return count
