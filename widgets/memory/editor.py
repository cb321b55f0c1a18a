"""The editor of a document of the memory."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from widgets.memory.area import MarkdownArea


class Editor(MarkdownArea):
    """One document, with the keys of the memory screen."""

    SCREEN_KEYS = "memory_edit."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave_editor", "List", id="memory_edit.leave"),
        Binding("ctrl+s", "save", "Save", id="memory_edit.save"),
        Binding("ctrl+f", "find", "Find", id="memory_edit.find"),
        Binding("ctrl+r", "replace_words", "Replace", id="memory_edit.replace"),
        Binding("ctrl+e", "external", "$EDITOR", id="memory_edit.external"),
        Binding("ctrl+q", "leave_app", "Leave", id="memory_edit.leave_app"),
        Binding("f1", "help", "Help", id="memory_edit.help"),
    ]

    async def on_mouse_down(self) -> None:
        """A click in the text goes to the editor, as the key for it does."""
        await self._ring.press("edit_clicked")
