"""The files beside a Claude Code session: its sub-agents and outputs too big for a line."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path

from app.errors import StorageError
from app.paths import make_private_folder
from app.sessions.records import parse_record

_FOLDERS = ("subagents", "tool-results")
"""What lies in the folder that is named for a session (transcripts.md, a1)."""

_BACKUP = re.compile(r"[0-9a-f]{16}@v[0-9]{1,9}")

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK = 1 << 20


def copy_companions(source: Path, target: Path) -> int:
    """Copy what lies beside the transcript `source` to the new folder `target`, 0600.

    Only plain files, and no link is followed; sub-agents of the older, flat layout too. Returns
    how many were copied. Raises `StorageError`.
    """
    copied = 0
    folder = source.with_suffix("")
    for name in _FOLDERS:
        if _is_link(folder) or _is_link(folder / name):
            continue
        for inside, _, files in os.walk(folder / name, followlinks=False):
            place = target / Path(inside).relative_to(folder)
            copied += sum(_copy(Path(inside) / file, place / file) for file in sorted(files))
    for agent in sorted(source.parent.glob("agent-*.jsonl")):
        if _belongs_to(agent, source.stem):
            copied += _copy(agent, target / "subagents" / agent.name)
    return copied


def backups_of(source: Path) -> Path:
    """Where Claude Code keeps the bytes that a transcript's file history names."""
    return source.parent.parent.parent / "file-history" / source.stem


def copy_backups(source: Path, target: Path) -> int:
    """Copy the backups of files that belong to the transcript `source` into the folder `target`.

    Only plain files with the name of a backup. Returns how many. Raises `StorageError`.
    """
    folder = backups_of(source)
    if _is_link(folder) or not folder.is_dir():
        return 0
    names = sorted(file.name for file in folder.iterdir() if _BACKUP.fullmatch(file.name))
    return sum(
        _copy(folder / name, target / name) for name in names if not (target / name).exists()
    )


def agents_in(folder: Path) -> list[Path]:
    """The transcripts of sub-agents among what was copied."""
    return sorted((folder / "subagents").rglob("*.jsonl"))


def moved_paths(session_id: str, target: Path) -> dict[bytes, bytes]:
    """Where texts of the source look for what lies beside it, and where it is now.

    A pattern over the bytes of JSON, and the bytes to put in its place.
    """
    name = re.escape(session_id.encode())
    before = rb'[^"\\\s<>]*/' + name + rb"/(?=tool-results/|subagents/)"
    return {before: json.dumps(f"{target}/")[1:-1].encode()}


def _belongs_to(agent: Path, session_id: str) -> bool:
    try:
        reading = os.open(agent, _READ)
    except OSError:
        return False
    with os.fdopen(reading, "rb") as file:
        if not stat.S_ISREG(os.fstat(reading).st_mode):
            return False
        line = file.readline(_CHUNK)
    try:
        return parse_record(line).session_id == session_id
    except ValueError:
        return False


def _is_link(folder: Path) -> bool:
    try:
        return folder.is_symlink()
    except OSError:
        return True


def _copy(source: Path, target: Path) -> bool:
    try:
        reading = os.open(source, _READ)
    except OSError:
        return False  # a link, or nothing that we may read: the session itself does not need it
    with os.fdopen(reading, "rb") as file:
        if not stat.S_ISREG(os.fstat(reading).st_mode):
            return False
        make_private_folder(target.parent)
        try:
            with os.fdopen(os.open(target, _WRITE, 0o600), "wb") as copy:
                while chunk := file.read(_CHUNK):
                    copy.write(chunk)
        except OSError as error:
            raise StorageError(
                f"{target} could not be written: {error.strerror or error}.",
                kept="The session that it belongs to was not imported.",
                todo="Check the folder's permissions and free space.",
            ) from error
    return True
