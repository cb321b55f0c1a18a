"""The tree: every branch of the session and its forks, to look at, to go to, to go back to."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from app.errors import ReverieError
from app.rewind_desk import BUSY
from app.sessions.outline import Node
from app.state.model import Severity
from app.tree_desk import ELSEWHERE, TreeAction
from widgets.notices import NoticeRows
from widgets.screens.compare import CompareScreen
from widgets.screens.dialogs.help import HelpScreen, key_sections
from widgets.screens.tree_view import Asked, TreeView
from widgets.tree.model import FILTERS
from widgets.tree.tree_list import TreeList


class TreeScreen(TreeView):
    """Returns what is to be done with a node, None when it was closed without a choice."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose('switch')", "Switch", id="tree.open"),
        Binding("r", "choose('rewind')", "Rewind", id="tree.rewind"),
        Binding("f", "choose('files')", "Files only", id="tree.files"),
        Binding("n", "choose('fork')", "Fork", id="tree.fork"),
        Binding("l", "label", "Label", id="tree.label"),
        Binding("c", "compare", "Compare", id="tree.compare"),
        Binding("x", "export", "Export", id="tree.export"),
        Binding("u", "undo", "Undo rewind", id="tree.undo"),
        Binding("y", "copy", "Copy id", id="tree.copy"),
        Binding("up,k", "move(-1)", "Before", id="tree.up"),
        Binding("down,j", "move(1)", "Next", id="tree.down"),
        Binding("pageup", "page(-1)", "Page up", id="tree.page_up"),
        Binding("pagedown", "page(1)", "Page down", id="tree.page_down"),
        Binding("home,g", "end(-1)", "First", id="tree.first"),
        Binding("end,G", "end(1)", "Last", id="tree.last"),
        Binding("h,0", "leaf", "Where you are", id="tree.leaf"),
        Binding(
            "left_square_bracket", "fork_point(-1)", "Fork point before", id="tree.fork_before"
        ),
        Binding("right_square_bracket", "fork_point(1)", "Next fork point", id="tree.fork_next"),
        Binding("left", "fold", "Fold", id="tree.fold"),
        Binding("right", "unfold", "Unfold", id="tree.unfold"),
        Binding("space", "flip", "Fold or unfold", id="tree.flip"),
        Binding("z", "flip_all", "Fold all branches", id="tree.flip_all"),
        Binding("slash", "search", "Search", id="tree.search"),
        Binding("full_stop", "filter", "Filter", id="tree.filter"),
        Binding("p", "pane", "Show preview", id="tree.pane"),
        Binding("tab", "preview", "Preview", id="tree.preview"),
        Binding("f1", "help", "Help", id="tree.help"),
        Binding("escape", "close", "Back", id="tree.back"),
        Binding("ctrl+c", "give_up", show=False, priority=True),
    ]

    # The cursor

    def action_move(self, step: int) -> None:
        if self._is_reading:
            self.pane.scroll_lines(step)
        else:
            self._go(self._model.cursor + step)

    def action_page(self, step: int) -> None:
        if self._is_reading:
            self.pane.scroll_pages(step)
        else:
            self._go(self._model.cursor + step * self.list.page)

    def action_end(self, step: int) -> None:
        if self._is_reading:
            self.pane.scroll_to_end(step)
        else:
            self._go(len(self._model.rows) if step > 0 else 0)

    def _go(self, index: int) -> None:
        self._model.choose(index)
        self._move()

    def action_leaf(self) -> None:
        """To the last prompt of the branch in use."""
        self._model.go_to_leaf()
        self._draw()

    def action_fork_point(self, step: int) -> None:
        self._model.fork_point(step)
        self._move()

    @on(TreeList.Clicked)
    def _clicked(self, message: TreeList.Clicked) -> None:
        self._go(message.index)
        if message.opened:
            self.action_choose("switch")

    # What is shown

    def action_fold(self) -> None:
        """Fold the branches that leave here, else the one that the cursor is in."""
        self._model.fold()
        self._draw()

    def action_unfold(self) -> None:
        """Unfold what is folded here."""
        self._model.unfold()
        self._draw()

    def action_flip(self) -> None:
        """Unfold what is folded here, else fold."""
        self._model.toggle()
        self._draw()

    def action_flip_all(self) -> None:
        """Fold all side branches; where all of them are, unfold them."""
        self._model.toggle_all()
        self._draw()

    async def action_filter(self) -> None:
        """All nodes, then prompts only, those that changed files, those with a label."""
        chosen = FILTERS[(FILTERS.index(self._model.filter) + 1) % len(FILTERS)]
        if chosen == "files":
            await self._desk.find_changes()
        self._model.use_filter(chosen)
        self._draw()

    def action_pane(self) -> None:
        """Show the preview or put it away."""
        self._is_reading = False
        self._show_pane(shown=not self.pane.display)

    def action_preview(self) -> None:
        """Let the keys scroll the preview, or give them back to the tree."""
        self._is_reading = not self._is_reading
        if self._is_reading:
            self._show_pane(shown=True)
        elif self.has_class("-narrow"):
            self._show_pane(shown=False)
        self._draw()

    # The line

    def action_search(self) -> None:
        """Go to what holds a text, as it is typed."""
        node = self._model.chosen
        if node is not None:
            self._start = node.uuid
            self._ask("search", "")

    def action_label(self) -> None:
        """Name the node under the cursor."""
        node = self._model.chosen
        if node is not None and node.kind != "fork":
            self._start = node.uuid
            self._ask("label", self._model.labels.get(node.uuid, ""))
        elif node is not None:
            self._tell("Where another session begins has its title and no label.")

    def _ask(self, what: Asked, text: str) -> None:
        self._asked, self._is_reading = what, False
        self.set_class(bool(what), "-asking")
        self.line.ask(text) if what else self.line.rest()
        self._draw()

    @on(Input.Changed, "TreeLine")
    def _typed(self) -> None:
        self._follow_line()

    def action_line_hit(self, step: int) -> None:
        """To the next or previous node that holds what is sought."""
        if self._asked == "search":
            self._model.next_hit(step)
            self._draw()

    async def action_line_take(self) -> None:
        """Keep what was typed: the cursor stays on the hit, the label is written."""
        asked, text = self._asked, self.line.value
        self._leave_line()
        node = self._model.node(self._start)
        if asked == "label" and node is not None and text.strip() != self._label(node):
            self._desk.label(node, text)
            await self._read()

    def action_line_leave(self) -> None:
        """Let go of the line; the cursor stays on the hit."""
        self._leave_line()

    def _leave_line(self) -> None:
        self._model.sought = ""
        self._ask("", "")

    # What is done with a node

    def action_choose(self, action: TreeAction) -> None:
        """Go back to the chat, where it is done."""
        node = self._model.chosen
        if node is None:
            return
        if action == "switch" and node.on_branch:
            self._tell("You are on this branch already.")
            self.dismiss(None)
        elif refusal := self._refusal(action, node):
            self._tell(refusal, "warning")
        else:
            self.dismiss(self._desk.choice(action, node))

    def _refusal(self, action: TreeAction, node: Node) -> str:
        """Why this cannot be done now; the tree stays where it is. Empty where it can."""
        if action in {"rewind", "files"} and node.kind not in {"prompt", "restore"}:
            return "Only a prompt or a rewind can be gone back to: choose one beside it."
        if self._controller.is_busy:
            return BUSY
        return ELSEWHERE if action in {"rewind", "files"} and not self._is_own(node) else ""

    async def action_undo(self) -> None:
        """Take the last rewind back."""
        if self._undo is not None:
            await self._undo()
            await self._read()

    async def action_compare(self) -> None:
        """Mark a node, then compare it with another one."""
        node = self._model.chosen
        if node is None:
            return
        first = self._model.node(self._compared)
        self._compared = node.uuid if first is None else ""
        self._draw()
        if first is not None and first.uuid != node.uuid:
            found = await self._desk.compare(first, node)
            await self.app.push_screen(CompareScreen(found, self._controller.here.clock))

    async def action_export(self) -> None:
        """Write the branch through this node as Markdown into the working folder."""
        node = self._model.chosen
        if node is not None:
            try:
                file = await self._desk.export(node)
            except ReverieError as error:
                self._controller.notice(str(error), "error")
            else:
                self._tell(f"Exported to {file}.")

    async def action_copy(self) -> None:
        """Copy the id by which its session knows the node."""
        node = self._model.chosen
        if node is not None:
            text = node.own or node.session_id
            self.app.copy_to_clipboard(text)
            await self._controller.writing.copy(text)
            self._tell(f"Copied {text}.")

    def _tell(self, words: str, severity: Severity = "info") -> None:
        self._controller.notice(words, severity)

    def action_help(self) -> None:
        """Show every key of this screen."""
        nodes = (("In the tree", self), ("While you search or name a node", self.line))
        self.app.push_screen(HelpScreen(key_sections(nodes)))

    def action_close(self) -> None:
        """Give the keys back to the tree, let go of a marked node, else leave."""
        if self._is_reading:
            self.action_preview()
        elif self._compared:
            self._compared = ""
            self._draw()
        else:
            self.dismiss(None)

    def action_give_up(self) -> None:
        """Leave at once; nothing has changed."""
        self.dismiss(None)

    @on(NoticeRows.Read)
    def _notice_read(self, message: NoticeRows.Read) -> None:
        self._controller.notices.dismiss(message.notice_id)
