"""Messages that a compaction kept word for word (transcripts.md, a8).

They stay where they were, before the boundary, and follow its summary in later requests. What was
written after the compaction hangs on the last of them (`preservedSegment`) or on the summary.
"""

from __future__ import annotations

from typing import cast

from msgspec import Struct

from app.sessions.graph import COMPACT_UNDONE, MessageGraph
from app.sessions.records import JsonObject


class Kept(Struct, frozen=True):
    """The kept messages of one boundary; all are positions in the graph."""

    boundary: int
    anchor: int
    """What they follow: the summary."""
    chain: tuple[int, ...]
    """Oldest first, never empty."""
    joins_tail: bool
    """Whether new records hang on the last of them and not on the anchor."""


class Walk(Struct, frozen=True):
    """The records of the next request, oldest first."""

    positions: tuple[int, ...]
    boundary: int | None = None
    """The compact boundary at which it begins."""
    kept: frozenset[int] = frozenset()
    """Those of the positions that a compaction kept."""


def walk_from(graph: MessageGraph, leaf: int | None) -> Walk:
    """From a leaf back to the last compact boundary or root, kept messages in their place."""
    tails = all_kept(graph)
    path: list[int] = []
    seen: set[int] = set()
    used: tuple[int, ...] = ()
    boundary: int | None = None
    child: int | None = None
    here = leaf
    while here is not None and here not in seen:
        if graph.records[here].is_boundary:
            boundary = here
            break
        joined = joined_at(graph, tails, here, child)
        if joined is None:
            seen.add(here)
            path.append(here)
            child, here = here, graph.parent(here)
        else:
            seen.update(joined.chain)
            path += reversed(joined.chain)
            used = joined.chain
            child, here = joined.chain[0], joined.anchor
    path.reverse()
    for kept in tails:
        if kept.boundary == boundary and kept.anchor in seen and not seen & set(kept.chain):
            place = path.index(kept.anchor) + 1
            path[place:place] = kept.chain
            used = kept.chain
    return Walk(tuple(path), boundary, frozenset(used))


def all_kept(graph: MessageGraph) -> list[Kept]:
    """What every compaction of a session kept, oldest first."""
    found = (kept_messages(graph, here) for here in graph.boundaries)
    return [kept for kept in found if kept is not None]


def joined_at(graph: MessageGraph, tails: list[Kept], here: int, child: int | None) -> Kept | None:
    """The kept messages that end here, when `child` was written behind their compaction."""
    if child is None or graph.records[child].subtype == COMPACT_UNDONE:
        return None
    ended = [
        kept
        for kept in tails
        if kept.joins_tail and kept.chain[-1] == here and kept.boundary < child
    ]
    return ended[-1] if ended else None


def kept_messages(graph: MessageGraph, boundary: int) -> Kept | None:
    """What a boundary kept; None when it kept nothing or what it names is not in the file."""
    if not graph.is_current(boundary):
        return None
    metadata = graph.records[boundary].data.get("compactMetadata")
    if not isinstance(metadata, dict):
        return None
    fields = cast("JsonObject", metadata)
    segment, listed = _object(fields, "preservedSegment"), _object(fields, "preservedMessages")
    anchor = graph.position.get(str((listed or segment).get("anchorUuid")))
    anchor = _summary_of(graph, boundary) if anchor is None else anchor
    chain = _listed(graph, listed) or _segment(graph, segment)
    if anchor is None or not chain or anchor in chain:
        return None
    return Kept(boundary, anchor, chain, joins_tail=bool(segment))


def _summary_of(graph: MessageGraph, boundary: int) -> int | None:
    """The record right behind a boundary: what the anchor was attached to may have been cut off."""
    uuid = graph.records[boundary].uuid
    for here in range(boundary + 1, min(boundary + 8, len(graph.records))):
        if graph.records[here].parent == uuid and graph.is_current(here):
            return here
    return None


def _object(fields: JsonObject, key: str) -> JsonObject:
    value = fields.get(key)
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def _listed(graph: MessageGraph, listed: JsonObject) -> tuple[int, ...]:
    uuids = listed.get("uuids")
    names = cast("list[object]", uuids) if isinstance(uuids, list) else []
    found = (graph.position.get(name) for name in names if isinstance(name, str))
    return tuple(dict.fromkeys(here for here in found if here is not None))


def _segment(graph: MessageGraph, segment: JsonObject) -> tuple[int, ...]:
    head = graph.position.get(str(segment.get("headUuid")))
    tail = graph.position.get(str(segment.get("tailUuid")))
    if head is None or tail is None:
        return ()
    chain: list[int] = []
    for here in graph.walk(tail):
        chain.append(here)
        if here == head:
            return tuple(reversed(chain))
    return ()
