"""Sessions that were thrown away: kept for a while, with all that belongs to them, and restorable.

`<data>/trash/<when>-<id>/` holds the transcript, its folder, and in `origin` the name of the
project's folder. Another one of the same second and id ends in `-2`, and so on.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from app.errors import ReverieError, SessionNotFound, StorageError
from app.paths import create_private, make_private_folder, read_small
from app.sessions.catalogue import is_own_transcript, is_session_id
from app.sessions.ownership import claim

_WHEN = "%Y%m%dT%H%M%SZ"
_ENTRY = re.compile(r"(\d{8}T\d{6}Z)-(.{36})(?:-(\d+))?")
_ORIGIN = "origin"
_DAY = 86_400
_STAYED = "It was left where it is."


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
    `StorageError` when it cannot be moved; what is lost then is nothing.
    """
    if not is_own_transcript(projects, file):
        raise ReverieError(f"{file} is not a session of Reverie.", kept=_STAYED)
    if not file.is_file():
        raise _not_found(file.stem)
    owner = claim(file, _STAYED)
    try:
        when = datetime.fromtimestamp(int(now), UTC)
        kept = _new_entry(trash_folder(projects), f"{when.strftime(_WHEN)}-{file.stem}")
        _put(file, kept)
    finally:
        owner.release()
    return Trashed(file.stem, kept, when.timestamp())


def _not_found(session_id: str) -> SessionNotFound:
    return SessionNotFound(f"No conversation found with session ID: {session_id}")


def _new_entry(folder: Path, name: str) -> Path:
    """A folder that was not there before."""
    make_private_folder(folder)
    for number in count(1):
        entry = folder / (name if number == 1 else f"{name}-{number}")
        try:
            entry.mkdir(mode=0o700)
        except FileExistsError:
            continue
        except OSError as error:
            raise StorageError(
                f"The folder {entry} cannot be made: {error.strerror or error}.", kept=_STAYED
            ) from error
        return entry
    raise AssertionError("numbers do not end")


def _put(file: Path, kept: Path) -> None:
    """Move a transcript and its folder into an entry.

    The transcript goes first: an entry that has none is no session, whatever ended us.
    """
    beside, moved = file.with_suffix(""), False
    try:
        create_private(kept / _ORIGIN, os.fsencode(file.parent.name))
        _move(file, kept / file.name)
        moved = True
        if beside.is_dir():
            _move(beside, kept / beside.name)
    except (OSError, StorageError) as error:
        if moved:
            with contextlib.suppress(OSError):
                _move(kept / file.name, file)
        _clear(kept)
        if isinstance(error, FileNotFoundError) and not moved:
            raise _not_found(file.stem) from error
        raise StorageError(
            f"{file} could not be moved to the trash: {_reason(error)}.",
            kept=f"Its transcript is in {kept}." if kept.exists() else _STAYED,
        ) from error


def _reason(error: OSError | StorageError) -> str:
    if isinstance(error, StorageError):
        return error.happened.rstrip(".")
    return error.strerror or str(error)


def _move(source: Path, target: Path) -> None:
    """Rename, but never over what is there. Both are ours alone while the session is claimed."""
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    source.rename(target)


def _clear(entry: Path) -> None:
    """Remove an entry that holds nothing but the note of its origin."""
    with contextlib.suppress(OSError):
        if {each.name for each in entry.iterdir()} <= {_ORIGIN}:
            (entry / _ORIGIN).unlink(missing_ok=True)
            entry.rmdir()


def trashed(projects: Path) -> list[Trashed]:
    """The sessions in the trash, thrown away last first."""
    return [
        each for each in _entries(projects) if (each.folder / f"{each.session_id}.jsonl").is_file()
    ]


def _entries(projects: Path) -> list[Trashed]:
    """What has the name of an entry, also when its transcript is missing."""
    found: list[tuple[float, int, Trashed]] = []
    try:
        folders = sorted(trash_folder(projects).iterdir())
    except OSError:
        return []
    for folder in folders:
        parts = _ENTRY.fullmatch(folder.name)
        if parts is None or not is_session_id(parts[2]) or folder.is_symlink():
            continue
        try:
            when = datetime.strptime(parts[1], _WHEN).replace(tzinfo=UTC).timestamp()
        except ValueError:
            continue
        found.append((when, int(parts[3] or 1), Trashed(parts[2], folder, when)))
    found.sort(key=lambda each: each[:2], reverse=True)
    return [each for _, _, each in found]


def restore(projects: Path, session_id: str, now: float) -> Path:
    """Put the session with this id back where it was; returns its transcript.

    It counts as written to `now`, so that it does not go at once for its age. Raises
    `SessionNotFound` when it is not in the trash, `ReverieError` when another file has taken its
    place, and `StorageError` when it cannot be moved.
    """
    entry = next((each for each in trashed(projects) if each.session_id == session_id), None)
    if entry is None:
        raise SessionNotFound(f"There is no session {session_id} in the trash.")
    stays = f"It stays in {entry.folder}."
    try:
        file = projects / _project_of(entry.folder, projects) / f"{session_id}.jsonl"
        owner = claim(file, stays)
        try:
            _put_back(entry, file, now)
        finally:
            owner.release()
    except OSError as error:
        raise StorageError(
            f"The session {session_id} could not be restored: {error.strerror or error}.",
            kept=f"What is left of it in the trash stays in {entry.folder}.",
        ) from error
    return file


def _project_of(entry: Path, projects: Path) -> str:
    """The name of the project's folder; once the whole path of the transcript was noted."""
    text = os.fsdecode(read_small(entry / _ORIGIN, 8_192))
    whole = Path(text)
    if whole.is_absolute() and whole.parent.parent.name == projects.name:
        text = whole.parent.name
    if text in ("", ".", "..") or "/" in text or "\0" in text:
        raise StorageError(f"{entry} does not say where the session came from.")
    return text


def _put_back(entry: Trashed, file: Path, now: float) -> None:
    """The transcript goes last: until then it can be restored again."""
    beside = entry.folder / entry.session_id
    for source, target in ((beside, file.with_suffix("")), (entry.folder / file.name, file)):
        if os.path.lexists(source) and os.path.lexists(target):
            raise ReverieError(
                f"{target} is there again.",
                kept="Neither of the two was changed.",
                todo="Move one.",
            )
    os.utime(entry.folder / file.name, (now, now))
    if beside.is_dir():
        _move(beside, file.with_suffix(""))
    _move(entry.folder / file.name, file)
    _clear(entry.folder)


def empty_trash(projects: Path, days: int, now: float) -> int:
    """Remove for good what was thrown away over `days` days before `now`; returns how many."""
    old = [each for each in _entries(projects) if now - each.when > days * _DAY]
    for each in old:
        shutil.rmtree(each.folder, ignore_errors=True)
    return len(old)
