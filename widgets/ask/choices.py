"""A box that asks: what it is about, and choices with their keys in front.

A choice's key takes it at once; arrows and `enter` do too (spec/ui.md, What the screen says).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Static


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer: its key, its words, and what it stands for."""

    key: str
    label: str
    value: str


class ChoiceRow(Static):
    """One line a choice, the chosen one marked."""

    chosen: reactive[int] = reactive(0)

    def __init__(self, choices: Sequence[Choice]) -> None:
        super().__init__(classes="choices")
        self.choices = choices

    def render(self) -> Content:
        labels = [f" {choice.key} {choice.label} " for choice in self.choices]
        fits = sum(cell_len(label) + 1 for label in labels) <= self.container_size.width
        parts: list[Content | str] = []
        for position, label in enumerate(labels):
            style = "reverse" if position == self.chosen else ""
            parts += [Content.styled(label, style), " " if fits else "\n"]
        return Content.assemble(*parts[:-1]) if parts else Content("")


class ChoiceBox(Vertical, can_focus=True):
    """The box; subclasses say what an answer does."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,left,shift+tab", "move(-1)", "Before", show=False),
        Binding("down,right,tab", "move(1)", "Next", show=False),
        Binding("pageup", "scroll(-1)", "Scroll up", show=False),
        Binding("pagedown", "scroll(1)", "Scroll down", show=False),
        Binding("enter", "take", "Choose", id="choice.take"),
        Binding("escape", "give_up", "Cancel", id="choice.cancel"),
    ]

    class Taken(Message):
        """An answer was given; `value` is empty when it was given up."""

        def __init__(self, box: ChoiceBox, value: str) -> None:
            super().__init__()
            self.box = box
            self.value = value

        @property
        def control(self) -> ChoiceBox:
            """The box that was answered."""
            return self.box

    def __init__(
        self,
        title: str,
        body: Sequence[Content | Widget],
        choices: Sequence[Choice],
        *,
        id: str,  # noqa: A002 - Textual's own name
    ) -> None:
        super().__init__(id=id)
        self.border_title = Content(title)  # pyright: ignore[reportAttributeAccessIssue] - the setter takes Content, so that nothing is parsed
        self._body = body
        self._choices = choices

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="subject", can_focus=False):
            for part in self._body:
                yield part if isinstance(part, Widget) else Static(part)
        yield ChoiceRow(self._choices)

    @property
    def row(self) -> ChoiceRow:
        """The line of choices."""
        return self.query_one(ChoiceRow)

    def on_key(self, event: events.Key) -> None:
        for choice in self._choices:
            if event.key == choice.key or event.character == choice.key:
                event.stop()
                event.prevent_default()
                self.post_message(self.Taken(self, choice.value))
                return

    def action_move(self, step: int) -> None:
        self.row.chosen = (self.row.chosen + step) % len(self._choices)

    def action_scroll(self, step: int) -> None:
        subject = self.query_one(".subject", VerticalScroll)
        (subject.scroll_page_down if step > 0 else subject.scroll_page_up)(animate=False)

    def action_take(self) -> None:
        self.post_message(self.Taken(self, self._choices[self.row.chosen].value))

    def action_give_up(self) -> None:
        self.post_message(self.Taken(self, ""))
