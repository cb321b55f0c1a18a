"""The summary of a compaction, to be read and changed before it counts."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widgets import TextArea

from app.plain_text import cut, plain, plain_line
from app.state.model import Receipt
from widgets.ask.choices import CRAMPED, Choice, ChoiceBox
from widgets.words import tokens_in_words

CHOICES = (
    Choice("1", "Use this summary", "use", "use"),
    Choice("2", "Edit it", "edit", "edit"),
    Choice("3", "Not now, keep it", "later", "later"),
    Choice("4", "Throw it away", "discard", "drop"),
)


LONGEST = 50
"""Characters of a prompt that are shown."""


class SummaryText(TextArea):
    """The summary; `esc` ends the editing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back to the choices", id="receipt.leave"),
    ]

    def render_lines(self, crop: Region) -> list[Strip]:
        # Textual draws a text area once more when its styles have gone already, and fails
        # (Textualize/textual#6528).
        if not self._component_styles:
            return [Strip.blank(crop.width)] * crop.height
        return super().render_lines(crop)

    def action_leave(self) -> None:
        """Give the keys back to the choices."""
        for node in self.ancestors:
            if isinstance(node, ReceiptBox):
                node.focus()


class ReceiptBox(ChoiceBox):
    """What the compaction will do, and its summary."""

    def __init__(self, receipt: Receipt) -> None:
        self.receipt = receipt
        self.area = SummaryText(plain(receipt.summary), soft_wrap=True, id="summary")
        self.area.cursor_blink = False
        super().__init__(
            "Compaction: nothing has changed yet",
            [Content(_facts(receipt)), self.area],
            CHOICES,
            id="receipt",
        )

    def on_mount(self) -> None:
        super().on_mount()
        self.row.chosen = 1  # a stray enter opens the text and settles nothing

    @property
    def summary(self) -> str:
        """The text as it stands now."""
        return self.area.text

    def edit(self) -> None:
        """Let the person change the text."""
        self.area.focus()

    def on_key(self, event: events.Key) -> None:
        if not self.area.has_focus:
            super().on_key(event)

    def fit(self, terminal: Size) -> None:
        super().fit(terminal)
        subject = self.query_one(".subject")
        room = subject.styles.max_height
        lines = int(room.value) if room is not None else terminal.height
        width = max(terminal.width - 5, 1)  # the frame, its padding and the scroll bar
        shown = _facts(self.receipt).split("\n")
        wrapped = sum(max(-(-cell_len(line) // width), 1) for line in shown)
        facts = 0 if terminal.height < CRAMPED else wrapped + 1
        self.area.styles.max_height = max(lines - facts, 1)


def _facts(receipt: Receipt) -> str:
    messages = "message" if receipt.summarised == 1 else "messages"
    before, after = tokens_in_words(receipt.tokens_before), tokens_in_words(receipt.tokens_after)
    kept = f"{receipt.kept} kept word for word" if receipt.kept else "none kept word for word"
    lines = [f"{receipt.summarised} {messages} summed up, {kept} · {before} → about {after} tokens"]
    if receipt.goes_back:
        words = cut(" ".join(receipt.goes_back.split()), LONGEST)
        lines.append(
            f"The conversation goes back to before “{words}”, which returns to the prompt;"
        )
        lines.append(
            "the summary stands in the place of what came after. Files stay. /undo undoes it."
        )
    if receipt.last_request:
        lines.append(f"Your last request stays whatever stands here: {receipt.last_request}")
    return "\n".join(plain_line(line) for line in lines)
