"""Finds the sessions of a project that share a beginning with another one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from app.errors import StorageError
from app.sessions.codec import parse_transcript
from app.sessions.family import Member
from app.sessions.glance import SessionSummary
from app.sessions.graph import open_view
from app.sessions.listing import list_folder
from app.sessions.outline import Outline, outline
from app.storage.local import FileLog

HEAD, MOST_HEAD = 16_384, 1 << 20
"""Bytes of a file in which the uuid of its first message is looked for, at first and at most."""
_UUID = re.compile(rb'"uuid": ?"([0-9A-Za-z-]+)"')


def relatives(
    first: Member, folder: Path, is_wanted: Callable[[], bool] = lambda: True
) -> Iterator[Member]:
    """Ancestors, siblings and descendants of a session, as they are read.

    They are found by the `forkedFrom` of their records and, where a fork kept the uuids of its
    source, by the uuid of their first message (transcripts.md, a14 and quirk 9). A file that
    cannot be read is left out. Ends as soon as `is_wanted` says no.
    """
    waiting = {each.path: each for each in list_folder(folder) if is_wanted()}
    waiting = {p: each for p, each in waiting.items() if each.session_id != first.session_id}
    family = _Kin(first)
    begins = {file: _first_uuid(file) for file in waiting if is_wanted()}
    grown = True
    while grown:
        grown = False
        for file, each in list(waiting.items()):
            if not is_wanted():
                return
            if family.has(each, begins[file]):
                del waiting[file]
                member = _read(each)
                if member is not None:
                    grown = True
                    family.add(member)
                    yield member


class _Kin:
    """What the sessions of a family are known by."""

    def __init__(self, first: Member) -> None:
        self._sessions: set[str] = set()
        self._outlines: list[Outline] = []
        self.add(first)

    def add(self, member: Member) -> None:
        self._sessions.add(member.session_id)
        self._sessions.update(session for session, _ in member.outline.sources.values())
        self._outlines.append(member.outline)

    def has(self, each: SessionSummary, begins: str) -> bool:
        if each.session_id in self._sessions or each.forked_from in self._sessions:
            return True
        return any(begins in known.view.graph.position for known in self._outlines)


def _first_uuid(file: Path) -> str:
    try:
        with file.open("rb") as source:
            head = source.read(HEAD)
            found = _UUID.search(head) or _UUID.search(head + source.read(MOST_HEAD - HEAD))
    except OSError:
        return ""
    return found[1].decode() if found else ""


def _read(each: SessionSummary) -> Member | None:
    try:
        records = parse_transcript(FileLog(each.path).read()).records
    except StorageError:
        return None
    return Member(each.session_id, each.title, outline(open_view(records), each.session_id))
