"""The health of the memory folder: what is loaded, cut off, orphaned, dead or said twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeAlias

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from app.plain_text import cut, plain_line

Place: TypeAlias = tuple[str, int]
"""A document and a line, counted from 1; 0 for none."""
LONGEST = 300
"""Characters of a row."""


class CheckScreen(ModalScreen[Place | None]):
    """Returns the place that is to be looked at, None when it was closed without one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,c,q", "close", "Back", id="memory_check.back"),
        Binding("j", "move(1)", show=False),
        Binding("k", "move(-1)", show=False),
        Binding("ctrl+c", "close", show=False, priority=True),
    ]

    def __init__(self, sections: Sequence[tuple[str, Sequence[tuple[str, str, int]]]]) -> None:
        """Headings, each with rows of words, a document's name (empty for none) and a line."""
        super().__init__()
        self._options: list[Option] = []
        self._places: list[Place | None] = []
        for heading, rows in sections:
            self._add(Content.styled(plain_line(heading), "bold $r-accent"), None)
            for words, name, line in rows:
                shown = Content(f"  {cut(plain_line(words), LONGEST)}")
                self._add(shown, (name, line) if name else None)

    def _add(self, words: Content, place: Place | None) -> None:
        self._options.append(Option(words, disabled=place is None))
        self._places.append(place)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog wide"):
            yield Static(Content.styled("health of the memory", "bold"))
            yield OptionList(*self._options)
            yield Static(Content.styled("enter Go there   esc Back", "$r-muted"))

    def on_mount(self) -> None:
        options = self.query_one(OptionList)
        options.focus()
        options.highlighted = next((i for i, each in enumerate(self._places) if each), None)

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        self.dismiss(self._places[message.option_index])

    def action_move(self, step: int) -> None:
        options = self.query_one(OptionList)
        (options.action_cursor_down if step > 0 else options.action_cursor_up)()

    def action_close(self) -> None:
        self.dismiss(None)
