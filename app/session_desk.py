"""Intents about sessions that are not open: listing, searching, naming, exporting, throwing away.

Everything slow runs in a thread; what comes back is handed to the one who asked.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from app.agent.conversation import Conversation
from app.checkpoints.blobs import note_of
from app.config import Settings
from app.errors import ReverieError
from app.installation import Installation
from app.models.spending import tariff_of
from app.paths import create_private
from app.session_files import settle_rewind
from app.sessions.cleanup import remove_old_sessions
from app.sessions.codec import parse_transcript
from app.sessions.export import markdown_of
from app.sessions.glance import SessionSummary
from app.sessions.graph import MessageGraph, open_view
from app.sessions.listing import Scope, complete, list_sessions
from app.sessions.naming import rename, title_record
from app.sessions.search import Hit, Query, search_text, search_title
from app.sessions.summary import title_from
from app.sessions.trash import Trashed, restore, trash
from app.storage.local import FileLog

BATCH = 24
"""Files searched in one go: a cancelled search ends within as many."""
PAUSE = 0.12
"""Seconds without a key before texts are searched."""
LONGEST_NAME = 80
"""Characters of an exported file's name."""
MOST_BYTES = 240
"""Bytes of that name: a file system takes 255, with the number and the ending."""
MOST_NAMES = 1_000

_UNFIT = re.compile(r"[^\w .,+()-]+")


class SessionDesk:
    """The sessions of one installation as a person handles them."""

    def __init__(
        self,
        here: Installation,
        settings: Callable[[], Settings],
        current: Callable[[], str],
        conversation: Callable[[], Conversation],
    ) -> None:
        """`current` is the id of the session on screen, `conversation` what writes to it."""
        self._here = here
        self._settings = settings
        self._current = current
        self._conversation = conversation

    @property
    def current(self) -> str:
        """The id of the session on screen."""
        return self._current()

    async def clean_up(self) -> None:
        """Remove sessions that are older than the person wants to keep them."""
        days, keep = self._settings().cleanup_period_days, {self.current}
        now = self._here.clock.now().timestamp()
        await asyncio.to_thread(remove_old_sessions, self._here.places.projects, days, keep, now)

    async def list(self, scope: Scope) -> list[SessionSummary]:
        """The sessions of a scope, the one in which something was said last first."""
        here, tariff = self._here, tariff_of(self._settings())
        return await asyncio.to_thread(list_sessions, here.places, here.folder, scope, tariff)

    async def complete(
        self, found: Sequence[SessionSummary], known: Callable[[SessionSummary], None]
    ) -> None:
        """Read whole what was not, and tell `known` of each; ends soon after it is cancelled."""
        tariff = tariff_of(self._settings())
        loop, stopped = asyncio.get_running_loop(), threading.Event()

        def work() -> None:
            for each in complete(found, tariff):
                if stopped.is_set():
                    return
                loop.call_soon_threadsafe(known, each)

        try:
            await asyncio.to_thread(work)
        finally:
            stopped.set()

    def search_titles(self, found: Sequence[SessionSummary], text: str) -> list[Hit]:
        """The hits in titles and first prompts, at once."""
        query = Query(text)
        return [hit for each in found if (hit := search_title(each, query)) is not None]

    async def search(
        self, found: Sequence[SessionSummary], text: str, missed: set[Path]
    ) -> AsyncIterator[list[Hit]]:
        """Hits in messages as they come, at most one a session.

        Transcripts that could not be read to their end are put into `missed`.
        """
        query = Query(text)
        await self._here.clock.sleep(PAUSE)
        for start in range(0, len(found), BATCH):
            hits = await asyncio.to_thread(_search, found[start : start + BATCH], query, missed)
            if hits:
                yield hits

    async def rename(self, file: Path, title: str) -> None:
        """Name a session. Raises `ReverieError` when another process has it open."""
        if file.stem == self.current:
            self._conversation().append(title_record(file.stem, title))
        else:
            await asyncio.to_thread(rename, file, title)

    async def export(self, file: Path) -> Path:
        """Write a session as Markdown into the working folder, under a name that is free.

        Raises `StorageError` when it cannot be read or written, and `ReverieError` when it holds
        no message.
        """
        return await asyncio.to_thread(_export, file, self._here.folder)

    async def trash(self, file: Path) -> Trashed:
        """Move a session to the trash. Raises `ReverieError` when it is open."""
        now = self._here.clock.now().timestamp()
        await asyncio.to_thread(settle_rewind, note_of(file))
        return await asyncio.to_thread(trash, file, self._here.places.projects, now)

    async def restore(self, session_id: str) -> Path:
        """Take a session out of the trash. Raises `ReverieError` when that is not possible."""
        now = self._here.clock.now().timestamp()
        return await asyncio.to_thread(restore, self._here.places.projects, session_id, now)


def _search(found: Sequence[SessionSummary], query: Query, missed: set[Path]) -> list[Hit]:
    return [hit for each in found for hit in search_text(each, query, missed, most=1)]


def _export(file: Path, folder: Path) -> Path:
    records = parse_transcript(FileLog(file).read()).records
    view, title = open_view(records), title_from(records)
    if not view.graph.position:
        raise ReverieError(f"{file} holds no message that could be exported.")
    return export_branch(view.graph, view.leaf, title, file.stem, folder)


def export_branch(
    graph: MessageGraph, leaf: int | None, title: str, session_id: str, folder: Path
) -> Path:
    """Write the branch that ends in `leaf` as Markdown into a folder, under a name that is free.

    Raises `StorageError` when it cannot be written, and `ReverieError` without a free name.
    """
    content = markdown_of(graph, leaf, title).encode("utf-8", "replace")
    name = _file_name(title) or session_id
    for number in range(1, MOST_NAMES):
        target = folder / (f"{name}.md" if number == 1 else f"{name} {number}.md")
        with contextlib.suppress(FileExistsError):
            create_private(target, content)
            return target
    raise ReverieError(f"There are {MOST_NAMES} exports of this name in {folder} already.")


def _file_name(title: str) -> str:
    words = " ".join(_UNFIT.sub(" ", title).split())[:LONGEST_NAME]
    return words.encode()[:MOST_BYTES].decode("utf-8", "ignore").strip(" .")
