"""Finding transcripts: by id, by file, the newest of a project."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from app.errors import SessionNotFound
from app.paths import Places
from app.sessions.records import Record

_ID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")


def is_session_id(text: str) -> bool:
    """Whether the text has the form of a session id (a UUID)."""
    return _ID.fullmatch(text) is not None


def find_transcript(places: Places, folder: Path, session_id: str) -> Path:
    """The transcript of a session: of this project first, then of any other.

    Raises `SessionNotFound` for a malformed or unknown id (spec/sessions.md, Resume).
    """
    if not is_session_id(session_id):
        raise SessionNotFound(f"Invalid session ID: {session_id}")
    own = places.transcript(folder, session_id)
    if own.is_file():
        return own
    for found in sorted(places.projects.glob(f"*/{session_id}.jsonl")):
        if found.is_file():
            return found
    raise SessionNotFound(f"No conversation found with session ID: {session_id}")


def named_transcript(places: Places, folder: Path, text: str) -> Path:
    """The transcript of an id, or the file of a path. Raises `SessionNotFound`."""
    file = existing_path(folder, text)
    if file is not None and file.is_file():
        return file
    return find_transcript(places, folder, text)


def existing_path(folder: Path, text: str) -> Path | None:
    """What a person names, from `folder` on; None when there is nothing."""
    try:
        file = folder / Path(text).expanduser()
        return file if file.exists() else None
    except (OSError, RuntimeError, ValueError):  # a name too long, a closed folder, unknown ~user
        return None


def session_id_of(file: Path, records: Iterable[Record]) -> str:
    """The file's own name where that is an id, else the commonest id in its records."""
    if is_session_id(file.stem):
        return file.stem
    named = Counter(record.session_id for record in records if record.session_id)
    return named.most_common(1)[0][0] if named else file.stem


def is_own_transcript(projects: Path, file: Path) -> bool:
    """Whether a file is a session of ours: named by an id, right inside a project's folder."""
    inside = os.path.realpath(file.parent.parent) == os.path.realpath(projects)
    return inside and is_session_id(file.stem) and file.suffix == ".jsonl"


def newest_transcript(places: Places, folder: Path) -> Path | None:
    """The session of this project in which something was said last, None when there is none."""
    from app.sessions.glance import newest_of  # 8 ms that no other start has to pay

    return newest_of(transcripts(places, folder))


def transcripts(places: Places, folder: Path) -> list[tuple[float, Path]]:
    """`(time of the last write, file)` of the project's sessions, newest first.

    An empty file counts as none (transcripts.md, a14).
    """
    found: list[tuple[float, Path]] = []
    try:
        with os.scandir(places.project(folder)) as entries:
            for entry in entries:
                file = Path(entry.path)
                if file.suffix == ".jsonl" and is_session_id(file.stem) and entry.is_file():
                    seen = entry.stat()
                    if seen.st_size:
                        found.append((seen.st_mtime, file))
    except OSError:
        return []
    return sorted(found, reverse=True)
