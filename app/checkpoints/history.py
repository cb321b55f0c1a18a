"""What happened to files in a session, in the order of its records, and what was there before.

Files have one past, however many branches the conversation has. So a point is a place in the file
of the session: going back to it gives every path that changed later what it held before the first
of these changes (spec/checkpoints.md).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias, TypeGuard, cast

from msgspec import Struct

from app.checkpoints.blobs import is_blob_name
from app.checkpoints.states import ABSENT, FileState, Kind

SNAPSHOT: Final = "file-history-snapshot"
DELTA: Final = "file-history-delta"
GAP: Final = "file-history-gap"
"""Our record of a command of which it is not known what it changed."""
MOST_CHECKPOINTS: Final = 100
"""Messages whose changes can be taken back; older ones leave first (spec/checkpoints.md)."""

Writer: TypeAlias = Literal["tool", "shell", "rewind", "unknown"]
"""`unknown`: a backup that another program recorded."""

_KINDS: dict[object, Kind] = {
    "absent": "absent",
    "file": "file",
    "link": "link",
    "folder": "folder",
    "beneath": "absent",
    "other": "other",
}
_WRITERS: dict[object, Writer] = {"tool": "tool", "shell": "shell", "rewind": "rewind"}

JsonObject: TypeAlias = dict[str, Any]


class Change(Struct, frozen=True):
    """One path, changed once: what it held before and what was left there."""

    message: str
    """The uuid of the prompt, or of the rewind, in whose course it changed."""
    path: str
    """Absolute."""
    before: FileState
    """Without a digest where another program's backup has not been read yet."""
    blob: str | None
    """Names the bytes that it held before; None where it held none."""
    left: FileState | None
    """None where nobody recorded it."""
    by: Writer
    what: str = ""
    """The tool's name, or the command."""
    folders: tuple[str, ...] = ()
    """Folders that were made for it."""
    position: int = -1
    """The index of its record in the file of the session."""


