"""What a transcript tells of files, and what a fork of it takes along (transcripts.md, a9)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import cast

from msgspec import structs

from app.checkpoints.history import (
    DELTA,
    GAP,
    SNAPSHOT,
    FileHistory,
    changes_of,
    delta_data,
    gap_data,
    snapshot_data,
)
from app.checkpoints.states import FileState
from app.sessions.graph import REWIND, MessageGraph
from app.sessions.prompts import CUT_OFF_RESULT, blocks_of, content_of
from app.sessions.records import JsonObject, Record, new_record

FORKED = "It was not known in the session that this one branched off either."


def load_history(graph: MessageGraph) -> FileHistory:
    """All that a transcript tells of files, in the order of its lines."""
    history = FileHistory()
    for here, record in enumerate(graph.records):
        if record.subtype == REWIND and record.uuid is not None:
            history.add_point(record.uuid, here)
        if record.type == GAP:
            history.add_gap(str(record.data.get("what") or ""), here)
        elif record.tool_uses:
            for command in cut_off_commands(graph, record):
                history.add_gap(command, here)
        if record.type not in (SNAPSHOT, DELTA):
            continue
        data = record.data
        changes = changes_of(data, here, os.path.realpath(_folder_of(graph, here, data)))
        for change in changes:
            history.add(change)
        if record.type == SNAPSHOT and isinstance(message := data.get("messageId"), str):
            history.add_point(message, here)
    return history


def cut_off_commands(graph: MessageGraph, record: Record) -> list[str]:
    """The shell commands of a record that no process saw end: their results were made later."""
    if b'"Bash"' not in record.raw or not any(_is_cut_off(graph, t) for t in record.tool_uses):
        return []
    return [
        str(cast("JsonObject", block["input"]).get("command") or "")
        for block in blocks_of(content_of(record.data))
        if block.get("name") == "Bash"
        and isinstance(block.get("input"), dict)
        and _is_cut_off(graph, str(block.get("id")))
    ]


def _is_cut_off(graph: MessageGraph, tool_id: str) -> bool:
    results = [graph.records[here].raw for here in graph.results.get(tool_id, ())]
    return all(b'"toolUseResult"' not in raw and CUT_OFF_RESULT.encode() in raw for raw in results)


def _folder_of(graph: MessageGraph, here: int, data: dict[str, object]) -> str:
    """The folder in which the prompt of a snapshot was said: relative paths start there."""
    for uuid in (data.get("snapshotMessageId"), data.get("messageId")):
        position = graph.position.get(str(uuid))
        if position is not None and isinstance(cwd := graph.records[position].data.get("cwd"), str):
            return cwd
    for record in graph.records[here:]:
        if record.in_chain and isinstance(cwd := record.data.get("cwd"), str):
            return cwd
    return "/"


def lefts_of(graph: MessageGraph) -> dict[str, FileState]:
    """What the tools of another program left at each path, by the results of its calls.

    Its file history says only what was there before (transcripts.md, a5 and a9).
    """
    found: dict[str, FileState] = {}
    for record in graph.records:
        if not record.tool_results or b'"filePath"' not in record.raw:
            continue
        result = record.data.get("toolUseResult")
        if isinstance(result, dict):
            fields = cast("JsonObject", result)
            path, text = fields.get("filePath"), _text_left(fields)
            if isinstance(path, str) and text is not None:
                data = text.encode("utf-8", "surrogatepass")
                digest = hashlib.sha256(data).hexdigest()
                found[os.path.normpath(path)] = FileState("file", digest, len(data))
    return found


def _text_left(fields: JsonObject) -> str | None:
    content, original = fields.get("content"), fields.get("originalFile")
    if isinstance(content, str):
        return content
    old, new = fields.get("oldString"), fields.get("newString")
    if isinstance(original, str) and isinstance(old, str) and isinstance(new, str) and old:
        return original.replace(old, new, -1 if fields.get("replaceAll") is True else 1)
    return None


def history_records(
    history: FileHistory, renamed: Mapping[str, str], session_id: str, timestamp: str
) -> list[Record]:
    """The file history of a session for a fork of it, whose records have new uuids.

    All changes go along, those of other branches too: files have one past. Records of file history
    are ordered among themselves, so they may stand behind the messages.
    """
    found: list[tuple[int, Record]] = [
        (position, new_record(snapshot_data(renamed[uuid], session_id, timestamp)))
        for uuid, position in history.points()
        if uuid in renamed
    ]
    for change in history.live():
        moved = structs.replace(change, message=renamed.get(change.message, change.message))
        data = delta_data(
            moved, message=moved.message, session_id=session_id, version=1, timestamp=timestamp
        )
        found.append((change.position, new_record(data)))
    for position, command in history.gaps():
        data = gap_data("", command, FORKED, session_id=session_id, timestamp=timestamp)
        found.append((position, new_record(data)))
    found.sort(key=lambda each: each[0])
    return [record for _, record in found]
