"""Documents with versions: read, compared and written as wholes (spec/memory.md, Documents)."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Sequence
from typing import Final, Literal, TypeAlias

from msgspec import Struct, structs

from app.errors import ReverieError, StorageError
from app.memory.links import with_renamed_link, without_link
from app.memory.lost import mended
from app.memory.pages import Page
from app.memory.three_way import three_way
from app.storage.documents import (
    Author,
    Change,
    DocumentInfo,
    DocumentStore,
    Moved,
    NameRefused,
)
from app.storage.names import ENTRY, checked_name

MOST_BYTES: Final = 102_400
"""Bytes of a document at most."""
PAGE: Final = 50
"""Documents on one page of a list."""
NEW: Final = "new"
"""The version of a document that does not exist."""
_VERSION_DIGITS: Final = 12
_LOOKED_BACK: Final = 100
"""Changes of earlier processes that are looked at."""
_TRIES: Final = 50
"""How often a change is made anew because somebody else was faster."""

Status: TypeAlias = Literal[
    "written", "deleted", "conflict", "repeated_spurious_conflict", "refused"
]


class Outcome(Struct, frozen=True):
    """How a write or a deletion ended."""

    status: Status
    version: str | None = None
    """The version that was written."""
    current_version: str | None = None
    current_text: str | None = None
    """With a conflict what the document holds, where that fits the cap."""
    reason: str = ""
    """A sentence; empty when all went well."""
    change: Change | None = None


def version_of(data: bytes | None) -> str:
    """The version of a document's bytes: 12 hex digits of their SHA-256, `new` for none."""
    return NEW if data is None else hashlib.sha256(data).hexdigest()[:_VERSION_DIGITS]


