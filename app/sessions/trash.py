"""Sessions that were thrown away: kept for a while, with all that belongs to them, and restorable.

`<data>/trash/<when>-<id>/` holds the transcript, its folder, and in `origin` where it came from.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from app.errors import ReverieError, SessionNotFound, StorageError
from app.paths import make_private_folder, read_small, write_private
from app.sessions.catalogue import is_session_id
from app.sessions.ownership import claim

_WHEN = "%Y%m%dT%H%M%SZ"
_ENTRY = re.compile(r"(\d{8}T\d{6}Z)-(.{36})")
_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Trashed:
    """A session in the trash."""

    session_id: str
    folder: Path
    when: float
    """When it was thrown away, in seconds since the epoch."""


def trash_folder(projects: Path) -> Path:
    """Where the sessions of an installation go; `projects` is the folder of its projects."""
    return projects.parent / "trash"


def trash(file: Path, projects: Path, now: float) -> Trashed:
    """Move a session of ours to the trash, with its folder.

    Raises `ReverieError` for a file that is no session of ours or that a process has open, and
    `StorageError` when it cannot be moved. Either all of it moves or nothing.
    """
    if not _is_ours(file, projects):
        raise ReverieError(f"{file} is not a session of Reverie.", kept="It was left where it is.")
    if not file.is_file():
        raise SessionNotFound(f"No conversation found with session ID: {file.stem}")
    owner = claim(file, "It was left where it is.")
    when = datetime.fromtimestamp(int(now), UTC)
    kept = trash_folder(projects) / f"{when.strftime(_WHEN)}-{file.stem}"
    try:
        _put(file, kept)
    finally:
        owner.release()
    return Trashed(file.stem, kept, when.timestamp())


def _is_ours(file: Path, projects: Path) -> bool:
    inside = os.path.realpath(file.parent.parent) == os.path.realpath(projects)
    return inside and is_session_id(file.stem) and file.suffix == ".jsonl"


def _put(file: Path, kept: Path) -> None:
    write_private(kept / "origin", os.fsencode(file.absolute()))
    beside = file.with_suffix("")
    try:
        if beside.is_dir():
            beside.rename(kept / beside.name)
        file.rename(kept / file.name)
    except OSError as error:
        with contextlib.suppress(OSError):
            (kept / beside.name).rename(beside)
        shutil.rmtree(kept, ignore_errors=True)
        raise StorageError(
            f"{file} could not be moved to the trash: {error.strerror or error}.",
            kept="It was left where it is.",
        ) from error


def trashed(projects: Path) -> list[Trashed]:
    """What is in the trash, thrown away last first."""
    found: list[Trashed] = []
    try:
        entries = sorted(trash_folder(projects).iterdir(), reverse=True)
    except OSError:
        return []
    for entry in entries:
        parts = _ENTRY.fullmatch(entry.name)
        if parts is not None and is_session_id(parts[2]) and not entry.is_symlink():
            when = datetime.strptime(parts[1], _WHEN).replace(tzinfo=UTC)
            found.append(Trashed(parts[2], entry, when.timestamp()))
    return found


def restore(projects: Path, session_id: str) -> Path:
    """Put the session with this id back where it was; returns its transcript.

    Raises `SessionNotFound` when it is not in the trash, `ReverieError` when another file has
    taken its place, and `StorageError` when it cannot be moved.
    """
    entry = next((each for each in trashed(projects) if each.session_id == session_id), None)
    if entry is None:
        raise SessionNotFound(f"There is no session {session_id} in the trash.")
    try:
        file = Path(os.fsdecode(read_small(entry.folder / "origin", 8_192)))
        if file.stem != session_id or not _is_ours(file, projects):
            raise StorageError(f"{entry.folder} does not say where the session came from.")
        if file.exists():
            raise ReverieError(
                f"{file} is there again.", kept="Neither of the two was changed.", todo="Move one."
            )
        make_private_folder(file.parent)
        beside = entry.folder / session_id
        if beside.is_dir():
            beside.rename(file.with_suffix(""))
        (entry.folder / file.name).rename(file)
    except OSError as error:
        raise StorageError(
            f"The session {session_id} could not be restored: {error.strerror or error}.",
            kept=f"What is left of it in the trash stays in {entry.folder}.",
        ) from error
    shutil.rmtree(entry.folder, ignore_errors=True)
    return file


def empty_trash(projects: Path, days: int, now: float) -> int:
    """Remove for good what was thrown away over `days` days before `now`; returns how many."""
    old = [each for each in trashed(projects) if now - each.when > days * _DAY]
    for each in old:
        shutil.rmtree(each.folder, ignore_errors=True)
    return len(old)
