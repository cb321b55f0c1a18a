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
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Static

CRAMPED = 14
"""Rows of a terminal below which frames, rules and the header make room."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer: its key, its words, and what it stands for."""

    key: str
    label: str
    value: str
    short: str = ""
    """Its words where there is hardly any room."""


class ChoiceRow(Static):
    """The choices with the chosen one marked: on one line where they fit, else a line each."""

    chosen: reactive[int] = reactive(0)

    def __init__(self, choices: Sequence[Choice]) -> None:
        super().__init__(classes="choices")
        self.choices = choices
        self._terse = False
        self._one_line = False

    def fit(self, width: int, height: int) -> int:
        """Choose the form for a space of cells; returns the lines that it takes."""
        self._one_line = _length(self._labels(terse=False)) <= width
        lines = 1 if self._one_line else len(self.choices)
        self._terse = lines > height
        if self._terse:
            self._one_line = _length(self._labels(terse=True)) <= width * max(height, 1)
            lines = max(min(-(-_length(self._labels(terse=True)) // max(width, 1)), height), 1)
        self.refresh(layout=True)
        return lines

    def _labels(self, *, terse: bool) -> list[str]:
        if terse:
            return [f"{choice.key} {choice.short or choice.label}" for choice in self.choices]
        return [f" {choice.key} {choice.label} " for choice in self.choices]

    def render(self) -> Content:
        parts: list[Content | str] = []
        between = " " if self._one_line or self._terse else "\n"
        for position, label in enumerate(self._labels(terse=self._terse)):
            style = "reverse" if position == self.chosen else ""
            parts += [Content.styled(label, style), between]
        return Content.assemble(*parts[:-1]) if parts else Content("")


def _length(labels: Sequence[str]) -> int:
    return sum(cell_len(label) + 1 for label in labels)


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

    def on_mount(self) -> None:
        self.fit(self.app.size)

    def fit(self, terminal: Size) -> None:
        """Give the choices their lines first; what the box asks about takes the rest."""
        cramped = terminal.height < CRAMPED
        self.set_class(cramped, "-cramped")
        frame = 0 if cramped else 3
        around = 2 if cramped else 6  # other lines of the screen that stay
        room = max(terminal.height - around - frame, 1)
        lines = self.row.fit(terminal.width - (0 if cramped else 4), room)
        subject = self.query_one(".subject")
        subject.styles.max_height = max(min(room - lines, terminal.height // 2), 0)
        subject.display = room > lines

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
