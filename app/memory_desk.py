"""Intents about memory: reading and changing its documents, their history, and watching them.

What the folder holds comes back as a fact; a document's text goes to whoever asked for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final

from app.agent.remembering import briefing_of, documents_of, session_memory
from app.compaction_desk import BUSY
from app.config import Settings
from app.errors import ReverieError, StorageError
from app.installation import Installation
from app.memory.documents import NEW, Documents
from app.memory.health import check
from app.memory.index import Index
from app.memory.merge import merge
from app.memory.pages import Clash, Found, Merged, Page, PastVersion
from app.memory.search import search
from app.memory.watch import changes_of
from app.memory_look import Section, health_rows, memory_of, texts_of, versions_of
from app.patch import structured_patch
from app.sessions.envelope import new_uuid
from app.sessions.graph import MEMORY_STRUCK
from app.state.facts import Fact, MemorySeen
from app.state.model import Memory, Severity
from app.storage.documents import Author
from app.storage.names import SUFFIX

if TYPE_CHECKING:
    from app.assembly import Runtime

EDITED: Final = Author("you", why="in the memory screen")


class MemoryDesk:
    """The memory of the project that the app was opened in."""

    def __init__(
        self,
        here: Installation,
        settings: Callable[[], Settings],
        emit: Callable[[Fact], None],
        notice: Callable[[str, Severity], None],
        runtime: Callable[[], Runtime],
        is_busy: Callable[[], bool],
        spawn: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]],
    ) -> None:
        """`spawn` runs a coroutine that ends with the app."""
        self._spawn = spawn
        self._here = here
        self._settings = settings
        self._emit = emit
        self._notice = notice
        self._runtime = runtime
        self._is_busy = is_busy
        self._folder, _history = here.memory_folders(settings())
        self._documents: Documents = documents_of(here, settings())
        self._watching: asyncio.Task[None] | None = None
        self._looking = asyncio.Lock()

    # Watching

    async def open(self) -> None:
        """Look at the folder, and go on looking when something changes in it."""
        await self._look()
        if self._watching is None or self._watching.done():
            self._watching = self._spawn(self._watch())

    async def close(self) -> None:
        """Watch the folder no longer."""
        task, self._watching = self._watching, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _watch(self) -> None:
        async with aclosing(changes_of(self._folder, self._here.clock)) as changes:
            async for _ in changes:
                await self._look()

    async def _look(self) -> None:
        async with self._looking:
            memory = await asyncio.to_thread(self._now)
        self._emit(MemorySeen(memory))

    def _now(self) -> Memory:
        return memory_of(self._documents, self._folder, is_on=self._settings().auto_memory)

    async def _changed(self, work: Callable[[], Any]) -> Any:
        """Change documents in a thread, then look at the folder."""
        done = await asyncio.to_thread(work)
        await self._look()
        return done

    # Documents

    async def read(self, name: str) -> Page:
        """A document as it is now. Raises `ReverieError`."""
        return await asyncio.to_thread(self._documents.read, name)

    async def save(self, page: Page, text: str) -> Page | Clash:
        """Write the text where the document still has the version of `page`.

        Raises `ReverieError`; then nothing was written.
        """

        def write() -> Page | Clash:
            done = self._documents.write(page.name, text, page.version, EDITED)
            if done.status == "written":
                return Page(page.name, text, done.version or NEW)
            if done.status == "conflict":
                return self._clash(page.name, done.current_version or NEW)
            raise StorageError(done.reason)

        return await self._changed(write)

    def _clash(self, name: str, version: str) -> Clash:
        try:
            return Clash(self._documents.read(name))
        except StorageError as error:
            return Clash(Page(name, "", version), str(error))

    async def merge(self, page: Page, text: str, theirs: Page) -> Merged:
        """What both sides made of the text of `page`."""
        return await asyncio.to_thread(merge, page.text, text, theirs.text)

    async def set_aside(self, name: str, text: str) -> None:
        """Keep an unsaved text in the document's history. Raises `ReverieError`."""
        await asyncio.to_thread(self._documents.set_aside, name, text, EDITED)

    async def create(self, name: str) -> Page:
        """An empty document of a name that can be used; nothing is written yet.

        Raises `ReverieError` for a name that cannot be used or is taken.
        """
        page = await self.read(name if name.endswith(SUFFIX) else f"{name}{SUFFIX}")
        if page.version != NEW:
            raise ReverieError(f"There is a document {page.name} already.")
        return page

    async def rename(self, name: str, new: str) -> str:
        """Give a document another name, which is returned; links in the entry follow.

        Raises `ReverieError`.
        """
        wanted = new if new.endswith(SUFFIX) else f"{new}{SUFFIX}"

        def rename() -> str:
            change = self._documents.rename(name, wanted, EDITED)
            self._documents.relink(name, change.name, EDITED)
            return change.name

        return await self._changed(rename)

    async def trash(self, name: str) -> None:
        """Take a document away; its history keeps it. Raises `ReverieError`."""

        def trash() -> None:
            self._documents.remove(name, EDITED)
            self._documents.unlink(name, EDITED)

        await self._changed(trash)

    # History

    async def restore(self, name: str, change_id: str) -> Page:
        """Make a past version the document's text again. Raises `ReverieError`."""
        author = Author("you", why=f"back to {change_id}")
        await self._changed(lambda: self._documents.restore(name, change_id, author))
        return await self.read(name)

    async def history(self, name: str) -> list[PastVersion]:
        """All versions of a document, newest first. Raises `ReverieError`."""
        return await asyncio.to_thread(versions_of, self._documents, name)

    async def diff(self, name: str, change_id: str) -> list[dict[str, Any]]:
        """What a change did, as hunks. Raises `ReverieError`."""

        def compare() -> list[dict[str, Any]]:
            before, after = texts_of(self._documents, name, change_id)
            return structured_patch(before, after)

        return await asyncio.to_thread(compare)

    async def past_text(self, name: str, change_id: str) -> str:
        """The text of a past version. Raises `ReverieError`."""
        return await asyncio.to_thread(self._documents.past_text, name, change_id)

    async def strike(self, name: str, change_id: str, tool_id: str) -> None:
        """Take back what the model has noted, and let it know. The rest of the document stays."""
        if self._is_busy():
            self._notice(BUSY, "warning")
            return
        author = Author("you", why="struck from the conversation")

        def revert() -> str:
            change = self._documents.revert(name, change_id, author)
            if change.after is None:
                self._documents.unlink(change.name, author)
            return change.name

        try:
            struck = await self._changed(revert)
        except ReverieError as error:
            self._notice(str(error), "warning")
            return
        conversation = self._runtime().conversation
        envelope = conversation.envelope
        payload = {"content": f"Struck from memory: {struck}", "toolUseID": tool_id}
        note = envelope.system(conversation.leaf, MEMORY_STRUCK, payload)
        conversation.append(note)
        words = (
            f"The person struck your last note in /memories/{struck}: it was wrong or not wanted. "
            "Do not note it again."
        )
        told = envelope.prompt(
            conversation.leaf, words, prompt_id=new_uuid(), permission_mode="", meta=True
        )
        conversation.append(told)

    # Looking

    async def search(self, query: str) -> list[Found]:
        """The names and lines that hold the words of a query."""

        def look() -> list[Found]:
            names = [each.name for each in self._documents.store.listing().documents]
            return search(self._documents.store, names, query)

        return await asyncio.to_thread(look)

    async def check(self) -> list[Section]:
        """The health of memory: headings, each with rows of words, document and line."""
        return await asyncio.to_thread(self._check)

    def _check(self) -> list[Section]:
        memory = session_memory(self._here, self._settings(), "")
        loaded = briefing_of(self._here, memory).load()
        store = self._documents.store
        contents = Index(store).contents()
        return health_rows(check(store, contents, loaded.entry, loaded.instructions))
