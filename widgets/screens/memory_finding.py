"""Find and replace in a document, search over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from textual import on
from textual.widgets import Input
from textual.widgets.text_area import Selection

from app.errors import ReverieError
from app.memory.pages import Found
from widgets.cells import Cell
from widgets.looks import glyphs_of
from widgets.memory.finding import Place, find_all, next_hit, replaced
from widgets.memory.rows import hit_cells
from widgets.screens.memory_changed import MemoryChanged
from widgets.screens.memory_view import PAUSE
from widgets.tree.tree_list import TreeList


class MemoryFinding(MemoryChanged):
    """The lines that are typed into, but for names."""

    _find_words = ""
    _find_from: Place = (0, 0)
    """Where the cursor was when the words were begun."""
    _sought = ""
    """What the list of hits was found for."""
    _found: Sequence[Found] = ()
    _found_at = 0
    _is_searching = False

    @on(Input.Changed)
    def _line_changed(self) -> None:
        self.follow_line()

    def follow_line(self) -> None:
        """Look for what stands in the line now."""
        if self._mode == "find":
            self._find_now()
        elif self._mode == "search" and self.line.value != self._sought:
            self._sought, self._is_searching = self.line.value, True
            self._show_hits()
            self.run_worker(partial(self._search, wait=True), group="search", exclusive=True)

    # In the document

    async def action_find(self) -> None:
        """Look for words in the document."""
        if self._shown is None:
            return
        editor = self._shown.editor
        chosen = editor.selected_text
        words = chosen if chosen and "\n" not in chosen else self._find_words
        self._find_from, self._find_words = min(editor.selection), ""
        self._enter("find", " find ", words, chosen=True)
        self._find_now()

    def _find_now(self) -> None:
        if self._shown is not None and self.line.value != self._find_words:
            self._find_words = self.line.value
            editor = self._shown.editor
            editor.seek(self._find_words)
            hits = find_all(editor.document.lines, self._find_words)
            if hits:
                self._select(*hits[next_hit(hits, self._find_from, 1)])
            self._count(hits)

    def _select(self, start: Place, end: Place) -> None:
        if self._shown is not None:
            self._shown.editor.selection = Selection(start, end)

    def _count(self, hits: Sequence[tuple[Place, Place]]) -> None:
        """Say which of how many hits is chosen."""
        if self._shown is None:
            return
        chosen = tuple(self._shown.editor.selection)
        number = next((i for i, hit in enumerate(hits, 1) if hit == chosen), 0)
        count = f"{number} of {len(hits)}" if hits else "none" if self._find_words else ""
        asks = "find" if self._mode == "find" else f"replace “{self._find_words}” with"
        self._said = f" {asks} {f'({count}) ' if count else ''}"
        self.draw_around()

    async def action_next_place(self, step: int) -> None:
        """To the next place, or to the one before it; round the end."""
        self.follow_line()
        if self._shown is None:
            return
        hits = find_all(self._shown.editor.document.lines, self._find_words)
        if hits:
            start, end = sorted(self._shown.editor.selection)
            self._select(*hits[next_hit(hits, end if step > 0 else start, step)])
        self._count(hits)

    async def action_replace_words(self) -> None:
        """Ask what takes the place of the words; they are asked for first where there are none."""
        if self._mode != "find":
            await self.action_find()
        self.follow_line()
        if self._shown is not None and self._find_words:
            self._enter("replace")
            self._count(find_all(self._shown.editor.document.lines, self._find_words))

    async def action_replace_one(self) -> None:
        """Replace the chosen place and go to the next one."""
        if self._shown is None:
            return
        editor = self._shown.editor
        chosen = tuple(sorted(editor.selection))
        if chosen in find_all(editor.document.lines, self._find_words):
            editor.history.checkpoint()
            done = editor.replace(self.line.value, *chosen)
            editor.selection = Selection.cursor(done.end_location)
        await self.action_next_place(1)

    async def action_replace_all(self) -> None:
        """Replace every place, as one step that can be undone."""
        if self._shown is None:
            return
        editor = self._shown.editor
        hits = find_all(editor.document.lines, self._find_words)
        if hits:
            first, last = hits[0][0][0], hits[-1][0][0]
            lines = editor.document.lines[first : last + 1]
            editor.history.checkpoint()
            text = replaced(lines, self._find_words, self.line.value)
            editor.replace(text, (first, 0), (last, len(lines[-1])))
            editor.history.checkpoint()
        self.tell(f"{len(hits)} replaced; ctrl+z in the editor takes it back.")
        await self.action_leave_line()

    async def action_leave_line(self) -> None:
        """Back to where the line was asked for."""
        was = self._mode
        for buffer in self._buffers.values():
            buffer.editor.seek("")
        self._enter("edit" if was in {"find", "replace"} else "list")

    # In all documents

    async def action_search(self) -> None:
        """Look for words in all names and texts."""
        self._found, self._sought, self._found_at = (), "", 0
        self._enter("search", " search names and texts ")
        self._show_hits()

    async def _search(self, *, wait: bool) -> None:
        words = self._sought
        if wait:
            await self._controller.here.clock.sleep(PAUSE)
        try:
            found = await self._desk.search(words) if words.strip() else []
        except ReverieError as error:
            self.tell(str(error), "error")
            found = []
        if words == self._sought:
            self._found, self._found_at, self._is_searching = found, 0, False
            self._show_hits()

    @property
    def _hits(self) -> TreeList:
        return self.query_one("#memory-hits", TreeList)

    def _show_hits(self) -> None:
        if not self.is_there:
            return
        if self._is_searching:
            empty = f"searching{glyphs_of(self.app).more}"
        elif self._sought.strip():
            empty = f"No document holds “{self._sought.strip()}”."
        else:
            empty = "Type what is sought: a name, or words of a text."
        self._hits.show(len(self._found), self._found_at, (empty,))

    def hit_cells(self, index: int, width: int) -> Sequence[Cell]:
        chosen = index == self._found_at
        words = self._sought.strip()
        return hit_cells(self._found[index], width, words, glyphs_of(self.app), chosen=chosen)

    async def action_move_hit(self, step: int) -> None:
        """To another hit, of the words as they are by now."""
        await self._search_typed()
        self._found_at = min(max(self._found_at + step, 0), max(len(self._found) - 1, 0))
        self._hits.move(self._found_at)

    async def action_page_hits(self, step: int) -> None:
        await self.action_move_hit(step * self._hits.page)

    async def _search_typed(self) -> None:
        """Have the hits of what was typed, also when the next key comes before them."""
        self.follow_line()
        if self._is_searching:
            self.workers.cancel_group(self, "search")
            await self._search(wait=False)

    async def action_open_hit(self) -> None:
        """Open the document at the line that was found."""
        await self._search_typed()
        if self._found_at < len(self._found):
            found = self._found[self._found_at]
            self._enter("list")
            await self.open_document(found.name, found.line)
