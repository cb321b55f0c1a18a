"""The floor: the least that a Textual program with a prompt and a scroll can be."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static, TextArea


class MinimalApp(App[None]):
    """One text area below one scroll."""

    ENABLE_COMMAND_PALETTE = False
    CSS = "TextArea { height: 4; }"

    def compose(self) -> ComposeResult:
        with VerticalScroll(can_focus=False):
            yield Static("reverie")
        area = TextArea(soft_wrap=True, compact=True)
        area.cursor_blink = False
        yield area

    def on_mount(self) -> None:
        self.query_one(TextArea).focus()


if __name__ == "__main__":
    MinimalApp().run()
