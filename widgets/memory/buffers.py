"""A document that is open in the editor, and what is on disk under it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from app.memory.edit_text import Shape, shown, stored
from app.memory.pages import Page
from app.plain_text import plain
from widgets.memory.editor import Editor

NEW = "new"
"""The version of a document that is not on disk."""
Stamp: TypeAlias = tuple[float, int]
"""When a document was changed and its size: another one is read again."""


@dataclass(slots=True, eq=False)
class Buffer:
    """An open document."""

    editor: Editor
    page: Page
    """As it was read or written last: what a change is compared with."""
    shape: Shape
    stamp: Stamp | None = None
    theirs: Page | None = None
    """What another one made of it while there was an unsaved text here."""
    is_gone: bool = False
    """Whether it was deleted by another one."""
    trouble: str = ""
    """Why what is on disk cannot be read; empty where it can."""
    warning: str = ""
    """The sentence that warns of it, or of the deletion, as long as it is true."""
    aside: str | None = None
    """The unsaved text that was put into the history last."""
    mark: bool = False
    """Whether the list shows it as unsaved."""

    @property
    def name(self) -> str:
        """The document's name."""
        return self.page.name

    @property
    def text(self) -> str:
        """The text as it would be written."""
        return stored(self.editor.text, self.shape)

    @property
    def has_changed(self) -> bool:
        """Whether the text is another one than that of `page`."""
        return self.text != self.page.text

    @property
    def is_dirty(self) -> bool:
        """Whether there is a text here that is not on disk."""
        return self.has_changed or (bool(self.is_gone or self.trouble) and bool(self.editor.text))

    @property
    def is_unwritten(self) -> bool:
        """Whether there is no document on disk."""
        return self.is_gone or self.page.version == NEW

    @property
    def base(self) -> Page:
        """The page whose version a write must meet."""
        return Page(self.name, self.page.text, NEW) if self.is_gone else self.page

    def adopt(self, page: Page) -> None:
        """What is on disk is now this; the text in the editor stays."""
        self.page, self.theirs, self.is_gone, self.trouble = page, None, False, ""

    def rename(self, name: str) -> None:
        """The document has another name; what is on disk under it is still to be seen."""
        self.page, self.stamp = Page(name, self.page.text, self.page.version), None
        self.aside = None

    def take_typed(self, text: str) -> None:
        """Put a text that was edited elsewhere into the editor, as one step."""
        self.editor.change_text(plain(text, show_colours=True))

    def take(self, text: str) -> None:
        """Put another text into the editor, to be undone where what it hides is the same."""
        new, shape = shown(text)
        if shape == self.shape:
            self.editor.change_text(new)
        else:
            self.shape = shape
            self.editor.follow_text(new)

    def follow(self, page: Page) -> None:
        """Show what is on disk, at the place where the old text was read."""
        text, self.shape = shown(page.text)
        self.editor.follow_text(text)
        self.adopt(page)
