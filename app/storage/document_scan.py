"""Which documents a folder holds: found by looking, without following a link out of it."""

from __future__ import annotations

import os
import stat
from typing import Final

from app.storage.document_folder import MOST_READ
from app.storage.documents import DocumentInfo, Listing, Skipped
from app.storage.names import MOST_LEVELS, SUFFIX, closed, folded, has_unseen

MOST_ENTRIES: Final = 5_000
"""Entries of the folder that are looked at (spec/memory.md, Index)."""


def scan(top: str | os.PathLike[str]) -> Listing:
    """Every document below `top`, at most `MOST_LEVELS` deep, and what was left out and why.

    A folder that is not there, or vanishes meanwhile, holds nothing.
    """
    found: list[DocumentInfo] = []
    skipped: list[Skipped] = []
    looked = 0
    folders = [("", os.fspath(top), 1)]
    while folders:
        prefix, folder, level = folders.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError as error:
            if prefix:
                skipped.append(Skipped(prefix, f"it cannot be read: {error.strerror or error}"))
            elif not isinstance(error, FileNotFoundError):
                skipped.append(Skipped(".", f"it cannot be read: {error.strerror or error}"))
            continue
        if looked + len(entries) > MOST_ENTRIES:
            more = looked + len(entries) - MOST_ENTRIES
            entries = entries[: MOST_ENTRIES - looked]
            skipped.append(Skipped(prefix or ".", f"{more} more entries were not looked at"))
        looked += len(entries)
        for entry in entries:
            name = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                if level >= MOST_LEVELS:
                    skipped.append(Skipped(name, f"it is more than {MOST_LEVELS} levels deep"))
                elif not closed(entry.name):
                    folders.append((f"{name}/", entry.path, level + 1))
            elif entry.name.endswith(SUFFIX) and not entry.name.startswith("."):
                _take(entry, name, top, found, skipped)
    _leave_clashes(found, skipped)
    found.sort(key=lambda document: document.name)
    return Listing(tuple(found), tuple(skipped))


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
        skipped.append(Skipped(name, f"it cannot be read: {error.strerror or error}"))
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
