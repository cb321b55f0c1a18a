"""Every key and command, read from the bindings themselves so that it can't lie."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import ModalScreen
from textual.widgets import Static

from app.commands import COMMANDS
from widgets.keys import keys_by_description

Section = tuple[str, list[tuple[str, str]]]


def key_sections(nodes: Iterable[tuple[str, DOMNode]]) -> list[Section]:
    """The bindings of each named node as `(keys, description)`."""
    return [
        (name, [(", ".join(keys), words) for words, keys in keys_by_description(node).items()])
        for name, node in nodes
    ]


class HelpScreen(ModalScreen[None]):
    """The list; it takes nothing from the prompt behind it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,q", "close", "Back", id="help.back"),
    ]

    def __init__(self, sections: Sequence[Section]) -> None:
        super().__init__()
        self._sections = sections

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog wide"):
            with VerticalScroll():
                yield Static(self._text())
            yield Static(Content.styled("esc Back   up down Scroll", "$r-muted"))

    def on_mount(self) -> None:
        for body in self.query(VerticalScroll):  # none where a key behind has closed it already
            body.focus()

    def _text(self) -> Content:
        parts: list[Content | str] = []
        for name, rows in self._sections:
            parts += [Content.styled(name, "bold $r-accent"), "\n"]
            parts += [f"  {keys:<34} {description}\n" for keys, description in rows]
            parts.append("\n")
        parts += [Content.styled("Commands", "bold $r-accent"), "\n"]
        for command in COMMANDS:
            name = f"/{command.name} {command.argument}".rstrip()
            parts.append(f"  {name:<34} {command.description}\n")
        parts += ["\n", Content.styled("In the prompt", "bold $r-accent"), "\n"]
        for start, words in (
            ("@", "a path of this project"),
            ("!", "a shell line of your own"),
            ("/", "a command"),
        ):
            parts.append(f"  {start:<34} {words}\n")
        return Content.assemble(*parts)

    def action_close(self) -> None:
        self.dismiss(None)
