"""How the tree is read and drawn; `TreeScreen` puts the keys on top of it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.css.query import NoMatches
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import Worker, WorkerError

from app.plain_text import plain_line
from app.sessions.lanes import ASCII_SIGNS, UNICODE_SIGNS, Signs, lanes_for
from app.sessions.outline import Node, NodeKind
from app.state import select
from app.state.model import Session
from app.tree_desk import TreeChoice, TreeDesk
from widgets.ask.choices import CRAMPED
from widgets.cells import Cell
from widgets.follow import Follow
from widgets.glyphs import ASCII
from widgets.keys import hint
from widgets.looks import glyphs_of
from widgets.notices import NoticeRows
from widgets.tree.around import fitting, foot, head
from widgets.tree.line import TreeLine
from widgets.tree.model import Filter, TreeModel, normalised
from widgets.tree.preview import BlockPane, facts_block, preview_blocks
from widgets.tree.rows import AROUND, Line, cut_cells, line_cells
from widgets.tree.tree_list import TreeList

if TYPE_CHECKING:
    from app.controller import Controller

WIDE = 100
"""Columns from which on the preview stands beside the tree."""
REDRAWN = 0.1
"""Seconds between two drawings of what is found in the background."""
GROWN = 0.5
"""Seconds between two looks at a session that grows."""
WORDS: dict[Filter, str] = {
    "all": "all",
    "prompts": "prompts only",
    "files": "with files",
    "labelled": "labelled",
}
FOOT = ("open", "rewind", "files", "fork", "label", "compare", "export", "undo")
"""The keys that the last line names, as far as there is room; help and the way back always are."""
READING = ("preview", "up", "down", "page_up", "page_down", "pane")
"""The same while the keys scroll the preview."""

AT_ONCE = frozenset({"close", "give_up", "help"})
"""What keys do that need no tree."""

Asked: TypeAlias = Literal["", "search", "label"]


class TreeView(Follow, Screen[TreeChoice | None]):
    """The tree, its preview, and what stands around them."""

    CSS_PATH = "../../styles/tree.tcss"

    def __init__(
        self,
        controller: Controller,
        desk: TreeDesk,
        undo: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`undo` takes the last rewind back; None where there is nothing that could."""
        super().__init__()
        self._controller = controller
        self._desk = desk
        self._undo = undo
        self._model = TreeModel(desk.with_files)
        self._session: Session | None = None
        """As it was when it was read last."""
        self._reader: Worker[None] | None = None
        self._is_read = self._seeks_relatives = False
        self._marks = False
        """Whether there is a prompt whose files cannot be brought back."""
        self._kinds: set[NodeKind] = set()
        """The kinds of the nodes."""
        self._waits = self._grows = self._looks = self._looks_again = False
        self._words: dict[str, str | Content] = {}
        """What stands in the lines around the tree, by their id."""
        self._asked: Asked = ""
        self._start = ""
        """The node under the cursor when the search began."""
        self._compared = ""
        """The first of two nodes that are to be compared."""
        self._previewed: tuple[Node, int] | None = None
        """What the preview shows: a node and how many records its turn had."""
        self._is_reading = False
        """Whether the keys scroll the preview."""
        self._is_wide: bool | None = None
        """Whether the preview has room beside the tree; None before the size is known."""

    def compose(self) -> ComposeResult:
        yield Static(id="tree-head")
        with Horizontal(id="tree-body"):
            yield TreeList(self._cells)
            yield BlockPane(id="tree-preview")
        yield NoticeRows()
        with Horizontal(id="tree-ask"):
            yield Static(id="tree-said")
            yield TreeLine(self, self)
        yield Static(id="tree-foot")

    @property
    def list(self) -> TreeList:
        """The lines."""
        return self.query_one(TreeList)

    @property
    def pane(self) -> BlockPane:
        """The preview."""
        return self.query_one(BlockPane)

    @property
    def line(self) -> TreeLine:
        """The line that has the focus."""
        return self.query_one(TreeLine)

    def on_mount(self) -> None:
        self.line.focus()
        self._read_again()
        self.follow(select.session, self._session_changed)

    def on_resize(self, event: events.Resize) -> None:
        was_wide = self._is_wide
        self._is_wide = event.size.width >= WIDE
        self.set_class(not self._is_wide, "-narrow")
        self.set_class(event.size.height < CRAMPED, "-short")
        if was_wide != self._is_wide:
            self._is_reading = False
            self._show_pane(shown=self._is_wide)
        self._draw()

    def _show_pane(self, *, shown: bool) -> None:
        """Show the preview beside the tree, over it where there is no room beside."""
        self.pane.display = shown
        self.list.display = self._is_wide or not shown
        self._previewed = None
        self._draw()

    async def press(self, action: str) -> None:
        """A key was pressed; what was typed before it counts first. It waits for the tree to be
        there, and for no reading after that.
        """
        if not self.is_current:
            return
        self._follow_line()
        if action not in AT_ONCE and not self._is_read and self._reader is not None:
            with contextlib.suppress(WorkerError):
                await self._reader.wait()
        await self.run_action(action)

    def _follow_line(self) -> None:
        """Seek what stands in the line now."""
        if self._asked == "search" and normalised(self.line.value) != self._model.sought:
            self._model.seek(self.line.value, self._start)
            self._draw()

    # Reading

    def _read_again(self) -> None:
        self._reader = self.run_worker(self._read(), group="tree", exclusive=True)

    async def _read(self) -> None:
        before, self._session = self._session, self._desk.session
        self._model.show(await self._desk.read())
        if before is None or before.session_id != self._session.session_id:
            self._seeks_relatives = True
            self.run_worker(self._find_relatives(), group="relatives", exclusive=True)
        self._is_read = True
        self._find_marks()
        self._draw()

    async def _find_relatives(self) -> None:
        await self._desk.find_relatives(self._relative_found)
        self._seeks_relatives = False
        if self._waits:
            await self._join()
        else:
            self._draw()

    def _relative_found(self) -> None:
        """Another session belongs to the tree; many such are drawn at once."""
        if not self._waits and self.is_mounted:
            self._waits = True
            self.set_timer(REDRAWN, self._join_waiting)

    async def _join_waiting(self) -> None:
        if self._waits:
            await self._join()

    async def _join(self) -> None:
        self._waits = False
        self._model.show(await self._desk.join())
        self._find_marks()
        self._draw()

    def _is_own(self, node: Node) -> bool:
        return node.session_id == self._desk.session.session_id

    def _label(self, node: Node) -> str:
        return self._model.labels.get(node.uuid, "")

    def _session_changed(self, session: Session) -> None:
        """Something was said meanwhile; a session that grows is looked at now and then."""
        if self._session is not None and session.view is not self._session.view and not self._grows:
            self._grows = True
            self.set_timer(GROWN, self._grown)

    def _grown(self) -> None:
        if self._reader is not None and not self._reader.is_finished:
            self.set_timer(GROWN, self._grown)  # a reading that is ended again and again never ends
            return
        self._grows = False
        self.run_worker(self._follow_growth(), group="growth", exclusive=True)

    async def _follow_growth(self) -> None:
        """Show what the last turn came to; only a new line makes the tree be read again."""
        session = self._desk.session
        if not await self._desk.follow():
            self._read_again()
            return
        self._session = session
        self._model.recount(self._desk.family)
        self.list.refresh()
        self._look_soon()

    def _find_marks(self) -> None:
        nodes = self._desk.family.nodes
        self._marks = any(map(self._desk.cannot_restore, nodes))
        self._kinds = {node.kind for node in nodes}

    # Drawing

    @property
    def _is_there(self) -> bool:
        """Not so before it is made and while it is taken apart, when late news still come."""
        return self.is_mounted and self in self.app.screen_stack

    def _draw(self) -> None:
        if not self._is_there:
            return
        self.list.show(len(self._model.rows), self._model.cursor, self._empty())
        self._put("tree-head", self._head())
        self._put("tree-said", self._said())
        self._put("tree-foot", self._foot())
        self._look_soon()

    def _move(self) -> None:
        """Only the cursor has moved."""
        self.list.move(self._model.cursor)
        self._look_soon()

    def _look_soon(self) -> None:
        self._looks_again = True
        if not self._looks:
            self._looks = True
            self.run_worker(self._look(), group="look")

    def _put(self, name: str, words: str | Content) -> None:
        """Say something around the tree; the same again costs nothing."""
        if self._words.get(name) != words:
            self._words[name] = words
            content = Content(words) if isinstance(words, str) else words
            self.query_one(f"#{name}", Static).update(content)

    async def _look(self) -> None:
        """Find out what the lines in sight and the preview show, once more where keys went on."""
        try:
            while self._looks_again:
                self._looks_again = False
                await self._preview()
                if not self._looks_again:
                    rows, seen = self._model.rows, self.list.in_sight
                    await self._find_facts([rows[each].node for each in seen if each < len(rows)])
        except NoMatches:
            return  # its parts are gone: the screen was closed meanwhile
        finally:
            self._looks = False

    @property
    def _signs(self) -> Signs:
        return ASCII_SIGNS if glyphs_of(self.app) is ASCII else UNICODE_SIGNS

    @property
    def _lanes(self) -> int:
        return lanes_for(self.list.scrollable_content_region.width, AROUND)

    def _cells(self, index: int, width: int) -> Sequence[Cell]:
        row = self._model.rows[index]
        line = Line(
            row,
            facts=self._desk.known(row.node),
            label=self._label(row.node),
            sought=self._model.sought,
            chosen=index == self._model.cursor,
            marked=row.node.uuid == self._compared,
            cannot_restore=self._marks and self._desk.cannot_restore(row.node),
            shell_files=self._desk.shell_files(row.node),
        )
        now, glyphs = self._controller.here.clock.now(), glyphs_of(self.app)
        return line_cells(line, width, now, self._signs, glyphs, marks=self._marks)

    def _empty(self) -> Sequence[str]:
        if not self._is_read:
            return (f"reading{glyphs_of(self.app).more}",)
        if self._model.filter != "all":
            name = WORDS[self._model.filter]
            return (f"No node here is {name}.", f"{hint(self, 'tree.filter')}: show others.")
        return (
            "No prompt yet.",
            "Every prompt becomes a line here, in a lane for each branch,",
            "and you can go back to any of them.",
            f"{hint(self, 'tree.back')}: say something.",
        )

    def _head(self) -> Content:
        model, more = self._model, glyphs_of(self.app).more
        title = plain_line(self._desk.session.title)
        counts = [f"{model.branches} branch{'' if model.branches == 1 else 'es'}"]
        counts.append(f"{model.prompts} prompt{'' if model.prompts == 1 else 's'}")
        if model.filter != "all":
            counts.append(f"{WORDS[model.filter]}: {len(model.rows)}")
        if model.sought:
            hits = model.hits()
            counts.append(f"{hits} hit{'' if hits == 1 else 's'}")
        if self._seeks_relatives:
            counts.append(f"looking for forks{more}")
        keys = f"{hint(self, 'tree.search')}  {hint(self, 'tree.filter')}"
        return head(title, counts, keys, self.size.width, more)

    def _said(self) -> str:
        """What is asked in the line, else what the signs mean and what is marked."""
        if self._asked:
            return " search " if self._asked == "search" else " label "
        if self._compared:
            words = f" {hint(self, 'tree.compare')} on another node, or esc lets go of the first"
            return cut_cells(words, self.size.width - 1, glyphs_of(self.app).more)
        signs, kinds = self._signs, self._kinds
        legend = {
            f"{signs.here} here: before the first prompt": self._model.is_at_beginning,
            f"{signs.mark} compacted": kinds & {"compact", "unavailable"},
            f"{signs.restore} rewound": kinds & {"restore"},
            f"{signs.fork}{signs.node} another session": kinds & {"fork"},
            "+3 lanes that have no room": self._model.deepest > self._lanes,
            f"{glyphs_of(self.app).bad} files can no longer be restored": self._marks,
        }
        shown = [words for words, is_there in legend.items() if is_there]
        return f" {fitting(shown, self.size.width - 2, '   ')}"

    def _foot(self) -> str:
        width = self.size.width
        if self._asked:
            names = ("take", "next", "leave") if self._asked == "search" else ("take", "leave")
            return foot([hint(self.line, f"tree_line.{name}") for name in names], (), width)
        keys = [hint(self, f"tree.{name}") for name in (READING if self._is_reading else FOOT)]
        return foot(keys, [hint(self, "tree.back"), hint(self, "tree.help")], width)

    async def _find_facts(self, nodes: Sequence[Node]) -> None:
        if any(self._desk.known(node) is None for node in nodes):
            await self._desk.find_facts(nodes)
            self.list.refresh()

    async def _preview(self) -> None:
        node = self._model.chosen
        if node is None or not self.pane.display or not self._is_there:
            return
        records = self._desk.records(node)
        if self._previewed == (node, len(records)):
            return
        folder = self._desk.session.folder
        blocks = await asyncio.to_thread(preview_blocks, node, records, folder)
        await self._find_facts([node])
        facts = self._desk.known(node)
        if facts is not None:
            session = "" if self._is_own(node) else node.session_id[:8]
            gone = self._desk.cannot_restore(node)
            told = facts_block(
                node,
                facts,
                self._label(node),
                session,
                shell_files=self._desk.shell_files(node),
                cannot_restore=gone,
            )
            blocks.insert(1, told)
        self._previewed = node, len(records)
        self.pane.show(blocks)