class FileHistory:
    """All changes of one session, oldest first, and the points that one can go back to."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self._points: dict[str, int] = {}
        self._horizon: tuple[int, int] = (0, -1)
        self._versions: dict[str, int] = {}
        self._gaps: list[tuple[int, str]] = []

    def add_point(self, uuid: str, position: int) -> None:
        """Let this message be gone back to; of several places the first one counts."""
        self._points[uuid] = min(position, self._points.get(uuid, position))

    def add(self, change: Change) -> None:
        """Take in the newest change."""
        self.changes.append(change)
        self._versions[change.path] = self.version(change.path) + 1
        self.add_point(change.message, change.position)

    def add_gap(self, command: str, position: int) -> None:
        """Note a command of which it is not known what it changed."""
        self._gaps.append((position, command))

    def gaps_since(self, uuid: str) -> tuple[str, ...]:
        """The commands since this message of which it is not known what they changed."""
        start = self._points[uuid]
        found = [command for position, command in self._gaps if position >= start]
        return tuple(dict.fromkeys(found))

    def gaps(self) -> list[tuple[int, str]]:
        """The commands of which it is not known what they changed, with their positions."""
        return list(self._gaps)

    def version(self, path: str) -> int:
        """How often this path has changed."""
        return self._versions.get(path, 0)

    def knows(self, uuid: str) -> bool:
        """Whether files can be put back as they were at this message."""
        return self._points.get(uuid, -1) > self.horizon

    def restorable(self) -> frozenset[str]:
        """All messages that files can go back to."""
        return frozenset(uuid for uuid, _ in self.points())

    @property
    def horizon(self) -> int:
        """The position of the newest change that has left the newest 100 checkpoints."""
        counted, horizon = self._horizon
        if counted != len(self.changes):
            newest: set[str] = set()
            horizon = -1
            for change in reversed(self.changes):
                if change.by == "rewind":
                    continue  # going back and forth costs no place
                newest.add(change.message)
                if len(newest) > MOST_CHECKPOINTS:
                    horizon = change.position
                    break
            self._horizon = (len(self.changes), horizon)
        return horizon

    def since(self, uuid: str) -> dict[str, list[Change]]:
        """By path the changes since this message, oldest first. Raises `KeyError`."""
        return self.after(self._points[uuid] - 1)

    def after(self, position: int) -> dict[str, list[Change]]:
        """By path the changes behind a record, oldest first."""
        found: dict[str, list[Change]] = {}
        for change in self.changes:
            if change.position > position:
                found.setdefault(change.path, []).append(change)
        return found

    def points(self) -> list[tuple[str, int]]:
        """All messages that files can go back to, with their positions."""
        horizon = self.horizon
        return [(uuid, here) for uuid, here in list(self._points.items()) if here > horizon]

    def live(self) -> list[Change]:
        """The changes that can be taken back, oldest first."""
        horizon = self.horizon
        return [change for change in self.changes if change.position > horizon]

    def is_tracked(self, path: str, state: FileState) -> bool:
        """Whether a path was left so by a tool or a command, or was so before all of them."""
        changes = [change for change in self.changes if change.path == path]
        states = [change.left for change in changes if change.by != "rewind"]
        states += [change.before for change in changes[:1]]
        return any(each is not None and each.same_bytes(state) for each in states)

    def blobs(self) -> set[str]:
        """The blobs that going back may need."""
        return {change.blob for change in self.live() if change.blob}


def changes_of(data: Mapping[str, Any], position: int, cwd: str) -> list[Change]:
    """The changes that a record of file history tells of (transcripts.md, a9).

    Relative paths start at `cwd`. What cannot be a path or a backup is left out.
    """
    if data.get("type") == DELTA:
        found = [_change(data, data.get("trackingPath"), data.get("backup"), cwd)]
        message = data.get("snapshotMessageId")
    else:
        snapshot = _object(data.get("snapshot"))
        message = snapshot.get("messageId") or data.get("messageId")
        backups = _object(snapshot.get("trackedFileBackups"))
        found = [_change({}, path, backup, cwd) for path, backup in backups.items()]
    if not isinstance(message, str):
        return []
    return [Change(message, *parts, position=position) for parts in found if parts is not None]


_Parts: TypeAlias = tuple[
    str, FileState, str | None, FileState | None, Writer, str, tuple[str, ...]
]


def _change(data: Mapping[str, Any], path: object, backup: object, cwd: str) -> _Parts | None:
    if not _is_path(path) or not isinstance(backup, dict):
        return None
    fields = cast("JsonObject", backup)
    name = fields.get("backupFileName")
    if name is not None and not is_blob_name(name):
        return None
    before = _state(fields.get("state"))
    if before is None:
        before = ABSENT if name is None else FileState("file")
    folders = data.get("madeFolders")
    made = cast("list[object]", folders) if isinstance(folders, list) else []
    return (
        os.path.normpath(os.path.join(cwd, path)),  # noqa: PTH118 - text: nothing is resolved yet
        before,
        name,
        _state(data.get("left")),
        _WRITERS.get(data.get("by"), "unknown"),
        str(data.get("what") or ""),
        tuple(folder for folder in made if _is_path(folder)),
    )


def _is_path(value: object) -> TypeGuard[str]:
    """Whether a file can have this name."""
    if not isinstance(value, str) or not value or "\0" in value:
        return False
    try:
        os.fsencode(value)
    except UnicodeEncodeError:
        return False
    return True


def _state(value: object) -> FileState | None:
    if not isinstance(value, dict):
        return None
    fields = cast("JsonObject", value)
    kind, digest = _KINDS.get(fields.get("kind")), fields.get("sha256")
    size, mode = fields.get("size"), fields.get("mode")
    if kind is None:
        return None
    return FileState(
        kind,
        digest if isinstance(digest, str) else "",
        size if isinstance(size, int) else 0,
        mode & 0o7777 if isinstance(mode, int) else None,
    )


def _object(value: object) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def snapshot_data(message: str, session_id: str, timestamp: str) -> JsonObject:
    """The record that lets a prompt be gone back to; what changes in its turn follows it."""
    snapshot: JsonObject = {"messageId": message, "trackedFileBackups": {}, "timestamp": timestamp}
    return {
        "type": SNAPSHOT,
        "messageId": message,
        "snapshot": snapshot,
        "isSnapshotUpdate": False,
        "sessionId": session_id,
    }


def delta_data(
    change: Change, *, message: str, session_id: str, version: int, timestamp: str
) -> JsonObject:
    """The record of a change; `message` is the record that holds the tool call.

    Beside the newest keys of Claude Code (transcripts.md, a9) it says what was there, what was
    left, who did it, and which folders were made for it.
    """
    backup = {
        "backupFileName": change.blob,
        "version": version,
        "backupTime": timestamp,
        "state": _state_data(change.before),
    }
    data: JsonObject = {
        "type": DELTA,
        "messageId": message,
        "snapshotMessageId": change.message,
        "trackingPath": change.path,
        "backup": backup,
        "timestamp": timestamp,
        "sessionId": session_id,
        "left": None if change.left is None else _state_data(change.left),
        "by": change.by,
        "what": change.what,
    }
    return data | ({"madeFolders": list(change.folders)} if change.folders else {})


def gap_data(
    message: str, command: str, reason: str, *, session_id: str, timestamp: str
) -> JsonObject:
    """The record of a command whose changes are not kept, and why."""
    return {
        "type": GAP,
        "snapshotMessageId": message,
        "what": command,
        "reason": reason,
        "timestamp": timestamp,
        "sessionId": session_id,
    }


def _state_data(state: FileState) -> JsonObject:
    if state.kind != "file":
        return {"kind": state.kind}
    return {"kind": "file", "sha256": state.sha256, "size": state.size, "mode": state.mode}
