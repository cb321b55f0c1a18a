"""The history of a document: its versions, what each changed, and the way back to one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from app.errors import ReverieError
from app.memory.pages import Page, PastVersion
from app.patch import structured_patch
from app.plain_text import plain_line
from widgets.cells import Cell
from widgets.conversation.blocks import Block, CardBlock, NoteBlock
from widgets.conversation.cards import count_changes
from widgets.looks import glyphs_of
from widgets.memory.rows import moment_in_words, version_cells
from widgets.screens.memory_finding import MemoryFinding
from widgets.tree.preview import BlockPane
from widgets.tree.tree_list import TreeList


class MemoryPast(MemoryFinding):
    """The view of one document's history."""

    _past_name = ""
    _versions: Sequence[PastVersion] = ()
    _version = 0
    _is_against_now = False

    @property
    def _past(self) -> TreeList:
        return self.query_one("#memory-versions", TreeList)

    @property
    def _diff_pane(self) -> BlockPane:
        return self.query_one("#memory-diff", BlockPane)

    async def action_history(self) -> None:
        """Show what became of the document under the cursor."""
        row = self.row
        if row is None or row.kind in {"folder", "trash"}:
            return
        self._past_name, self._version, self._is_against_now = row.name, 0, False
        await self._read_versions()
        if not self._versions:
            self.tell(f"{plain_line(row.name)} has no history yet: nothing has changed it.")
            return
        self._enter("history", f" history of {plain_line(row.name)}")
        self._show_version()

    async def _read_versions(self) -> None:
        try:
            self._versions = await self._desk.history(self._past_name)
        except ReverieError as error:
            self._versions = ()
            self.tell(str(error), "error")

    def version_cells(self, index: int, width: int) -> Sequence[Cell]:
        now, chosen = self._controller.here.clock.now(), index == self._version
        return version_cells(self._versions[index], width, now, glyphs_of(self.app), chosen=chosen)

    def _show_version(self) -> None:
        self._past.show(len(self._versions), self._version, ())
        self.run_worker(self._show_diff, group="diff", exclusive=True)

    async def _show_diff(self) -> None:
        version = self._versions[self._version]
        try:
            if self._is_against_now:
                past = await self._desk.past_text(self._past_name, version.id)
                now = await self._text_now()
                hunks = await asyncio.to_thread(structured_patch, past, now)
                title = "From this version to now"
            else:
                hunks = await self._desk.diff(self._past_name, version.id)
                title = "What this change did"
        except ReverieError as error:
            self._diff_pane.show([NoteBlock(plain_line(str(error)), "warn")])
            return
        blocks: list[Block] = [NoteBlock(self._about(version)), NoteBlock(f"{title}:", "accent")]
        if hunks:
            added, removed = count_changes(hunks)
            note = f"+{added} −{removed}"
            name = plain_line(version.name or self._past_name)
            details = {"structuredPatch": hunks}
            blocks.append(
                CardBlock("", "Change", name, "ok", details=details, note=note, fold="full")
            )
        else:
            blocks.append(NoteBlock("No line is different."))
        self._diff_pane.show(blocks)

    async def _text_now(self) -> str:
        buffer = self._buffers.get(self._past_name)
        if buffer is not None:
            return buffer.text
        known = any(each.name == self._past_name for each in self._memory.documents)
        return (await self._desk.read(self._past_name)).text if known else ""

    def _about(self, version: PastVersion) -> str:
        now = self._controller.here.clock.now()
        parts = [moment_in_words(version.at, now), version.who, version.what, version.why]
        if version.session_id:
            parts.append(f"in session {version.session_id[:8]}")
        return " · ".join(plain_line(part) for part in parts if part)

    def action_move_version(self, step: int) -> None:
        self._version = min(max(self._version + step, 0), len(self._versions) - 1)
        self._show_version()

    def action_end_version(self, step: int) -> None:
        self.action_move_version(step * len(self._versions))

    def action_page_diff(self, step: int) -> None:
        self._diff_pane.scroll_pages(step)

    def action_against_now(self) -> None:
        """What the version and the text of now differ in, or again what the change did."""
        self._is_against_now = not self._is_against_now
        self._show_version()

    async def action_restore_version(self) -> None:
        """Make the version the document's text again; the text of now stays in the history."""
        version = self._versions[self._version]
        at = moment_in_words(version.at, self._controller.here.clock.now())
        try:
            done = await self._restore(version, f"as it was at {at}")
        except ReverieError as error:
            self.tell(str(error), "error")
            return
        self.tell(done)
        self.catch_up()
        await self._read_versions()
        self._version = 0
        if self._versions:
            self._show_version()
        else:
            self.action_leave_history()

    async def _restore(self, version: PastVersion, as_it_was: str) -> str:
        """Write and show the version, an unsaved text put aside first; says what was done."""
        name, buffer = plain_line(self._past_name), self._buffers.get(self._past_name)
        wanted = await self._desk.past_text(self._past_name, version.id)
        page = await self.on_disk(self._past_name)
        is_written = page is not None and page.text == wanted
        is_other = buffer is not None and buffer.is_dirty and buffer.text != wanted
        if buffer is not None and is_other:
            await self.set_aside(buffer)
        if page is None or not is_written:
            page = await self.restored(self._past_name, version.id)
        if buffer is not None and buffer.text != page.text:
            buffer.follow(page)
        elif buffer is not None:
            buffer.adopt(page)
        if is_written and is_other:
            return f"{name} is shown {as_it_was}, and so on disk. Your text is in the history."
        if is_written:
            return f"{name} is {as_it_was} already: nothing was written."
        kept = "The text before and your unsaved one stay" if is_other else "The text before stays"
        return f"{name} is again {as_it_was}. {kept} in the history."

    async def restored(self, name: str, change_id: str) -> Page:
        """Make a past version the document's text; the entry may list it again.

        Raises `ReverieError`.
        """
        return await self.with_links(name, partial(self._desk.restore, name, change_id))

    def action_leave_history(self) -> None:
        """Back to the list."""
        self._enter("list")
        self.preview_soon()
