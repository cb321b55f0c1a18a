"""The prompts, compactions and rewinds of one session as nodes, and the records of each.

A node owns the records that lead from it to the next ones: the replies and tool results of its
turn. Nothing is decoded but prompts and what stands between the messages, so that a session of
10 000 prompts is outlined before its list can be drawn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias, TypeVar, cast

import msgspec

from app.sessions.graph import COMPACT_UNDONE, GraphView
from app.sessions.kept import all_kept
from app.sessions.prompts import content_of, typed_text, user_kind
from app.sessions.records import JsonObject, Record

NodeKind: TypeAlias = Literal["prompt", "compact", "unavailable", "restore", "fork"]
"""`unavailable`: a compaction whose earlier history is in no file (cases/B09); `restore`: where a
rewind was made; `fork`: where another session begins or goes on."""

UNAVAILABLE = "earlier history not available"
REWOUND = "rewind"
"""Subtype of our record of a rewind."""
RECAP = "away_summary"
"""Subtype of the record of what happened while the person was away (transcripts.md, a7)."""

_NODE_TYPES = frozenset({"user", "system"})
_ASIDE = frozenset({"isMeta", "isCompactSummary", "origin"})
"""Keys of a user record that may make it something else than a prompt (transcripts.md, a5)."""
_UNKNOWN = -2
_NONE = -1

K = TypeVar("K")


class Node(msgspec.Struct, frozen=True, gc=False):
    """One prompt, compaction, rewind or fork."""

    uuid: str
    """Of its record; in a family that of the session where it was said first."""
    parent: str | None
    """The uuid of the node before it."""
    kind: NodeKind
    text: str
    timestamp: str | None = None
    tools: int = 0
    """Tool calls up to the next node."""
    recaps: int = 0
    """Recaps up to the next node."""
    on_branch: bool = False
    """It leads to the leaf in use."""
    current: bool = False
    """It is the last node before the leaf in use."""
    session_id: str = ""
    """The session that holds it: the one that is looked at wherever it does."""
    own: str = ""
    """The uuid that it has there."""


class Outline(msgspec.Struct, frozen=True):
    """One session's nodes in file order, by the position of their record."""

    view: GraphView
    nodes: Mapping[int, Node]
    turns: Mapping[int, tuple[int, ...]]
    """The records of each node in file order, its own first."""
    sources: Mapping[str, tuple[str, str]]
    """By uuid, of nodes that a fork copied: the session and the uuid that they are from."""
    last: int | None
    """The node before the leaf in use."""

    def records(self, uuid: str) -> list[Record]:
        """The records of a node's turn; none for a node of another session."""
        here = self.view.graph.position.get(uuid)
        return [] if here is None else [self.view.graph.records[p] for p in self.turns[here]]


def outline(view: GraphView, session_id: str = "") -> Outline:
    """The nodes of a session as it looks from the leaf of `view`."""
    graph, length = view.graph, view.length
    found: dict[int, tuple[str, tuple[str, str] | None]] = {}
    for here in range(length):
        record = graph.records[here]
        if record.type in _NODE_TYPES and not record.tool_results:
            data = _node_data(record)
            if data is not None and graph.is_current(here) and graph.is_main(here):
                found[here] = _text(record, data), _source(data)
    parents = _parents(view)
    belongs = _belongs(parents, found)
    counts = _Counts()
    turns = _turns(view, belongs, counts)
    last = _NONE if view.leaf is None or view.leaf >= length else belongs[view.leaf]
    nodes: dict[int, Node] = {}
    sources: dict[str, tuple[str, str]] = {}
    branch = _branch(last, parents, belongs)
    for here, (text, source) in found.items():
        record, above = graph.records[here], parents[here]
        before = _NONE if above is None else belongs[above]
        uuid = record.uuid or ""
        kind = _kind(record, is_root=above is None)
        nodes[here] = Node(
            uuid=uuid,
            parent=None if before == _NONE else graph.records[before].uuid,
            kind=kind,
            text=UNAVAILABLE if kind == "unavailable" else text,
            timestamp=record.timestamp,
            tools=counts.tools.get(here, 0),
            recaps=counts.recaps.get(here, 0),
            on_branch=here in branch,
            current=here == last,
            session_id=session_id or record.session_id or "",
            own=uuid,
        )
        if source is not None:
            sources[uuid] = source
    return Outline(view, nodes, turns, sources, None if last == _NONE else last)


