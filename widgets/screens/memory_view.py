"""How the memory screen is laid out, drawn, and in which order its keys act."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from textual import events
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.content import Content
from textual.dom import DOMNode
from textual.widgets import Static

from app.memory.entry import gauge
from app.plain_text import cut, plain_line
from app.state import select
from app.state.model import Memory
from widgets.ask.choices import CRAMPED
from widgets.cells import Cell
from widgets.keys import hint
from widgets.looks import glyphs_of
from widgets.memory.around import ENTRY, gauge_words, head, left_out, left_out_by_size
from widgets.memory.key_line import KeyLine
from widgets.memory.preview import PreviewPane
from widgets.memory.rows import Row, document_rows, row_cells
from widgets.notices import NoticeRows
from widgets.screens.memory_keys import MemoryKeys, Mode
from widgets.tree.around import foot
from widgets.tree.preview import BlockPane
from widgets.tree.tree_list import TreeList

WIDE = 100
"""Columns from which on the parts stand side by side."""
PAUSE = 0.15
"""Seconds without a change after which gauge, marks and preview follow it."""
FOOTS: dict[Mode, tuple[str, ...]] = {
    "list": (
        "memory.open", "memory.history", "memory.new", "memory.rename", "memory.trash",
        "memory.search", "memory.check", "memory.preview", "memory.save", "memory.external",
    ),
    "edit": (
        "memory_edit.save", "memory_edit.find", "memory_edit.replace", "editor.undo",
        "editor.redo", "memory_edit.external", "memory_edit.help", "memory_edit.leave",
    ),
    "search": ("memory_search.open", "memory_search.next", "memory_search.leave"),
    "name": ("memory_name.take", "memory_name.leave"),
    "find": tuple(f"memory_find.{each}" for each in ("next", "before", "replace", "leave")),
    "replace": tuple(
        f"memory_replace.{each}" for each in ("one", "all", "next", "before", "find", "leave")
    ),
    "history": tuple(
        f"memory_history.{each}" for each in ("older", "diff", "restore", "page_down", "back")
    ),
    "choice": ("memory_choice.take", "memory_choice.cancel"),
}  # fmt: skip
TRASH_FOOT = ("memory.restore", "memory.history")
"""The keys on a document in the trash."""


class MemoryView(MemoryKeys):
    """The lists, the editors, the preview, and what stands around them."""

    CSS_PATH = "../../styles/memory.tcss"

    def compose(self) -> ComposeResult:
        yield Static(id="memory-head")
        yield Static(id="memory-problems")
        with Horizontal(id="memory-body"):
            yield TreeList(self._cells, id="memory-list")
            yield Container(id="memory-editors")
            yield TreeList(self.hit_cells, id="memory-hits")
            with Container(id="memory-history"):
                yield TreeList(self.version_cells, id="memory-versions")
                yield BlockPane(id="memory-diff")
            yield PreviewPane()
        yield NoticeRows()
        with Vertical(id="memory-question"):
            yield Static(id="memory-asked")
            yield Container(id="memory-choices")
        with Horizontal(id="memory-ask"):
            yield Static(id="memory-said")
            yield KeyLine(self)
        yield Static(id="memory-foot")

    def hit_cells(self, index: int, width: int) -> Sequence[Cell]:
        """The cells of a line that a search found."""
        raise NotImplementedError

    def version_cells(self, index: int, width: int) -> Sequence[Cell]:
        """The cells of a version."""
        raise NotImplementedError

    @property
    def list(self) -> TreeList:
        """The documents."""
        return self.query_one("#memory-list", TreeList)

    @property
    def pane(self) -> PreviewPane:
        """The preview."""
        return self.query_one(PreviewPane)

    async def on_mount(self) -> None:
        self.set_focus(self.line, scroll_visible=False)
        self._enter("list")
        self.follow(select.memory, self._memory_changed)

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < WIDE, "-narrow")
        self.set_class(event.size.height < CRAMPED, "-short")
        self._fit_question()
        self.draw()

    # Drawing

    def _memory_changed(self, memory: Memory) -> None:
        self._memory = memory
        self._is_read = self._is_read or bool(memory.folder)
        self.draw()

    @property
    def is_there(self) -> bool:
        """Not so before it is made and while it is taken apart, when late news still come."""
        return self.is_mounted and self in self.app.screen_stack

    @property
    def row(self) -> Row | None:
        """The line under the cursor."""
        return self._rows[self._cursor] if self._cursor < len(self._rows) else None

    def draw(self) -> None:
        """Bring the list and the lines around it up to date; the cursor stays on its document."""
        if not self.is_there:
            return
        unwritten = {each.name for each in self._buffers.values() if each.is_unwritten}
        self._rows = document_rows(self._memory, unwritten)
        names = [(row.kind, row.name) for row in self._rows]
        if self._held in names:
            self._cursor = names.index(self._held)
        else:
            self._cursor = min(self._cursor, max(len(names) - 1, 0))
        self.list.show(len(self._rows), self._cursor, self._empty())
        problems = [cut(plain_line(each), 300) for each in self._memory.problems[:2]]
        self.query_one("#memory-problems").display = bool(problems)
        self._put(
            "memory-problems", Content.styled("\n".join(f" {p}" for p in problems), "$r-warn")
        )
        self.draw_around()
        self._show_parts()

    def hold(self, kind: str, name: str) -> None:
        """Let the cursor be on a line of the list, now or as soon as it is there."""
        self._held = (kind, name)
        self.draw()

    def move_to(self, index: int) -> None:
        """Put the cursor on another line of the list."""
        if self._rows:
            self._cursor = min(max(index, 0), len(self._rows) - 1)
            row = self._rows[self._cursor]
            self._held = (row.kind, row.name)
            self.list.move(self._cursor)

    def draw_around(self) -> None:
        """The head, the words in front of the line, and the keys."""
        self._put("memory-head", self._head())
        self._put("memory-said", self._said or f" {self._state_words()}")
        self._put("memory-foot", self._foot())

    def _put(self, name: str, words: str | Content) -> None:
        if self._words.get(name) != words:
            self._words[name] = words
            content = Content(words) if isinstance(words, str) else words
            self.query_one(f"#{name}", Static).update(content)

    def _show_parts(self) -> None:
        """Show the parts that the mode and the width have room for."""
        wide, mode = not self.has_class("-narrow"), self._mode
        if mode == "choice":
            mode = self._back[0]
        editing = mode in {"edit", "find", "replace"}
        listing = mode in {"list", "name"}
        in_middle = editing or (listing and wide and self._shown is not None)
        self.list.display = mode != "history" if wide else listing and not self._reads
        self.query_one("#memory-hits").display = mode == "search"
        self.query_one("#memory-history").display = mode == "history"
        self.query_one("#memory-editors").display = in_middle
        beside = wide and self._has_preview and (editing or listing)
        self.pane.display = beside or (not wide and listing and self._reads)
        self.set_class(in_middle, "-middle")

    def _cells(self, index: int, width: int) -> Sequence[Cell]:
        row = self._rows[index]
        buffer = self._buffers.get(row.name) if row.kind == "document" else None
        return row_cells(
            row,
            width,
            self._controller.here.clock.now().timestamp(),
            glyphs_of(self.app),
            chosen=index == self._cursor,
            dirty=buffer is not None and buffer.mark,
            clash=buffer is not None and buffer.theirs is not None,
        )

    def _empty(self) -> Sequence[str]:
        if not self._is_read:
            return (f"reading{glyphs_of(self.app).more}",)
        return (
            "Nothing is remembered yet.",
            "What later sessions should know",
            f"goes into {ENTRY}; it is loaded",
            "into every request.",
            f"{hint(self, 'memory.new')}: write it.",
        )

    def _state_words(self) -> str:
        buffer = self._shown
        if buffer is None or self._mode not in {"edit", "list"}:
            return ""
        state = "unsaved" if buffer.mark else "not written yet" if buffer.is_unwritten else ""
        if buffer.trouble:
            state = "cannot be read on disk"
        elif buffer.theirs is not None:
            state = "changed by another program too"
        row, column = buffer.editor.cursor_location
        place = f"   line {row + 1}, column {column + 1}" if self._mode == "edit" else ""
        return f"{plain_line(buffer.name)}{place}{'   ' + state if state else ''}"

    def _head(self) -> Content:
        memory, unsaved = self._memory, self._gauge
        if unsaved is not None:
            lines, units, cut_off = unsaved
        else:
            lines, units = memory.lines, memory.code_units
            cut_off = left_out_by_size(lines, units)
        session = self._controller.state.session
        project = PurePath(session.root or session.folder or memory.folder).name
        note = "" if memory.is_on else "off: requests carry none of it"
        words = gauge_words(lines, units)
        return head(project, words, cut_off, note, self.size.width, glyphs_of(self.app).more)

    def _foot(self) -> str:
        names = FOOTS[self._mode]
        row = self.row
        if self._mode == "list" and row is not None and row.kind == "trashed":
            names = TRASH_FOOT
        keys = [hint(self._key_node(name), name) for name in names]
        if self._mode == "list":
            return foot(keys, [hint(self, "memory.back"), hint(self, "memory.help")], self._width)
        if self._mode == "edit":
            return foot(keys[:-2], keys[-1:-3:-1], self._width)
        return foot(keys[:-1], keys[-1:], self._width)

    def _key_node(self, name: str) -> DOMNode:
        """Who has the binding of an id."""
        if name.startswith("memory."):
            return self
        editing = name.startswith(("editor.", "memory_edit."))
        return self._shown.editor if editing and self._shown is not None else self.line

    @property
    def _width(self) -> int:
        return self.size.width

    def measure_entry(self) -> None:
        """Find out how much of its budget the entry's unsaved text takes."""
        buffer = self._buffers.get(ENTRY)
        self._gauge = None
        if buffer is not None and buffer.is_dirty:
            text = buffer.text
            self._gauge = (*gauge(text), left_out(text))
