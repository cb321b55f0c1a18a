"""A session's prompts and compactions as one tree, with its forks in other sessions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from app.sessions.branches import nearest_above, prompts_of
from app.sessions.graph import GraphView, MessageGraph
from app.sessions.prompts import typed_text
from app.sessions.records import JsonObject, Record

NodeKind: TypeAlias = Literal["prompt", "compact", "unavailable", "fork"]
"""`unavailable`: a compaction whose earlier history is in no file (cases/B09)."""

UNAVAILABLE = "earlier history not available"


@dataclass(frozen=True, slots=True)
class Node:
    """One prompt, compaction or fork; `parent` is the uuid of the node before it."""

    uuid: str
    parent: str | None
    kind: NodeKind
    text: str
    timestamp: str | None = None
    tools: int = 0
    """Tool calls up to the next node."""
    on_branch: bool = False
    """It leads to the leaf in use."""
    current: bool = False
    """It is the last node before the leaf in use."""
    session_id: str = ""
    """Of a fork: the session that goes on from here."""


@dataclass(frozen=True, slots=True)
class Fork:
    """Another session that branched off."""

    session_id: str
    title: str
    records: tuple[Record, ...]


def outline(view: GraphView, forks: Iterable[Fork] = ()) -> list[Node]:
    """All nodes in file order, forks last."""
    graph = view.graph
    prompts = prompts_of(graph)
    marks = [here for here in graph.position.values() if graph.records[here].is_boundary]
    known = {*prompts, *marks}
    nodes = sorted(known)
    nearest = nearest_above(graph, known)
    branch = [here for here in graph.walk(view.leaf) if here in known]
    on_branch = set(branch)
    tools = _tool_counts(graph, known)
    found: list[Node] = []
    for here in nodes:
        record, above = graph.records[here], nearest(here)
        kind: NodeKind = "prompt"
        if record.is_boundary:
            kind = "unavailable" if graph.parent(here) is None else "compact"
        found.append(
            Node(
                uuid=record.uuid or "",
                parent=None if above is None else graph.records[above].uuid,
                kind=kind,
                text=typed_text(record.data) if kind == "prompt" else _compaction(record, kind),
                timestamp=record.timestamp,
                tools=tools.get(here, 0),
                on_branch=here in on_branch,
                current=here in branch[:1],
            )
        )
    joined = (_fork_node(graph, known, fork) for fork in forks)
    return [*found, *(node for node in joined if node is not None)]


def _tool_counts(graph: MessageGraph, known: set[int]) -> dict[int, int]:
    nearest = nearest_above(graph, known)
    counts: dict[int, int] = {}
    for here in graph.position.values():
        record = graph.records[here]
        if record.tool_uses and graph.is_main(here):
            above = nearest(here)
            if above is not None:
                counts[above] = counts.get(above, 0) + len(record.tool_uses)
    return counts


def _compaction(record: Record, kind: NodeKind) -> str:
    if kind == "unavailable":
        return UNAVAILABLE
    metadata = record.data.get("compactMetadata")
    fields = cast("JsonObject", metadata) if isinstance(metadata, dict) else {}
    before, after = fields.get("preTokens"), fields.get("postTokens")
    if isinstance(before, int) and isinstance(after, int):
        return f"compact {before} tokens to {after}"
    return f"compact {before} tokens" if isinstance(before, int) else "compact"


def _fork_node(graph: MessageGraph, known: set[int], fork: Fork) -> Node | None:
    """A fork, below the node that it shares with the session last."""
    nearest = nearest_above(graph, known)
    for record in reversed(fork.records):
        source = record.data.get("forkedFrom") if record.in_chain else None
        named = cast("JsonObject", source).get("messageUuid") if isinstance(source, dict) else None
        here = graph.position.get(str(named))
        if here is not None:
            above = here if here in known else nearest(here)
            parent = None if above is None else graph.records[above].uuid
            kind: NodeKind = "fork"
            return Node(fork.session_id, parent, kind, fork.title, session_id=fork.session_id)
    return None
