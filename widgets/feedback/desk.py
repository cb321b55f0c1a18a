"""What the screen of feedback asks of whoever keeps the drafts."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Protocol

from app.background.feedback.drafts import Draft
from app.background.feedback.payload import Choice
from app.background.feedback.transcript import Transcript
from app.feedback_desk import Prepared


class FeedbackDesk(Protocol):
    """The outbox; the state's `feedback` follows it. Whatever fails raises `ReverieError`."""

    async def look(self) -> None:
        """Find out anew what lies in the outbox."""
        ...

    async def write(self, text: str) -> Draft:
        """A draft of the person's own."""
        ...

    async def put_back(self, draft: Draft) -> None:
        """Store a draft that was discarded."""
        ...

    async def read(self, draft_id: str) -> Draft:
        """A draft as it stands on disk."""
        ...

    async def save(self, before: Draft, title: str, body: str, evidence: str) -> Draft:
        """Give a draft other texts, where it still has those of `before`."""
        ...

    async def set_aside(self, draft_id: str, text: str) -> Path:
        """Keep a text that its draft cannot take in a file."""
        ...

    async def discard(self, draft_id: str) -> Draft:
        """Delete a draft; returns it."""
        ...

    async def transcript(self, draft: Draft) -> Transcript:
        """The branch in use of the draft's session."""
        ...

    async def prepare(
        self,
        draft: Draft,
        transcript: Transcript | None = None,
        chosen: Choice | None = None,
        restored: Collection[str] = (),
    ) -> Prepared:
        """What would leave."""
        ...

    def send(self, prepared: Prepared, *, again: bool = False) -> None:
        """Send exactly what was prepared; how it ended is told by the state."""
        ...

    def stop(self) -> None:
        """Stop the attempt that goes on."""
        ...

    async def export(self, prepared: Prepared, name: str) -> Path:
        """Write what would leave to a file; the draft stays."""
        ...
