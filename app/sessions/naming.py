"""Gives a session another name: one more record, the last one counts (transcripts.md, a10)."""

from __future__ import annotations

from pathlib import Path

from app.errors import ReverieError, SessionNotFound
from app.plain_text import encodable
from app.sessions.ownership import claim
from app.sessions.records import Record, new_record
from app.sessions.summary import LONGEST_TITLE
from app.storage.local import FileLog


def title_record(session_id: str, title: str) -> Record:
    """The record that names a session. Raises `ReverieError` for a title without a letter."""
    text = encodable(" ".join(title.split()))[:LONGEST_TITLE]
    if not text:
        raise ReverieError("A title needs at least one letter.", kept="The old one stays.")
    return new_record({"type": "custom-title", "customTitle": text, "sessionId": session_id})


def rename(file: Path, title: str) -> None:
    """Name a session that no process has open.

    Raises `ReverieError` when one has, `SessionNotFound` when the file is gone, and
    `StorageError` when it cannot be written.
    """
    record = title_record(file.stem, title)
    if not file.is_file():
        raise SessionNotFound(f"No conversation found with session ID: {file.stem}")
    owner = claim(file, "The old title stays.")
    log = FileLog(file)
    try:
        log.append([record.raw])
    finally:
        log.close()
        owner.release()
