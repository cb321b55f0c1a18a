"""Documents that are open in the memory screen: read, written, changed under one's hands."""

from __future__ import annotations

import contextlib
from functools import partial

from textual import on
from textual.containers import Container
from textual.widgets import TextArea

from app.errors import ReverieError
from app.memory.edit_text import shown
from app.memory.pages import Clash, Page
from app.plain_text import plain_line
from app.state.model import Memory
from widgets.ask.choices import Choice
from widgets.conversation.blocks import NoteBlock
from widgets.memory.buffers import NEW, Buffer, Stamp
from widgets.memory.editor import Editor
from widgets.memory.preview import LONG, Rendered, render, render_around
from widgets.screens.memory_keys import Question
from widgets.screens.memory_view import PAUSE, MemoryView

QUIET = 0.3
"""Seconds without a key before a question comes that nobody asked for."""
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


class MemoryDocuments(MemoryView):
    """The buffers. Whoever reads or writes here holds the turn (`press`)."""

    _edits = 0
    _settles = False
    _previews = _previews_again = False
    _previewed = ""
    """The document in the preview."""

    # Opened and shown

    async def open_document(self, name: str, line: int = 0) -> None:
        """Show a document in the editor, at a line, counted from 1."""
        buffer = self._buffers.get(name)
        if buffer is None:
            try:
                page = await self._desk.read(name)
            except ReverieError as error:
                self.tell(str(error), "error")
                return
            buffer = await self._add(page)
        self.hold("document", name)
        self._show(buffer)
        if line:
            buffer.editor.move_cursor((line - 1, 0))
        self._enter("edit")
        self.call_after_refresh(buffer.editor.scroll_cursor_visible, center=bool(line))
        if buffer.theirs is not None:
            await self._ask_about(buffer)

    async def _add(self, page: Page) -> Buffer:
        text, shape = shown(page.text)
        buffer = Buffer(Editor(self, text), page, shape, self._stamp(page.name))
        await self.query_one("#memory-editors", Container).mount(buffer.editor)
        self._buffers[page.name] = buffer
        return buffer

    def _show(self, buffer: Buffer | None) -> None:
        """Let the editor of a document be seen, none with None; the preview follows."""
        self._shown = buffer
        for each in self._buffers.values():
            each.editor.display = each is buffer
        self.draw()
        self.preview_soon()

    async def _close(self, buffer: Buffer) -> None:
        del self._buffers[buffer.name]
        if self._shown is buffer:
            self._show(None)
        await buffer.editor.remove()

    def preview_soon(self) -> None:
        """Show the document in the editor, else the one under the cursor."""
        self._previews_again = True
        if self.is_there and not self._previews:
            self._previews = True
            self.run_worker(self._keep_previewing, group="preview")

    async def _keep_previewing(self) -> None:
        try:
            while self._previews_again:
                self._previews_again = False
                await self._preview()
        finally:
            self._previews = False

    async def _preview(self) -> None:
        buffer, row, at = self._shown, self.row, 0
        if buffer is not None:
            text, name = buffer.editor.text, buffer.name
            at = buffer.editor.cursor_location[0]
        elif row is not None and row.kind == "document":
            name = row.name
            if name != self._previewed:
                await self._controller.here.clock.sleep(PAUSE)
                if self._previews_again:
                    return
            try:
                text = shown((await self._desk.read(name)).text)[0]
            except ReverieError as error:
                self._show_rendered(([NoteBlock(plain_line(str(error)), "warn")], [0]), name)
                return
        else:
            text, name = "", ""
        rendered = render(text) if len(text) <= LONG else render_around(text.split("\n"), at)
        self._show_rendered(rendered, name)

    def _show_rendered(self, rendered: Rendered, name: str) -> None:
        self.pane.show_text(rendered, anew=name != self._previewed)
        self._previewed = name
        if self._shown is not None and self._shown.name == name:
            self.pane.follow_row(self._shown.editor.cursor_location[0])

    # After a pause

    @on(TextArea.Changed)
    @on(TextArea.SelectionChanged)
    def _touched(self) -> None:
        self._edits += 1
        if not self._settles:
            self._settles = True
            self.run_worker(self._settle, group="settle")

    async def _settle(self) -> None:
        try:
            seen = -1
            while seen != self._edits:
                seen = self._edits
                await self._controller.here.clock.sleep(PAUSE)
        finally:
            self._settles = False
        self.catch_up()

    def catch_up(self) -> None:
        """Bring marks, gauge and preview up to date with what was typed."""
        for buffer in self._buffers.values():
            buffer.mark = buffer.is_dirty
        self.measure_entry()
        self.draw()
        self.preview_soon()

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
            await self._clash(buffer, result.theirs)
            return False
        buffer.adopt(result)
        self.tell(f"Saved {plain_line(buffer.name)}.")
        self.catch_up()
        return True

    async def _clash(self, buffer: Buffer, theirs: Page) -> None:
        if theirs.version == NEW:
            self._gone(buffer)
            return
        buffer.theirs = theirs
        self._show(buffer)
        await self._ask_about(buffer)

    def _gone(self, buffer: Buffer) -> None:
        buffer.is_gone, buffer.theirs, buffer.stamp = True, None, None
        name = plain_line(buffer.name)
        words = f"{name} was deleted by another program. Its text is still here; ctrl+s writes it."
        self.tell(words, "warning")
        self.catch_up()

    async def _ask_about(self, buffer: Buffer) -> None:
        async def answer(value: str) -> None:
            await self._resolve(buffer, value)

        title = f"{plain_line(buffer.name)} was changed by another program while you wrote"
        await self.ask(Question(title, CLASH_WORDS, CLASH_CHOICES, answer))

    async def _resolve(self, buffer: Buffer, value: str) -> None:
        theirs = buffer.theirs
        if theirs is None or not value:
            return
        try:
            if value == "mine":
                buffer.adopt(theirs)
                await self.save(buffer)
            elif value == "theirs":
                await self._desk.set_aside(buffer.name, buffer.text)
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

    def _stamp(self, name: str) -> Stamp | None:
        known = (each for each in self._memory.documents if each.name == name)
        return next(((each.modified, each.size) for each in known), None)

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
        try:
            page = await self._desk.read(buffer.name)
        except ReverieError as error:
            self.tell(str(error), "warning")
            return
        buffer.stamp = stamp
        self.arrived(buffer, page)

    def arrived(self, buffer: Buffer, page: Page) -> None:
        """This is on disk now: a text without changes follows, any other one is asked about."""
        if page.version == buffer.page.version or page.text == buffer.text:
            buffer.adopt(page)
        elif not buffer.has_changed:
            buffer.follow(page)
        else:
            buffer.theirs, buffer.is_gone = page, False
            self.run_worker(partial(self._ask_when_quiet, buffer), group="clash", exclusive=True)
        self.catch_up()

    async def _ask_when_quiet(self, buffer: Buffer) -> None:
        seen = -1
        while seen != self._keys:
            seen = self._keys
            await self._controller.here.clock.sleep(QUIET)
        async with self._turn:
            if buffer.theirs is not None and buffer is self._shown and self.is_current:
                await self._ask_about(buffer)

    def on_screen_resume(self) -> None:
        """What was not asked while another screen was in front."""
        buffer = self._shown
        if buffer is not None and buffer.theirs is not None:
            self.run_worker(partial(self._ask_when_quiet, buffer), group="clash", exclusive=True)

    # Left

    @property
    def unsaved(self) -> list[Buffer]:
        """The documents with a text that is not on disk."""
        return [buffer for buffer in self._buffers.values() if buffer.is_dirty]

    async def set_all_aside(self) -> None:
        """Keep every unsaved text in the history. Raises `ReverieError`."""
        for buffer in self.unsaved:
            text = buffer.text
            if text != buffer.aside:
                await self._desk.set_aside(buffer.name, text)
                buffer.aside = text

    async def on_unmount(self) -> None:
        # The app is ending without having asked; a history that cannot be written either leaves
        # nobody who could be told.
        with contextlib.suppress(ReverieError):
            await self.set_all_aside()
        await self._desk.close()
