"""Which documents a folder holds: found by looking, without following a link out of it."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from app.storage.document_folder import MOST_READ
from app.storage.documents import DocumentInfo, Listing, Skipped
from app.storage.names import ENTRY, MOST_LEVELS, SUFFIX, closed, folded, unfit

MOST_ENTRIES: Final = 5_000
"""Entries of the folder that are looked at (spec/memory.md, Index)."""
TICK: Final = 2_000_000_000
"""Nanoseconds within which a file system may give two changes the same time (FAT: 2 s)."""
_NEWEST: Final = 250
_IN_TURN: Final = 2_000
"""Other documents whose own time is looked at in one call: a look at all takes over 10 ms."""
_MOST_OTHERS: Final = 200


class Look(Struct, frozen=True):
    """A folder as it was found."""

    listing: Listing = Listing()
    folders: tuple[tuple[str, int], ...] = ()
    """Paths of the folders that were listed, and their time in nanoseconds before that."""


class FolderScan:
    """Looks at one folder, and again only when something has changed in it since."""

    def __init__(self, folder: Path, now: Callable[[], int] = time.time_ns) -> None:
        """`now` gives nanoseconds since the epoch."""
        self._folder = Path(os.path.abspath(folder))  # noqa: PTH100  a link stays one
        self._now = now
        self._stamps: tuple[tuple[str, int], ...] = ()
        self._listing = Listing()
        self._newest: tuple[DocumentInfo, ...] = ()
        self._turn = 0

    def listing(self, *, anew: bool = False) -> Listing:
        """Every document; an empty listing where there is no folder.

        A document that has come, gone or been renamed is seen at once, and so is any change of
        one of the newest. Of the others so many are looked at in a call that the change of one
        that was written in place is seen after three calls at most, or with `anew`.
        """
        if anew or not self._is_unchanged():
            self._look()
        return self._listing

    def _is_unchanged(self) -> bool:
        if not self._stamps:
            return False
        try:
            top = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            for path, stamp in self._stamps:
                if os.stat(path, dir_fd=top).st_mtime_ns != stamp:
                    return False
            return _are_unchanged(self._in_turn(), top)
        except OSError:
            return False
        finally:
            os.close(top)

    def _in_turn(self) -> Iterator[DocumentInfo]:
        documents = self._listing.documents
        yield from self._newest
        yield from documents[self._turn : self._turn + _IN_TURN]
        self._turn += _IN_TURN
        if self._turn >= len(documents):
            self._turn = 0

    def _look(self) -> None:
        began = self._now()
        found = look(self._folder)
        documents = found.listing.documents
        # What changed a moment ago may change again without getting another time.
        is_settled = all(began - stamp > TICK for _, stamp in found.folders)
        is_settled = is_settled and all(began - each.modified > TICK for each in documents)
        if found.listing != self._listing or not is_settled:
            self._listing = found.listing
            newest = sorted(documents, key=lambda each: -each.modified)
            self._newest = tuple(newest[:_NEWEST])
        self._stamps = found.folders if is_settled else ()


def _are_unchanged(known: Iterable[DocumentInfo], top: int) -> bool:
    for each in known:
        state = os.stat(each.name, dir_fd=top)
        if state.st_mtime_ns != each.modified or state.st_size != each.size:
            return False
    return True


def look(top: str | os.PathLike[str]) -> Look:
    """Every document below `top`, at most `MOST_LEVELS` deep, and what was left out and why.

    A folder that is not there, or vanishes meanwhile, holds nothing.
    """
    found: list[DocumentInfo] = []
    skipped: list[Skipped] = []
    others: list[str] = []
    stamps: list[tuple[str, int]] = []
    looked, is_cut = 0, False
    folders = [("", os.fspath(top), 1)]
    while folders:
        prefix, folder, level = folders.pop()
        try:
            stamps.append((folder, Path(folder).stat().st_mtime_ns))
            with os.scandir(folder) as listed:
                entries = list(listed)
        except OSError as error:
            if prefix or not isinstance(error, FileNotFoundError):
                skipped.append(Skipped(prefix or ".", _unreadable(error)))
            continue
        if looked + len(entries) > MOST_ENTRIES:
            more = looked + len(entries) - MOST_ENTRIES
            entries = entries[: MOST_ENTRIES - looked]
            skipped.append(Skipped(prefix or ".", f"{more} more entries were not looked at"))
            is_cut = True
        looked += len(entries)
        for entry in entries:
            name = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                if reason := _closed_folder(entry.name, level):
                    skipped.append(Skipped(name, reason))
                else:
                    folders.append((f"{name}/", entry.path, level + 1))
            elif entry.name.endswith(SUFFIX) and not entry.name.startswith("."):
                _take(entry, name, top, found, skipped)
            elif entry.is_symlink() and entry.is_dir():
                skipped.append(Skipped(name, "it is a link to a folder, which is not followed"))
            elif len(others) < _MOST_OTHERS:
                others.append(name)
    _leave_clashes(found, skipped)
    found.sort(key=lambda document: document.name)
    listing = Listing(tuple(found), tuple(skipped), tuple(sorted(others)), is_cut)
    return Look(listing, tuple(stamps))


def _closed_folder(name: str, level: int) -> str:
    """Why nothing below a folder is a document; empty for an ordinary one."""
    if level >= MOST_LEVELS:
        return f"it is more than {MOST_LEVELS} levels deep"
    if why := unfit(name):
        return f"its name {why}"
    reason = closed(name)
    return f"it {reason}" if reason else ""


def _unreadable(error: OSError) -> str:
    return f"it cannot be read: {error.strerror or error}"


def _take(
    entry: os.DirEntry[str],
    name: str,
    top: str | os.PathLike[str],
    found: list[DocumentInfo],
    skipped: list[Skipped],
) -> None:
    try:
        state = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(state.st_mode):
            if not _stays(entry.path, top):
                skipped.append(Skipped(name, "it is a link that leads out of the folder"))
                return
            state = entry.stat()
    except OSError as error:
        skipped.append(Skipped(name, _unreadable(error)))
        return
    reason = ""
    if not stat.S_ISREG(state.st_mode):
        reason = "it is not a regular file"
    elif state.st_size > MOST_READ:
        reason = f"it has {state.st_size} bytes; {MOST_READ} are the most"
    elif name.startswith("~"):
        reason = "its name begins with `~`, which stands for a home folder"
    elif why := unfit(entry.name):
        reason = f"its name {why}"
    if reason:
        skipped.append(Skipped(name, reason))
    else:
        found.append(DocumentInfo(name, state.st_size, state.st_mtime_ns))


def _stays(path: str, top: str | os.PathLike[str]) -> bool:
    root = os.path.realpath(top)
    return os.path.realpath(path).startswith(f"{root}{os.sep}")


def _leave_clashes(found: list[DocumentInfo], skipped: list[Skipped]) -> None:
    """Of names that differ only in case the first one counts, and the entry's before all."""
    seen = {folded(ENTRY): ENTRY}
    for document in sorted(found, key=lambda each: each.name):
        first = seen.setdefault(folded(document.name), document.name)
        if first != document.name:
            skipped.append(Skipped(document.name, f"it differs from {first} only in case"))
            found.remove(document)
