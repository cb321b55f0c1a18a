"""A list to choose one thing from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option


class Picker(ModalScreen[str | None]):
    """Returns the chosen value, None when it was closed without one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Back", id="picker.back"),
        Binding("j", "move(1)", show=False),
        Binding("k", "move(-1)", show=False),
    ]

    def __init__(self, title: str, values: Sequence[tuple[str, str]], current: str = "") -> None:
        """`values` are pairs of a value and its words."""
        super().__init__()
        self._title = title
        self._values = values
        self._current = current

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Content.styled(self._title, "bold"))
            yield OptionList(*(Option(Content(words)) for _, words in self._values))
            yield Static(Content.styled("enter Choose   esc Back", "$r-muted"))

    def on_mount(self) -> None:
        options = self.query_one(OptionList)
        known = [value for value, _ in self._values]
        options.highlighted = known.index(self._current) if self._current in known else 0
        options.focus()

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        self.dismiss(self._values[message.option_index][0])

    def action_move(self, step: int) -> None:
        options = self.query_one(OptionList)
        (options.action_cursor_down if step > 0 else options.action_cursor_up)()

    def action_close(self) -> None:
        self.dismiss(None)
