"""A new session out of a branch of an old one, which is never touched (spec/sessions.md, Fork)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import cast

from app.sessions.graph import MessageGraph
from app.sessions.history import logical_chain
from app.sessions.kept import walk_from
from app.sessions.links import relinked
from app.sessions.prompts import blocks_of, content_of
from app.sessions.records import JsonObject, Record, new_record
from app.sessions.view import PERMISSION_MODES, THINKING

_LEFT_OUT = ("teamName", "agentName", "slug", "sourceToolAssistantUUID", "promptId")
"""Keys that belong to the old session alone (transcripts.md, a14; spec/sessions.md, Resume 3)."""


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
    walk = walk_from(graph, leaf)
    boundary = [] if walk.boundary is None else [walk.boundary]
    positions = boundary + logical_chain(graph, walk)
    renamed = {here: new_uuid() for here in positions}
    by_uuid = {graph.records[here].uuid or "": name for here, name in renamed.items()}
    forked: list[Record] = []
    before: str | None = None
    for here in positions:
        record = graph.records[here]
        kept = {key: value for key, value in record.data.items() if key not in _LEFT_OUT}
        data = relinked(kept, by_uuid)
        data["parentUuid"] = before
        data["uuid"] = renamed[here]
        data["sessionId"] = session_id
        data["isSidechain"] = False
        if "logicalParentUuid" in data:
            data["logicalParentUuid"] = None
        if data.get("permissionMode") not in PERMISSION_MODES:
            data.pop("permissionMode", None)
        data["forkedFrom"] = {"sessionId": record.session_id, "messageUuid": record.uuid}
        _unlink_preserved(data)
        if here in walk.kept:
            _strip(data)
        with contextlib.suppress(RecursionError):  # nested too deeply to be written anew
            forked.append(new_record(data))
            before = renamed[here]
    if title:
        name = {"type": "custom-title", "customTitle": f"{title} (fork)", "sessionId": session_id}
        forked.append(new_record(name))
    return forked


def _unlink_preserved(data: JsonObject) -> None:
    """A fork's chain is already in the order of its request: nothing is left to be re-linked."""
    metadata = data.get("compactMetadata")
    if isinstance(metadata, dict):
        fields = cast("JsonObject", metadata)
        gone = {"preservedSegment", "preservedMessages"}
        data["compactMetadata"] = {k: v for k, v in fields.items() if k not in gone}


def _strip(data: JsonObject) -> None:
    """What stood before a kept message is gone: neither its thinking (B13) nor its size holds."""
    message = data.get("message")
    content = content_of(data)
    if isinstance(message, dict) and isinstance(content, list):
        fields = {
            key: value for key, value in cast("JsonObject", message).items() if key != "usage"
        }
        blocks = [b for b in blocks_of(cast("object", content)) if b.get("type") not in THINKING]
        data["message"] = {**fields, "content": blocks}
