"""A transcript as the command line looks at it: an id's own file, or a file of any origin."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.errors import ReverieError, SessionNotFound
from app.installation import Installation
from app.sessions.branches import PromptTree, prompt_tree
from app.sessions.catalogue import named_transcript, newest_transcript, session_id_of
from app.sessions.codec import Parsed
from app.sessions.foreign.read import read_any
from app.sessions.glance import METADATA_TYPES
from app.sessions.graph import GraphView, open_view
from app.sessions.repair import repair_warnings
from app.sessions.summary import Warning as TranscriptWarning
from app.sessions.summary import title_from, warnings_of
from app.sessions.view import request_view
from app.storage.local import FileLog


@dataclass(frozen=True, slots=True)
class Transcript:
    """One transcript, read and seen from its newest leaf."""

    file: Path
    parsed: Parsed
    view: GraphView
    tree: PromptTree

    @property
    def session_id(self) -> str:
        """The file's own name where that is an id, else the commonest id in its records."""
        return session_id_of(self.file, self.parsed.records)

    @property
    def title(self) -> str:
        """The session's title."""
        return title_from(self.parsed.records)

    @property
    def warnings(self) -> tuple[TranscriptWarning, ...]:
        """What was repaired or left out, in the file and in its next request."""
        request = request_view(self.view.graph, self.view.leaf)
        return (*warnings_of(self.parsed, self.view.graph), *repair_warnings(request))


def read_transcript(file: Path) -> Transcript:
    """Read a transcript of any origin; it is not changed.

    Raises `StorageError` when it cannot be read and `ReverieError` when it is something else.
    """
    content = FileLog(file).read()
    parsed = read_any(content)
    view = open_view(parsed.records)
    has_messages = bool(view.graph.position)
    if content.strip() and not has_messages:
        known = any(record.type in METADATA_TYPES for record in parsed.records)
        if not known:
            raise ReverieError(
                f"{file} is not a transcript: none of its lines is a record of one.",
                kept="It was not changed.",
            )
    return Transcript(file, parsed, view, prompt_tree(view.graph))


def locate(here: Installation, text: str | None) -> Path:
    """The file of an id or a path, of this project's newest session when None.

    Raises `SessionNotFound`.
    """
    if text is None:
        newest = newest_transcript(here.places, here.folder)
        if newest is None:
            raise SessionNotFound("There is no conversation in this folder yet.")
        return newest
    return named_transcript(here.places, here.folder, text)
