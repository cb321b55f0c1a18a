"""Which documents a folder holds: found by looking, without following a link out of it."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from msgspec import Struct

from app.storage.document_folder import MOST_READ
from app.storage.documents import DocumentInfo, Listing, Skipped
from app.storage.names import MOST_LEVELS, SUFFIX, closed, folded, has_unseen

MOST_ENTRIES: Final = 5_000
"""Entries of the folder that are looked at (spec/memory.md, Index)."""


class Look(Struct, frozen=True):
    """A folder as it was found."""

    listing: Listing = Listing()
    folders: tuple[tuple[str, int], ...] = ()
    """Paths of the folders that were listed, and their time in nanoseconds before that."""
    is_cut: bool = False
    """Whether there were more entries than are looked at."""


def scan(top: str | os.PathLike[str]) -> Listing:
    """Every document below `top`, at most `MOST_LEVELS` deep, and what was left out and why.

    A folder that is not there, or vanishes meanwhile, holds nothing.
    """
    return look(top).listing


def look(top: str | os.PathLike[str]) -> Look:
    """As `scan`, with what tells later whether a document has come or gone."""
    found: list[DocumentInfo] = []
    skipped: list[Skipped] = []
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
    _leave_clashes(found, skipped)
    found.sort(key=lambda document: document.name)
    return Look(Listing(tuple(found), tuple(skipped)), tuple(stamps), is_cut)


def _closed_folder(name: str, level: int) -> str:
    """Why nothing below a folder is a document; empty for an ordinary one."""
    if level >= MOST_LEVELS:
        return f"it is more than {MOST_LEVELS} levels deep"
    if has_unseen(name):
        return "its name holds a character that cannot be seen"
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
    elif has_unseen(entry.name):
        reason = "its name holds a character that cannot be seen"
    if reason:
        skipped.append(Skipped(name, reason))
    else:
        found.append(DocumentInfo(name, state.st_size, state.st_mtime_ns))


def _stays(path: str, top: str | os.PathLike[str]) -> bool:
    root = os.path.realpath(top)
    return os.path.realpath(path).startswith(f"{root}{os.sep}")


def _leave_clashes(found: list[DocumentInfo], skipped: list[Skipped]) -> None:
    """Of names that differ only in case the first one counts."""
    seen: dict[str, str] = {}
    for document in sorted(found, key=lambda each: each.name):
        first = seen.setdefault(folded(document.name), document.name)
        if first != document.name:
            skipped.append(Skipped(document.name, f"it differs from {first} only in case"))
            found.remove(document)
