"""The editor of a report."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from widgets.memory.area import MarkdownArea


class ReportEditor(MarkdownArea):
    """One draft, with the keys of the screen of feedback."""

    SCREEN_KEYS = "feedback_edit."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+s,f5", "leave_editor", "Done", id="feedback_edit.leave"),
        Binding("ctrl+e", "external", "$EDITOR", id="feedback_edit.external"),
        Binding("ctrl+q", "leave_app", "Leave", id="feedback_edit.leave_app"),
        Binding("f1", "help", "Help", id="feedback_edit.help"),
    ]

    async def on_mouse_down(self) -> None:
        """A click in the text goes to the editor, as the key for it does."""
        await self._ring.press("edit")
