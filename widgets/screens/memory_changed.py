"""Open documents that are written, and those that others change under one's hands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from app.errors import ReverieError
from app.memory.pages import Clash, Page
from app.plain_text import plain_line
from app.state.model import Memory
from widgets.ask.choices import Choice
from widgets.memory.around import ENTRY
from widgets.memory.buffers import NEW, Buffer
from widgets.screens.memory_documents import MemoryDocuments
from widgets.screens.memory_keys import Question

T = TypeVar("T")
CLASH_CHOICES = (
    Choice("1", "Keep mine", "mine", "mine"),
    Choice("2", "Take theirs", "theirs", "theirs"),
    Choice("3", "merge", "merge"),
)
CLASH_WORDS = (
    "mine    your text is written over theirs, which stays in the history",
    "theirs  what is on disk is shown; your text is kept in the history",
    "merge   both changes in one text; what both changed stands between marks",
)
TROUBLE_CHOICES = (Choice("1", "Keep mine", "mine", "mine"), Choice("2", "Leave it", "", "Leave"))
TROUBLE_WORDS = (
    "mine    your text is written over it; what is there stays in the history",
    "leave   nothing is written; your text stays in the editor",
)


class MemoryChanged(MemoryDocuments):
    """What is on disk under the open documents."""

    # Written

    async def action_save(self) -> None:
        """Write the document in the editor, in the list the one under the cursor."""
        row = self.row
        under = self._buffers.get(row.name) if row is not None and self._mode == "list" else None
        buffer = under or self._shown
        if buffer is None:
            self.tell("No document is open: nothing to save.")
        elif buffer.is_dirty or buffer.is_unwritten:
            await self.save(buffer)
        else:
            self.tell(f"{plain_line(buffer.name)} is saved already.")

    async def save(self, buffer: Buffer) -> bool:
        """Write a document; False where it was not written, and its text is still here."""
        try:
            result = await self._desk.save(buffer.base, buffer.text)
        except ReverieError as error:
            self.tell(str(error), "error")
            return False
        if isinstance(result, Clash):
            self._clash(buffer, result)
            return False
        buffer.adopt(result)
        self.tell(f"Saved {plain_line(buffer.name)}.")
        self.catch_up()
        return True

    # In conflict

    def _clash(self, buffer: Buffer, clash: Clash) -> None:
        if clash.theirs.version == NEW:
            self._gone(buffer)
            return
        buffer.theirs, buffer.trouble = clash.theirs, clash.trouble
        self._show(buffer)
        self.ask_when_quiet()

    def late_question(self) -> Question | None:
        """What becomes of a text under which another one is on disk."""
        buffer = self._shown
        if buffer is None or buffer.theirs is None:
            return None
        name, answer = plain_line(buffer.name), partial(self._resolve, buffer)
        if buffer.trouble:
            body = (plain_line(buffer.trouble), *TROUBLE_WORDS)
            title = f"{name} was made into something that cannot be shown"
            return Question(title, body, TROUBLE_CHOICES, answer)
        title = f"{name} was changed by another program while you wrote"
        return Question(title, CLASH_WORDS, CLASH_CHOICES, answer)

    async def _resolve(self, buffer: Buffer, value: str) -> None:
        theirs = buffer.theirs
        if theirs is None or not value:
            return
        try:
            if value == "mine":
                buffer.adopt(theirs)
                await self.save(buffer)
            elif value == "theirs":
                await self.set_aside(buffer)
                buffer.follow(theirs)
                self.tell("Your text is in the history: h in the list shows it.")
            else:
                await self._merge(buffer, theirs)
        except ReverieError as error:
            self.tell(str(error), "error")
        self.catch_up()

    async def _merge(self, buffer: Buffer, theirs: Page) -> None:
        merged = await self._desk.merge(buffer.page, buffer.text, theirs)
        buffer.adopt(theirs)
        buffer.take(merged.text)
        if merged.conflicts:
            places = f"{merged.conflicts} place{'' if merged.conflicts == 1 else 's'}"
            words = f"Both changed the same lines in {places}: choose between the marks, then save."
            self.tell(words, "warning")
        else:
            self.tell("Both changes are in the text; ctrl+s writes it.")

    # Changed by others

    def _gone(self, buffer: Buffer) -> None:
        buffer.is_gone, buffer.trouble, buffer.theirs, buffer.stamp = True, "", None, None
        name = plain_line(buffer.name)
        words = f"{name} was deleted by another program. Its text is still here; ctrl+s writes it."
        self._warn(buffer, words)

    def _warn(self, buffer: Buffer, words: str) -> None:
        self.untell(buffer.warning)
        buffer.warning = words
        self.tell(words, "warning")
        self.catch_up()

    def _memory_changed(self, memory: Memory) -> None:
        super()._memory_changed(memory)
        self.run_worker(self._follow_disk, group="disk")

    async def _follow_disk(self) -> None:
        """Look at each open document that is another one on disk than it was."""
        async with self._turn:
            for buffer in tuple(self._buffers.values()):
                await self._compare(buffer)
        if self._shown is None:
            self.preview_soon()

    async def _compare(self, buffer: Buffer) -> None:
        stamp = self._stamp(buffer.name)
        if stamp == buffer.stamp:
            return
        if stamp is None:
            self._gone(buffer)
            return
        buffer.stamp = stamp
        try:
            page = await self._desk.read(buffer.name)
        except ReverieError as error:
            buffer.trouble, buffer.theirs = str(error), None
            kept = "Its text is still in the editor; ctrl+s asks what becomes of it."
            self._warn(buffer, f"{plain_line(str(error))} {kept}")
            return
        self.arrived(buffer, page)

    def arrived(self, buffer: Buffer, page: Page) -> None:
        """This is on disk now: a text without changes follows, any other one is asked about."""
        if page.version == buffer.page.version or page.text == buffer.text:
            buffer.adopt(page)
        elif not buffer.has_changed:
            buffer.follow(page)
        else:
            buffer.theirs, buffer.is_gone, buffer.trouble = page, False, ""
            self.ask_when_quiet()
        self.catch_up()

    def on_screen_resume(self) -> None:
        """What was not asked while another screen was in front."""
        if self.late_question() is not None:
            self.ask_when_quiet()

    # Changed by ourselves

    async def on_disk(self, name: str) -> Page | None:
        """A document as it is now; None where there is none that can be read."""
        known = any(each.name == name for each in self._memory.documents)
        try:
            page = await self._desk.read(name) if known else None
        except ReverieError:
            return None
        return None if page is None or page.version == NEW else page

    async def with_links(self, name: str, change: Callable[[], Awaitable[T]]) -> T:
        """Change a document, and in the entry the links to it: in its unsaved text too.

        Gives what `change` gives. What another program did to the entry before is asked about as
        ever. Raises what `change` raises.
        """
        entry = self._buffers.get(ENTRY) if name != ENTRY else None
        before = None if entry is None else await self.on_disk(ENTRY)
        done = await change()
        page = None if entry is None else await self.on_disk(ENTRY)
        if entry is None or before is None or page is None:
            return done
        if before.version == entry.page.version != page.version:
            await self._take_links(entry, page)
        return done

    async def _take_links(self, entry: Buffer, page: Page) -> None:
        if not entry.has_changed:
            entry.follow(page)
            return
        merged = await self._desk.merge(entry.page, entry.text, page)
        entry.adopt(page)
        if merged.conflicts:
            words = "the links in its unsaved text stay as you wrote them. Look at them, then save."
            self.tell(f"{ENTRY} on disk has followed; {words}", "warning")
        else:
            entry.take(merged.text)
