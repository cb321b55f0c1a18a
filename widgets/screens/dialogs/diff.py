"""A file's change, to read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from app.plain_text import plain_line

MOST_LINES = 2_000


class DiffScreen(ModalScreen[None]):
    """The hunks of one file; None where it is no text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,d,q,enter", "close", "Back", id="diff.back"),
        Binding("j", "scroll(1)", show=False),
        Binding("k", "scroll(-1)", show=False),
    ]

    def __init__(self, name: str, hunks: Sequence[dict[str, Any]] | None) -> None:
        super().__init__()
        self._name = name
        self._hunks = hunks

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog wide"):
            yield Static(Content.styled(self._name, "bold"))
            with VerticalScroll():
                yield Static(self._text())
            yield Static(Content.styled("esc Back   up down Scroll", "$r-muted"))

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def _text(self) -> Content:
        if self._hunks is None:
            return Content("This is no text, or too long; it is put back byte for byte.")
        if not self._hunks:
            return Content("No line changes: only permissions, or an empty file.")
        parts: list[Content | str] = []
        for hunk in self._hunks:
            old, new = int(hunk["oldStart"]), int(hunk["newStart"])
            for line in hunk["lines"]:
                if len(parts) >= MOST_LINES:
                    return Content.assemble(*parts, "(There is more.)")
                sign, text = line[:1], plain_line(line[1:])
                number = old if sign == "-" else new
                shown = {"-": "−"}.get(sign, sign)
                style = {"+": "$r-ok", "-": "$r-error"}.get(sign, "$r-muted")
                parts.append(Content.styled(f"{number:>5} {shown} {text}\n", style))
                old, new = old + (sign != "+"), new + (sign != "-")
            parts.append("\n")
        return Content.assemble(*parts[:-1])

    def action_scroll(self, step: int) -> None:
        body = self.query_one(VerticalScroll)
        (body.scroll_down if step > 0 else body.scroll_up)(animate=False)

    def action_close(self) -> None:
        self.dismiss(None)