def _digest(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()


def text_of(name: str, data: bytes) -> str:
    """A document's text, its byte-order mark and line ends included.

    Raises `StorageError` for what is no text: other encodings than UTF-8, and NULs.
    """
    reason = ""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text, reason = "", "it is not UTF-8"
    if "\x00" in text:
        reason = "it holds NULs, so it is no text"
    if reason:
        raise StorageError(f"{name} cannot be used: {reason}.", kept="It was left as it is.")
    return text


class Documents:
    """The documents of one memory folder. Everything here blocks: call it in a thread."""

    def __init__(self, store: DocumentStore) -> None:
        self.store = store
        self._looked_at = -1

    def page(self, number: int) -> tuple[Sequence[DocumentInfo], int]:
        """The documents on a page, counted from 1, and how many pages there are."""
        documents = self.store.listing().documents
        pages = max(-(-len(documents) // PAGE), 1)
        return documents[(number - 1) * PAGE : number * PAGE], pages

    def read(self, name: str) -> Page:
        """A document; an empty one of version `new` where there is none. Raises `StorageError`."""
        name = checked_name(name)
        data = self.store.read(name)
        if data is None:
            return Page(name, "", NEW)
        return Page(name, text_of(name, data), version_of(data))

    def write(self, name: str, text: str, if_version: str, author: Author) -> Outcome:
        """Make `text` the document, if it still has the version that the writer has read.

        Raises `StorageError` when the folder cannot be written.
        """
        try:
            data = _fit(text)
            return self._replace(checked_name(name), data, if_version, author)
        except (NameRefused, _Unfit) as refusal:
            return Outcome("refused", reason=str(refusal))

    def delete(self, name: str, if_version: str, author: Author) -> Outcome:
        """Take the document away, if it still has that version; the history keeps its text.

        Raises `StorageError` when the folder cannot be written.
        """
        try:
            author = structs.replace(author, what="deleted")
            return self._replace(checked_name(name), None, if_version, author)
        except NameRefused as refusal:
            return Outcome("refused", reason=str(refusal))

    def _replace(self, name: str, data: bytes | None, if_version: str, author: Author) -> Outcome:
        self.settle()
        for _ in range(2):
            current = self.store.read(name)
            is_missing = data is None and current is None
            if is_missing or version_of(current) != if_version:
                return _conflict(name, current)
            try:
                change = self.store.replace(name, data, author, expected=_digest(current))
            except Moved as moved:
                if _digest(moved.current) != _digest(current):
                    return _conflict(name, moved.current)
            else:
                status = "deleted" if data is None else "written"
                version = None if data is None else version_of(data)
                return Outcome(status, version, current_version=version, change=change)
        return Outcome(
            "repeated_spurious_conflict",
            current_version=if_version,
            reason=f"{name} has not changed, and yet the write was refused twice.",
        )

    def update(self, name: str, make: Callable[[str | None], str | None], author: Author) -> Change:
        """Change a document whatever it holds by now: `make` gets its text (None where there is
        none) and gives the new one, None to delete it. It is asked anew when another was faster.

        Raises what `make` raises, and `StorageError`.
        """
        name = checked_name(name)
        self.settle()
        for _ in range(_TRIES):
            current = self.store.read(name)
            text = make(None if current is None else text_of(name, current))
            data = None if text is None else _fit(text)
            what = author.what if data is not None or author.what != "written" else "deleted"
            made = structs.replace(author, what=what)
            try:
                return self.store.replace(name, data, made, expected=_digest(current))
            except Moved:
                self.settle()
        raise _contested(name)

    def set_aside(self, name: str, text: str, author: Author) -> Change:
        """Keep a text in the history of a document without changing it. Raises `StorageError`."""
        data = text.encode("utf-8", "replace")
        return self.store.set_aside(name, data, structs.replace(author, what="set_aside"))

    def settle(self) -> list[str]:
        """Note what other programs have changed, and bring back what they have overwritten
        without having seen it (cases/B23). Returns the names of documents that were mended.
        """
        self.store.notice()
        names: list[str] = []
        changes = self.store.changes()
        if self._looked_at < 0:
            self._looked_at = max(len(changes) - _LOOKED_BACK, 0)
        while self._looked_at < len(changes):
            change = changes[self._looked_at]
            self._looked_at += 1
            found = None
            if change.author.who == "other":
                with contextlib.suppress(StorageError):  # a version that it needs is damaged
                    found = mended(self.store, change)
            if found is not None and len(found[0]) <= MOST_BYTES:
                text, author = found
                with contextlib.suppress(Moved):  # by a newer change, which comes next
                    self.store.replace(change.name, text, author, expected=change.after)
                    names.append(change.name)
                changes = self.store.changes()
        return names

    def rename(self, name: str, new: str, author: Author) -> Change:
        """Give a document a name that is free; its history goes with it.

        Raises `ReverieError` where there is no such document or the name is taken.
        """
        name, new = checked_name(name), checked_name(new)
        self.settle()
        data = self.store.read(name)
        if data is None:
            raise ReverieError(f"There is no document {name}.", kept="Nothing was changed.")
        made = structs.replace(author, what="renamed", other_name=name, why=f"was {name}")
        try:
            change = self.store.replace(new, data, made, expected=None)
        except Moved:
            raise ReverieError(
                f"There is a document {new} already.", kept="Nothing was changed."
            ) from None
        gone = structs.replace(author, what="renamed", why=f"is {new} now")
        with contextlib.suppress(Moved):  # changed in this moment: then both names stay
            self.store.replace(name, None, gone, expected=_digest(data))
        return change

    def unlink(self, name: str, author: Author) -> Change | None:
        """Take the entry's lines about a document that is gone out; None where there are none."""
        author = structs.replace(author, why=_gone(name))
        return self._change_entry(lambda text: without_link(text, name), author)

    def relink(self, name: str, new: str, author: Author) -> Change | None:
        """Let the entry's links to a document follow its new name; None where there are none."""
        return self._change_entry(lambda text: with_renamed_link(text, name, new), author)

    def _change_entry(self, make: Callable[[str], str], author: Author) -> Change | None:
        data = self.store.read(ENTRY)
        if data is None or make(text_of(ENTRY, data)) == text_of(ENTRY, data):
            return None
        return self.update(ENTRY, lambda text: None if text is None else make(text), author)

    def remove(self, name: str, author: Author) -> Change:
        """Take a document away, whatever it holds; its history keeps it.

        Raises `ReverieError` where there is none.
        """
        return self._put(checked_name(name), None, structs.replace(author, what="deleted"))

    def _put(self, name: str, data: bytes | None, author: Author) -> Change:
        """Make bytes the document, whatever it holds by now."""
        self.settle()
        for _ in range(_TRIES):
            current = self.store.read(name)
            if current is None and data is None:
                raise ReverieError(f"There is no document {name}.", kept="Nothing was changed.")
            try:
                return self.store.replace(name, data, author, expected=_digest(current))
            except Moved:
                self.settle()
        raise _contested(name)

    def history(self, name: str) -> list[Change]:
        """The changes of a document, newest first, under the names it had before too.

        Raises `StorageError`.
        """
        changes = self.store.changes()
        return self._before(changes, checked_name(name), len(changes))

    def _before(self, changes: Sequence[Change], name: str, end: int) -> list[Change]:
        found: list[Change] = []
        for place in range(end - 1, -1, -1):
            change = changes[place]
            if change.name == name:
                found.append(change)
                if change.author.other_name and change.after is not None:
                    found += self._before(changes, change.author.other_name, place)
        return found

    def find(self, name: str, change_id: str) -> Change:
        """A change of a document by its id, or by the version that it made.

        Raises `ReverieError` where there is none.
        """
        for change in self.history(name):
            is_version = change.after is not None and change.after[:_VERSION_DIGITS] == change_id
            if change.id == change_id or is_version:
                return change
        raise ReverieError(
            f"{name} has no version {change_id} in its history.",
            kept="Nothing was changed.",
            todo="`reverie memory history NAME` lists them.",
        )

    def past_text(self, name: str, change_id: str) -> str:
        """What a document held after a change, or before it where the change deleted it."""
        change = self.find(name, change_id)
        digest = change.after or change.before
        return "" if digest is None else text_of(name, self.store.text_of(digest))

    def restore(self, name: str, change_id: str, author: Author) -> Change:
        """Make a past version the document's again, and list it in the entry again where its
        deletion had taken it out. Raises `ReverieError`.
        """
        change = self.find(name, change_id)
        digest = change.after or change.before
        data = b"" if digest is None else self.store.text_of(digest)
        made = self._put(checked_name(name), data, structs.replace(author, what="restored"))
        changes = list(self.store.changes())
        for unlinked in changes[changes.index(change) + 1 :][:1]:
            if unlinked.name == ENTRY and unlinked.author.why == _gone(name):
                with contextlib.suppress(ReverieError):  # the entry was rewritten since
                    self.revert(ENTRY, unlinked.id, author)
        return made

    def revert(self, name: str, change_id: str, author: Author) -> Change:
        """Take one change back and leave what came after it.

        Raises `ReverieError` where later changes are in the way.
        """
        change = self.find(name, change_id)
        author = structs.replace(author, what="restored")
        self.settle()
        if _digest(self.store.read(change.name)) == change.after:  # then every byte comes back
            data = None if change.before is None else self.store.text_of(change.before)
            with contextlib.suppress(Moved):
                return self.store.replace(change.name, data, author, expected=change.after)
        after, before = (self._lines(digest) for digest in (change.after, change.before))

        def make(current: str | None) -> str | None:
            now = [] if current is None else current.splitlines(keepends=True)
            stretches = list(three_way(after, now, before))
            if any(stretch.is_conflict for stretch in stretches):
                raise ReverieError(
                    f"{name} was changed at the same place since.",
                    kept="Nothing was changed.",
                    todo="Open it in the memory screen (f4); its history has every version.",
                )
            lines = [line for stretch in stretches for line in stretch.lines or ()]
            if lines == now:
                raise ReverieError(f"That is not in {name} any more.", kept="Nothing was changed.")
            return "".join(lines) if lines or change.before is not None else None

        return self.update(change.name, make, author)

    def _lines(self, digest: str | None) -> list[str]:
        data = b"" if digest is None else self.store.text_of(digest)
        return data.decode("utf-8", "replace").splitlines(keepends=True)


def _gone(name: str) -> str:
    return f"{name} was deleted"


def _contested(name: str) -> StorageError:
    return StorageError(
        f"{name} is changed by another program all the time.",
        kept="Nothing was changed.",
        todo="Try again when that has ended.",
    )


class _Unfit(StorageError):
    """A text that no document can hold."""


def _fit(text: str) -> bytes:
    kept = "Nothing was changed."
    if "\x00" in text:
        raise _Unfit("The text holds NULs, which no document may.", kept=kept)
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        raise _Unfit("The text holds half of a surrogate pair.", kept=kept) from None
    if len(data) > MOST_BYTES:
        raise _Unfit(
            f"The text has {len(data)} bytes; a document may have {MOST_BYTES}.",
            kept=kept,
            todo="Divide it into several documents.",
        )
    return data


def _conflict(name: str, current: bytes | None) -> Outcome:
    text: str | None = None
    if current is not None and len(current) <= MOST_BYTES:
        text = current.decode("utf-8", "replace")
    there = "does not exist" if current is None else "has changed since it was read"
    return Outcome(
        "conflict",
        current_version=version_of(current),
        current_text=text,
        reason=f"{name} {there}; nothing was written. Read it again and bring both together.",
    )
