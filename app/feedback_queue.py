"""The outbox as the model's tool sees it: it takes a session's reports and sends nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeAlias

from app.agent.tools.base import ReportQueue, ToolFailure
from app.background.feedback.drafts import Draft, DraftTooLarge, new_draft
from app.background.feedback.outbox import Outbox
from app.config import Settings
from app.errors import StorageError
from app.installation import Installation, Options

Queued: TypeAlias = Callable[[Draft, tuple[Draft, ...]], None]
"""Told of a draft that was stored, and of those that had to leave for it, oldest first."""


def report_queue(
    here: Installation, options: Options, settings: Settings, session_id: str, queued: Queued
) -> ReportQueue | None:
    """Where the reports of a session's model go to; opens nothing.

    None where drafts are off, and where the session is to leave nothing on disk.
    """
    if settings.feedback.drafts == "off" or not options.persist:
        return None
    return OutboxQueue(here, session_id, queued)


class OutboxQueue:
    """Stores reports as drafts about one session; see `ReportQueue`."""

    def __init__(self, here: Installation, session_id: str, queued: Queued) -> None:
        """`queued` is called on the loop on which the report was made."""
        self._outbox = Outbox(here.places.data / "feedback", here.clock)
        self._here = here
        self._session_id = session_id
        self._queued = queued

    async def __call__(self, title: str, body: str, *, category: str, evidence: str) -> str:
        loop = asyncio.get_running_loop()

        def store() -> str:
            draft = new_draft(
                self._here.clock,
                title,
                body,
                category=category,
                evidence=evidence,
                session_id=self._session_id,
                project=str(self._here.folder),
            )
            evicted = self._outbox.add(draft)
            # From the thread, so that a draft is told of even when its turn was stopped meanwhile.
            loop.call_soon_threadsafe(self._queued, draft, evicted)
            return draft.id

        try:
            return await asyncio.to_thread(store)
        except DraftTooLarge as error:
            raise ToolFailure(str(error)) from error
        except StorageError as error:
            raise ToolFailure(f"The report could not be queued: {error.happened}") from error
