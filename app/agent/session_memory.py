"""The project's memory as one session uses it: who writes, and what it knows already."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.agent.tools.base import CALL
from app.memory.documents import Documents, version_of
from app.memory.index import Index
from app.storage.documents import Author, Change


@dataclass(slots=True)
class SessionMemory:
    """What the memory tool works on."""

    documents: Documents
    index: Index
    session_id: str
    written: dict[str, str] = field(default_factory=dict[str, str])
    """By name the version that the model itself has left: it need not be told of it."""

    def author(self, why: str) -> Author:
        """The assistant, in the call that runs."""
        return Author("assistant", self.session_id, CALL.get(), why)

    def wrote(self, change: Change) -> None:
        """Remember that the model knows the document as it is now."""
        data = None if change.after is None else self.documents.store.text_of(change.after)
        self.written[change.name] = version_of(data)
