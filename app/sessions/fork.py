"""A new session out of a branch of an old one, which is never touched (spec/sessions.md, Fork)."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from app.sessions.graph import MessageGraph
from app.sessions.records import JsonObject, Record, new_record
from app.sessions.view import request_walk

_LEFT_OUT = ("teamName", "agentName", "slug", "sourceToolAssistantUUID")
"""Keys that belong to the old session alone (transcripts.md, a14)."""


def fork_records(
    graph: MessageGraph,
    leaf: int | None,
    *,
    session_id: str,
    title: str,
    new_uuid: Callable[[], str],
) -> list[Record]:
    """The records of a fork at `leaf`: its logical chain, each with `forkedFrom`.

    The chain begins at the last compact boundary, so that a fork's requests carry the summary and
    nothing of what was compacted. Progress is left out and its children re-linked.
    """
    positions = _logical_chain(graph, leaf)
    renamed = {here: new_uuid() for here in positions}
    forked: list[Record] = []
    before: str | None = None
    for here in positions:
        record = graph.records[here]
        data: JsonObject = {
            key: value for key, value in record.data.items() if key not in _LEFT_OUT
        }
        data["parentUuid"] = before
        data["uuid"] = renamed[here]
        data["sessionId"] = session_id
        data["isSidechain"] = False
        if "logicalParentUuid" in data:
            data["logicalParentUuid"] = None
        data["forkedFrom"] = {"sessionId": record.session_id, "messageUuid": record.uuid}
        _unlink_preserved(data)
        forked.append(new_record(data))
        before = renamed[here]
    if title:
        name = {"type": "custom-title", "customTitle": f"{title} (fork)", "sessionId": session_id}
        forked.append(new_record(name))
    return forked


def _logical_chain(graph: MessageGraph, leaf: int | None) -> list[int]:
    """The records that the next request is made of, in order, with the boundary in front."""
    walk = [here for here in request_walk(graph, leaf) if graph.is_main(here)]
    on_walk = set(walk)
    chain: list[int] = []
    seen: set[int] = set()

    def take(here: int) -> None:
        if here not in seen and graph.records[here].type != "progress":
            seen.add(here)
            chain.append(here)

    for here in walk:
        record = graph.records[here]
        if record.type != "assistant":
            take(here)
            continue
        group = graph.message_group(here, on_walk)
        for member in group:
            take(member)
        for member in group:
            for tool_id in graph.records[member].tool_uses:
                for result in graph.results.get(tool_id, ()):
                    if graph.hangs_on(result, on_walk):
                        take(result)
    boundary = _boundary_above(graph, walk)
    return chain if boundary is None else [boundary, *chain]


def _boundary_above(graph: MessageGraph, walk: list[int]) -> int | None:
    if not walk:
        return None
    above = graph.parent(walk[0])
    return above if above is not None and graph.records[above].is_boundary else None


def _unlink_preserved(data: JsonObject) -> None:
    """A fork's chain is already in the order of its request: nothing is left to be re-linked."""
    metadata = data.get("compactMetadata")
    if isinstance(metadata, dict):
        fields = cast("JsonObject", metadata)
        gone = {"preservedSegment", "preservedMessages"}
        data["compactMetadata"] = {k: v for k, v in fields.items() if k not in gone}
