"""One line of text for a question of ours: a reason, a key, a search."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from widgets.ordered_input import OrderedInput


class LineBox(Vertical):
    """Asks for a line; `purpose` tells its asker what it was for."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "send", "Send", id="line.send"),
        Binding("escape", "give_up", "Cancel", id="line.cancel"),
    ]

    class Given(Message):
        """The line, None when it was given up."""

        def __init__(self, purpose: str, text: str | None) -> None:
            super().__init__()
            self.purpose = purpose
            self.text = text

    def __init__(self, purpose: str, label: str, *, secret: bool = False) -> None:
        super().__init__(id="line")
        self.purpose = purpose
        self._label = label
        self._secret = secret
        self._answered = False

    def holds_against(self, other: Widget) -> bool:
        """Whether the line stays although another question waits: only beside its own."""
        return (self.purpose, other.id) in {("why", "permission"), ("key", "welcome")}

    def compose(self) -> ComposeResult:
        yield Static(Content(self._label))
        yield OrderedInput(self, self, "line.", password=self._secret)
        yield Static(Content.styled("enter Send   esc Cancel", "$r-muted"))

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    async def press(self, action: str) -> None:
        """A key of the box was pressed in its line."""
        await self.run_action(action)

    def action_send(self) -> None:
        self._answer(self.query_one(Input).value)

    def action_give_up(self) -> None:
        self._answer(None)

    def _answer(self, text: str | None) -> None:
        """The first answer counts; keys that follow at once find the box on its way out."""
        if not self._answered:
            self._answered = True
            self.post_message(self.Given(self.purpose, text))
