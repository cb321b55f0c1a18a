"""What the memory screen asks of whoever keeps the documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from app.memory.pages import Clash, Found, Merged, Page, PastVersion

Section = tuple[str, Sequence[tuple[str, str, int]]]
"""A heading, and rows of words, the document's name (empty for none) and a line."""


class MemoryDesk(Protocol):
    """The documents of a project's memory. Whatever fails raises `ReverieError`."""

    async def open(self) -> None:
        """Begin to watch the folder: the state's `memory` follows."""
        ...

    async def close(self) -> None:
        """Watch it no longer."""
        ...

    async def read(self, name: str) -> Page:
        """A document as it is now."""
        ...

    async def save(self, page: Page, text: str) -> Page | Clash:
        """Write the text where the document still has the version of `page`."""
        ...

    async def merge(self, page: Page, text: str, theirs: Page) -> Merged:
        """What both sides made of the text of `page`."""
        ...

    async def set_aside(self, name: str, text: str) -> None:
        """Keep an unsaved text in the document's history."""
        ...

    async def create(self, name: str) -> Page:
        """An empty document of a name that can be used; nothing is written yet."""
        ...

    async def rename(self, name: str, new: str) -> str:
        """Give a document another name, which is returned; links in the entry follow."""
        ...

    async def trash(self, name: str) -> None:
        """Put a document into the trash."""
        ...

    async def restore(self, name: str, change_id: str) -> Page:
        """Make a past version the document's text again."""
        ...

    async def history(self, name: str) -> list[PastVersion]:
        """All versions of a document, newest first."""
        ...

    async def diff(self, name: str, change_id: str) -> list[dict[str, Any]]:
        """What a change did, as hunks (`app.patch`)."""
        ...

    async def past_text(self, name: str, change_id: str) -> str:
        """The text of a past version."""
        ...

    async def search(self, query: str) -> list[Found]:
        """The lines and names that hold the words."""
        ...

    async def check(self) -> list[tuple[str, list[tuple[str, str, int]]]]:
        """The health of the folder: headings, each with rows of words, document and line."""
        ...
