"""What the memory screen and the command line get and give: a document as it was read."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Page(Struct, frozen=True):
    """A document as it was read."""

    name: str
    text: str
    """As the disk has it: a byte-order mark and line ends included."""
    version: str
    """The first 12 hex digits of the text's SHA-256; `new` where there is no document yet."""


class Clash(Struct, frozen=True):
    """A document changed under an editor: nothing was written."""

    theirs: Page
    """As it is now; an empty text with the version `new` when it was deleted."""
    trouble: str = ""
    """Why what is there cannot be shown; then `theirs` has its version and no text."""


class Merged(Struct, frozen=True):
    """Two changes of one text brought together."""

    text: str
    conflicts: int
    """Places where both changed the same lines: both are in the text, between marks."""


class PastVersion(Struct, frozen=True):
    """One entry of a document's history."""

    id: str
    at: str
    """ISO time, UTC."""
    who: Literal["you", "assistant", "dream", "other"]
    what: str
    why: str
    session_id: str
    name: str
    added: int
    removed: int
    is_current: bool
    is_deletion: bool


class Found(Struct, frozen=True):
    """A line in which a search found its words; line 0 where the name holds them."""

    name: str
    line: int
    text: str