def grown(before: Outline, view: GraphView) -> Outline | None:
    """The outline of a session whose last turn went on, from the one before; costs what was added.

    None where more has changed than that turn: a node came, or the leaf is in another turn.
    """
    graph, last = view.graph, before.last
    if last is None or graph is not before.view.graph or graph.is_sidechain_file:
        return None
    turn, tools, recaps = dict.fromkeys(before.turns[last]), 0, 0
    for here in range(before.view.length, view.length):
        record = graph.records[here]
        if not record.in_chain or record.sidechain:
            continue
        if graph.position.get(record.parent or "") not in turn or _is_node(record):
            return None
        turn[here] = None
        tools += len(record.tool_uses)
        recaps += record.subtype == RECAP
    if view.leaf not in turn:
        return None
    node = before.nodes[last]
    node = msgspec.structs.replace(node, tools=node.tools + tools, recaps=node.recaps + recaps)
    nodes, turns = {**before.nodes, last: node}, {**before.turns, last: tuple(turn)}
    return Outline(view, nodes, turns, before.sources, last)


def _is_node(record: Record) -> bool:
    may_be = record.type in _NODE_TYPES and not record.tool_results
    return may_be and _node_data(record) is not None


def _node_data(record: Record) -> JsonObject | None:
    """The decoded record of a node, None when it is none."""
    if record.type == "user":
        if record.uuid is None:
            return None
        data = decoded(record)
        is_prompt = _plain_prompt(data) or user_kind(record, data) == "prompt"
        return data if is_prompt else None
    if record.is_boundary or (record.type == "system" and record.subtype == REWOUND):
        return decoded(record)
    return None


def _plain_prompt(data: JsonObject) -> str:
    """The text of what is a prompt at first sight, as nearly all are; empty to look closer."""
    if _ASIDE.isdisjoint(data):
        content = content_of(data)
        if isinstance(content, str):
            text = content.strip()
            return text if text and text[0] not in "<[" else ""
    return ""


def decoded(record: Record) -> JsonObject:
    """As `record.data`, in half the time where the record is as it should be."""
    if record.decoded is not None:
        return record.decoded
    try:
        return cast("JsonObject", msgspec.json.decode(record.raw))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return record.data


def _kind(record: Record, *, is_root: bool) -> NodeKind:
    if record.is_boundary:
        return "unavailable" if is_root else "compact"
    return "restore" if record.type == "system" else "prompt"


def _text(record: Record, data: JsonObject) -> str:
    if record.is_boundary:
        return _compaction(data)
    if record.type == "system":
        content = data.get("content")
        return content if isinstance(content, str) else "rewind"
    return _plain_prompt(data) or typed_text(data)


def _compaction(data: JsonObject) -> str:
    metadata = data.get("compactMetadata")
    fields = cast("JsonObject", metadata) if isinstance(metadata, dict) else {}
    before, after = fields.get("preTokens"), fields.get("postTokens")
    if isinstance(before, int) and before > 0 and isinstance(after, int):
        return f"compact {before} tokens to {after}"
    return f"compact {before} tokens" if isinstance(before, int) and before > 0 else "compact"


def _source(data: JsonObject) -> tuple[str, str] | None:
    named = data.get("forkedFrom")
    fields = cast("JsonObject", named) if isinstance(named, dict) else {}
    session, uuid = fields.get("sessionId"), fields.get("messageUuid")
    return (session, uuid) if isinstance(session, str) and isinstance(uuid, str) else None


