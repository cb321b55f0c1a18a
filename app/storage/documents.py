"""The interface of versioned documents: what any backend of memory must do (spec/memory.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

from app.errors import StorageError
from app.storage.reading import Read

Who: TypeAlias = Literal["you", "assistant", "dream", "other"]
"""Who changed a document; `other` is another program, seen afterwards."""
What: TypeAlias = Literal["written", "deleted", "renamed", "restored", "merged", "set_aside"]
"""`set_aside` is a text that was kept without becoming the document's."""


class Author(Struct, frozen=True):
    """Who changes a document, and why."""

    who: Who
    session_id: str = ""
    message: str = ""
    """The uuid of the record in which it was said."""
    why: str = ""
    """A few words for the history."""
    what: What = "written"
    other_name: str = ""
    """The name that a renamed document had before."""


class Change(Struct, frozen=True):
    """One entry of the history. Digests are SHA-256 in hex; None where there was no document."""

    id: str
    at: str
    """ISO time, UTC."""
    name: str
    author: Author
    before: str | None
    after: str | None
    size: int = 0
    """Bytes of what it left."""


class DocumentInfo(Struct, frozen=True):
    """A document as a listing shows it."""

    name: str
    size: int
    modified: int
    """Nanoseconds since the epoch."""


class Skipped(Struct, frozen=True):
    """Something in the folder that is no document, and why."""

    name: str
    reason: str


class Listing(Struct, frozen=True):
    """All documents, ordered by name, and what was left out."""

    documents: tuple[DocumentInfo, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    others: tuple[str, ...] = ()
    """Names of files that are no documents by their name."""
    is_cut: bool = False
    """Whether there is more than is looked at."""


class Moved(Exception):
    """A document is not what the writer took it for; nothing was changed."""

    def __init__(self, current: bytes | None) -> None:
        super().__init__("the document has changed")
        self.current = current
        """What it holds now; None when there is none."""


class NameRefused(StorageError):
    """A name that leads to no document: the sentence says why."""


class Replacement(Struct, frozen=True):
    """What one document is to become, and what it must be for that."""

    name: str
    data: bytes | None
    """None deletes it."""
    expected: str | None
    """The SHA-256 of what it holds; None: there is none."""


class DocumentStore(Protocol):
    """Named texts, each changed as a whole, and the history of all changes.

    A name is a relative path with `/` that ends in `.md`. All methods may block; all raise
    `StorageError`, and `NameRefused` for a name that no document can have.
    """

    def listing(self, *, anew: bool = False) -> Listing:
        """Every document there is; the same object while nothing seems to have changed.

        With `anew` nothing is taken for unchanged without a look at it.
        """
        ...

    def read(self, name: str) -> bytes | None:
        """The whole document as it is now, None when there is none."""
        ...

    def head(self, name: str, most: int) -> Read:
        """The first `most` bytes of a document of any size, or why there are none.

        Raises nothing but `NameRefused`.
        """
        ...

    def replace(
        self, name: str, data: bytes | None, author: Author, *, expected: str | None
    ) -> Change:
        """Make `data` the document, or with None delete it, in one step.

        Only if its SHA-256 is `expected` (None: there is no such document); else `Moved` is raised,
        as it is where another program's change was noticed just now: it should be looked at.
        What has returned is in the history, and what it replaced can be restored from there.
        """
        ...

    def replace_all(self, wanted: Sequence[Replacement], author: Author) -> Mapping[str, Change]:
        """Carry out several replacements that belong together; returns the changes by name.

        Raises `Moved` where one is not as expected; nothing was changed then. After that all come
        to pass or none, whenever the process is killed or the disk refuses: the next one that
        writes makes up for the rest. What another program changes in that very moment stays as it
        made it, is left out of what is returned, and then nothing is deleted.
        """
        ...

    def set_aside(self, name: str, data: bytes, author: Author) -> Change:
        """Keep a text in the history of a document without changing it."""
        ...

    def notice(self) -> None:
        """Put into the history what other programs have changed in the documents it knows."""
        ...

    def changes(self, name: str | None = None) -> Sequence[Change]:
        """The history, oldest first; of one document only when `name` is given.

        What another program changed is in it once that has been noticed.
        """
        ...

    def text_of(self, digest: str) -> bytes:
        """What a document held, by the SHA-256 that a change names."""
        ...

    def close(self) -> None:
        """Release what is held; closing twice is harmless."""
        ...
