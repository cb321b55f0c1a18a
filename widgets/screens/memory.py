"""Memory: what later requests load, to be read, edited, compared with what it was, and restored."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType

from app.errors import ReverieError
from app.plain_text import plain_line
from widgets.ask.choices import Choice
from widgets.memory.key_line import key_rows
from widgets.notices import NoticeRows
from widgets.screens.chat_commands import ChatCommands
from widgets.screens.dialogs.help import HelpScreen
from widgets.screens.dialogs.memory_check import CheckScreen, Place
from widgets.screens.memory_keys import Question
from widgets.screens.memory_names import MemoryNames
from widgets.tree.tree_list import TreeList

MODES = (
    ("In the list of documents", "memory."),
    ("While you search", "memory_search."),
    ("While you find words in a document", "memory_find."),
    ("While you replace them", "memory_replace."),
    ("In the history of a document", "memory_history."),
)
"""Headings of the help, and how the ids of the keys below them begin."""
LINES = {"search", "name", "find", "replace"}
"""Modes in which a line is typed into; a click elsewhere leaves it."""
LEAVE_CHOICES = (
    Choice("1", "Save all", "save"),
    Choice("2", "Leave without saving", "leave", "Leave"),
    Choice("3", "Stay", ""),
)


class MemoryScreen(MemoryNames):
    """The list of documents and what is done with them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Open", id="memory.open"),
        Binding("h", "history", "History", id="memory.history"),
        Binding("n", "new", "New", id="memory.new"),
        Binding("m", "rename", "Rename", id="memory.rename"),
        Binding("delete", "trash", "Trash", id="memory.trash"),
        Binding("u", "restore", "Restore from trash", id="memory.restore"),
        Binding("slash", "search", "Search", id="memory.search"),
        Binding("c", "check", "Check", id="memory.check"),
        Binding("p", "preview", "Preview", id="memory.preview"),
        Binding("ctrl+s", "save", "Save", id="memory.save"),
        Binding("ctrl+e", "external", "$EDITOR", id="memory.external"),
        Binding("tab", "edit", "Editor", id="memory.edit"),
        Binding("up,k", "move(-1)", "Before", id="memory.up"),
        Binding("down,j", "move(1)", "Next", id="memory.down"),
        Binding("pageup", "page(-1)", "Page up", id="memory.page_up"),
        Binding("pagedown", "page(1)", "Page down", id="memory.page_down"),
        Binding("home,g", "end(-1)", "First", id="memory.first"),
        Binding("end,G", "end(1)", "Last", id="memory.last"),
        Binding("f1", "help", "Help", id="memory.help"),
        Binding("escape", "close", "Back", id="memory.back"),
        Binding("ctrl+c", "close", "Back", id="memory.give_up"),
        Binding("ctrl+q", "leave_app", "Leave", id="memory.leave_app"),
    ]

    async def on_mount(self) -> None:
        self.run_worker(self._open, group="open")

    async def _open(self) -> None:
        try:
            await self._desk.open()
        except ReverieError as error:
            self.tell(str(error), "error")
        self._is_read = True
        self.draw()
        self.preview_soon()

    # The list

    def action_move(self, step: int) -> None:
        self._go(self._cursor + step)

    def action_page(self, step: int) -> None:
        if self._reads:
            self.pane.scroll_pages(step)
        else:
            self._go(self._cursor + step * self.list.page)

    def action_end(self, step: int) -> None:
        self._go(len(self._rows) if step > 0 else 0)

    def _go(self, index: int) -> None:
        self.move_to(index)
        row = self.row
        self._show(self._buffers.get(row.name) if row and row.kind == "document" else None)

    @on(TreeList.Clicked, "#memory-list")
    async def _clicked(self, message: TreeList.Clicked) -> None:
        async with self._turn:
            if self._mode in LINES:
                await self.action_leave_line()
            if self._mode == "edit":
                self.action_leave_editor()
            if self._mode == "list":
                self._go(message.index)
                if message.opened:
                    await self.action_open()

    async def action_open(self) -> None:
        """Edit the document under the cursor."""
        row = self.row
        if row is None or row.kind in {"folder", "trash"}:
            return
        if row.kind == "trashed":
            keys = "u restores it, h shows what it was"
            self.tell(f"{plain_line(row.name)} is in the trash: {keys}.")
        elif row.document is not None and row.document.trouble:
            name = plain_line(row.name)
            self.tell(f"{name} cannot be opened: {plain_line(row.document.trouble)}.", "warning")
        else:
            await self.open_document(row.name)

    async def action_edit(self) -> None:
        """To the document that is open, else to the one under the cursor."""
        if self._shown is not None:
            self._enter("edit")
        else:
            await self.action_open()

    async def action_edit_clicked(self) -> None:
        """A click in the text: to it, unless something is asked."""
        if self._mode in LINES:
            await self.action_leave_line()
        if self._mode == "list":
            await self.action_edit()

    def action_leave_editor(self) -> None:
        """Back to the list; the text stays open."""
        if self._shown is not None:
            self.hold("document", self._shown.name)
        self._enter("list")

    def action_preview(self) -> None:
        """Show the preview or put it away; where there is no room, it takes the list's place."""
        if self.has_class("-narrow"):
            self._reads = not self._reads
        else:
            self._has_preview = not self._has_preview
        self.draw()

    # Elsewhere

    async def action_external(self) -> None:
        """Edit the document in the person's own editor; what comes back is not saved yet."""
        if self._mode == "list":
            await self.action_open()
        buffer = self._shown
        chats = (screen for screen in self.app.screen_stack if isinstance(screen, ChatCommands))
        chat = next(chats, None)
        if buffer is None or chat is None or self._mode != "edit":
            return
        text = buffer.editor.text
        edited = await chat.edit_in_editor(text)
        if edited is not None:
            buffer.take_typed(edited)
            self.catch_up()

    async def action_check(self) -> None:
        """Show what is wrong in the folder, and go where it is."""
        try:
            sections = await self._desk.check()
        except ReverieError as error:
            self.tell(str(error), "error")
            return
        await self.app.push_screen(CheckScreen(sections), self._go_to)

    async def _go_to(self, place: Place | None) -> None:
        if place is not None:
            async with self._turn:
                await self.open_document(*place)

    async def action_help(self) -> None:
        """Show every key of this screen."""
        nodes = {"memory.": self}
        sections = [(name, key_rows(nodes.get(ids, self.line), ids)) for name, ids in MODES]
        if self._shown is not None:
            sections.insert(1, ("In the editor", key_rows(self._shown.editor, "")))
        await self.app.push_screen(HelpScreen(sections))

    @on(NoticeRows.Read)
    def _notice_read(self, message: NoticeRows.Read) -> None:
        self._controller.notices.dismiss(message.notice_id)

    # Left

    async def action_close(self) -> None:
        """Let go of a warning, of the preview, else leave; an unsaved text is asked about."""
        if any(each.severity != "info" for each in self._controller.state.notices):
            self.query_one(NoticeRows).dismiss()
        elif self._reads and self.has_class("-narrow"):
            self.action_preview()
        else:
            await self._leave(self._dismiss)

    async def action_leave_app(self) -> None:
        """End the app; an unsaved text is asked about."""
        await self._leave(self.app.exit)

    def _dismiss(self) -> None:
        self.dismiss(None)

    async def _leave(self, go: Callable[[], object]) -> None:
        unsaved = self.unsaved

        async def answer(value: str) -> None:
            if value and await self._settle_unsaved(value):
                go()

        if not unsaved:
            go()
            return
        names = ", ".join(plain_line(buffer.name) for buffer in unsaved)
        body = (
            f"Not saved: {names}.",
            "Left without saving, each text goes into its document's history.",
        )
        await self.ask(Question("Leave the memory?", body, LEAVE_CHOICES, answer))

    async def _settle_unsaved(self, value: str) -> bool:
        """Save all, or put all aside; False where a text could not be kept."""
        if value == "save":
            for buffer in self.unsaved:
                if not await self.save(buffer):
                    return False
            return True
        try:
            await self.set_all_aside()
        except ReverieError as error:
            self.tell(str(error), "error")
            return False
        return True