def _parents(view: GraphView) -> list[int | None]:
    """The record before each one; what goes on behind a compaction's kept messages follows it."""
    graph, length = view.graph, view.length
    position, above, ahead = graph.position, list[int | None](), False
    for here, record in enumerate(graph.records[:length]):
        parent = position.get(record.parent or "")
        if parent is None or parent >= here or record.is_boundary:
            parent = graph.parent(here) if graph.is_current(here) else None
            ahead = ahead or (parent is not None and parent > here)
        elif position.get(record.uuid or "") != here:
            parent = None
        above.append(parent if parent is not None and parent < length else None)
    for kept in all_kept(graph):
        if kept.joins_tail:
            for here in range(kept.boundary + 1, length):
                if above[here] == kept.chain[-1] and _goes_on(graph.records[here]):
                    above[here] = kept.boundary
    if ahead:  # without a parent that stands behind its child there is no circle
        parents = dict(enumerate(above))
        cut_circles(parents, lambda _: None)
        above = list(parents.values())
    return above


def cut_circles(parents: dict[K, K | None], instead: Callable[[K], K | None]) -> None:
    """Make a forest of links: the first key of every circle gets the parent that `instead` gives
    it, where that leads to a root and not back to itself, else none.
    """
    rank = {key: place for place, key in enumerate(parents)}
    settled: set[K] = set()
    for start in rank:
        path: dict[K, None] = {}
        here: K | None = start
        while here is not None and here not in settled and here not in path:
            path[here] = None
            here = parents[here]
        if here is not None and here in path:
            way = list(path)
            first = min(way[way.index(here) :], key=rank.__getitem__)
            other = instead(first)
            parents[first] = other if other in settled else None
        settled.update(path)


def _goes_on(record: Record) -> bool:
    return record.subtype != COMPACT_UNDONE and not record.is_boundary


def _belongs(parents: list[int | None], nodes: Mapping[int, object]) -> list[int]:
    """For each record the node at or above it; every link is walked once, a circle has none."""
    found = [_UNKNOWN] * len(parents)
    for start, above in enumerate(parents):
        if above is not None and above < start and start not in nodes:
            found[start] = found[above]
            continue
        path: list[int] = []
        here: int | None = start
        while here is not None and found[here] == _UNKNOWN:
            found[here] = here if here in nodes else _NONE
            if found[here] == here:
                break
            path.append(here)
            here = parents[here]
        node = _NONE if here is None else found[here]
        for passed in path:
            found[passed] = node
    return found


class _Counts:
    """By node: its tool calls and its recaps; only of those that have some."""

    def __init__(self) -> None:
        self.tools: defaultdict[int, int] = defaultdict(int)
        self.recaps: defaultdict[int, int] = defaultdict(int)


def _turns(view: GraphView, belongs: list[int], counts: _Counts) -> dict[int, tuple[int, ...]]:
    records, everything = view.graph.records, view.graph.is_sidechain_file
    turns: defaultdict[int, list[int]] = defaultdict(list)
    for here, node in enumerate(belongs):
        if node == _NONE:
            continue
        record = records[here]
        if record.sidechain and node != here and not everything:
            continue
        turns[node].append(here)
        if record.tool_uses:
            counts.tools[node] += len(record.tool_uses)
        elif record.subtype == RECAP:
            counts.recaps[node] += 1
    for node, turn in turns.items():
        if turn[0] != node:  # a child may stand in front of its parent in the file
            turn.remove(node)
            turn.insert(0, node)
    # Tuples of numbers are nothing that the garbage collector has to look through again and again.
    return {node: tuple(turn) for node, turn in turns.items()}


def _branch(last: int, parents: list[int | None], belongs: list[int]) -> set[int]:
    """The nodes that lead to the leaf in use."""
    branch: set[int] = set()
    while last not in branch and last != _NONE:
        branch.add(last)
        above = parents[last]
        last = _NONE if above is None else belongs[above]
    return branch
