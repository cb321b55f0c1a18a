"""Two nodes of the tree side by side: what was said only on the way to one, how files differ."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from app.clock import Clock
from app.plain_text import cut, plain_line
from app.sessions.node_facts import Comparison
from app.sessions.outline import Node
from widgets.keys import hint
from widgets.screens.dialogs.help import HelpScreen, key_sections
from widgets.tree.preview import BlockPane, comparison_blocks

NAME = 36
"""Characters of a node's text in the first line."""
FOOT = ("up", "down", "page_up", "page_down", "back", "help")


class CompareScreen(Screen[None]):
    """Read from its beginning and closed again."""

    CSS_PATH = "../../styles/tree.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "lines(-1)", "Up", id="compare.up"),
        Binding("down,j", "lines(1)", "Down", id="compare.down"),
        Binding("pageup", "pages(-1)", "Page up", id="compare.page_up"),
        Binding("pagedown,space", "pages(1)", "Page down", id="compare.page_down"),
        Binding("home,g", "end(-1)", "First", id="compare.first"),
        Binding("end,G", "end(1)", "Last", id="compare.last"),
        Binding("f1", "help", "Help", id="compare.help"),
        Binding("escape,c,q", "close", "Back", id="compare.back"),
        Binding("ctrl+c", "close", show=False, priority=True),
    ]

    def __init__(self, found: Comparison, clock: Clock) -> None:
        super().__init__()
        self._found = found
        self._clock = clock

    def compose(self) -> ComposeResult:
        first, second = _named(self._found.first), _named(self._found.second)
        title = Content.styled(" compare  ", "bold $r-accent")
        yield Static(Content.assemble(title, f"{first}  with  {second}"), id="tree-head")
        yield BlockPane(id="compare-pane")
        hints = [hint(self, f"compare.{name}") for name in FOOT]
        yield Static(Content(f" {'  '.join(hints)}"), id="tree-foot")

    @property
    def pane(self) -> BlockPane:
        """What is read."""
        return self.query_one(BlockPane)

    def on_mount(self) -> None:
        self.pane.show(comparison_blocks(self._found, self._clock.now()))

    def action_lines(self, step: int) -> None:
        self.pane.scroll_lines(step)

    def action_pages(self, step: int) -> None:
        self.pane.scroll_pages(step)

    def action_end(self, step: int) -> None:
        self.pane.scroll_to_end(step)

    def action_help(self) -> None:
        """Show every key of this screen."""
        self.app.push_screen(HelpScreen(key_sections((("While two nodes are compared", self),))))

    def action_close(self) -> None:
        """Back to the tree."""
        self.dismiss(None)


def _named(node: Node) -> str:
    return f"“{cut(plain_line(node.text), NAME)}”"
