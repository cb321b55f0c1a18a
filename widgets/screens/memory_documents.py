"""Documents that are open in the memory screen, what is seen of them, and how they are left."""

from __future__ import annotations

import contextlib

from textual import on
from textual.containers import Container
from textual.widgets import TextArea

from app.errors import ReverieError
from app.memory.edit_text import shown
from app.memory.pages import Page
from app.plain_text import plain_line
from widgets.conversation.blocks import NoteBlock
from widgets.memory.buffers import Buffer, Stamp
from widgets.memory.editor import Editor
from widgets.memory.preview import LONG, Rendered, render, render_around
from widgets.screens.memory_view import PAUSE, MemoryView


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
            self.ask_when_quiet()

    def _stamp(self, name: str) -> Stamp | None:
        known = (each for each in self._memory.documents if each.name == name)
        return next(((each.modified, each.size) for each in known), None)

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

    def _close(self, buffer: Buffer) -> None:
        del self._buffers[buffer.name]
        self.untell(buffer.warning)
        if self._shown is buffer:
            self._show(None)
        buffer.editor.remove()  # not awaited: a key may wait in it until this one has acted

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
            if buffer.warning and not (buffer.is_gone or buffer.trouble):
                self.untell(buffer.warning)
                buffer.warning = ""
        self.measure_entry()
        self.draw()
        self.preview_soon()

    # Left

    @property
    def unsaved(self) -> list[Buffer]:
        """The documents with a text that is not on disk."""
        return [buffer for buffer in self._buffers.values() if buffer.is_dirty]

    async def set_all_aside(self) -> None:
        """Keep every unsaved text in the history. Raises `ReverieError`."""
        for buffer in self.unsaved:
            await self.set_aside(buffer)

    async def set_aside(self, buffer: Buffer) -> None:
        """Keep the text of a document in the history. Raises `ReverieError`."""
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
