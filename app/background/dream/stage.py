"""The copy of the memory that a dream works on, and what it has made of it.

The memory itself is not touched before everything is known: a dream that is killed or fails has
changed nothing (spec/dream.md, Beyond the seeds).
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from app.background.dream.record import DreamFile
from app.errors import StorageError
from app.memory.documents import text_of
from app.paths import make_private_folder
from app.storage.document_folder import DocumentFolder
from app.storage.document_scan import FolderScan
from app.storage.documents import DocumentInfo, DocumentStore, Listing


class Stage:
    """A copy of all documents in a folder of its own."""

    def __init__(self, folder: Path, base: Mapping[str, bytes]) -> None:
        self.folder = folder
        self.base = base
        """What the memory held when the copy was made, by name."""

    def changes(self) -> tuple[DreamFile, ...]:
        """What is different now, by name. Links, pipes and other files count as nothing, and so
        does a change to or from what is no text.
        """
        now = _held_in(self.folder)
        found: list[DreamFile] = []
        for name in sorted({*self.base, *now}):
            if self.base.get(name) != now.get(name):
                with contextlib.suppress(StorageError):
                    before, after = (_text(name, held.get(name)) for held in (self.base, now))
                    found.append(DreamFile(name, before, after))
        return tuple(found)

    def remove(self) -> None:
        """Remove the copy."""
        shutil.rmtree(self.folder, ignore_errors=True)


def make_stage(memory: Path, folder: Path) -> Stage:
    """Copy all documents of `memory` to `folder`, which an earlier dream may have left. Blocking.

    Links are left out: a dream that drops one of two names would delete what both lead to.

    Raises `StorageError` where the memory cannot be read or the copy not be written.
    """
    if folder.is_symlink():
        raise StorageError(
            f"{folder} is a link; a dream's copy must be a folder of its own.",
            kept="Nothing was changed.",
            todo="Remove the link.",
        )
    shutil.rmtree(folder, ignore_errors=True)
    base = _held_in(memory)
    try:
        make_private_folder(folder)
        for name, data in base.items():
            _write(folder / name, data)
    except OSError as error:
        raise StorageError(
            f"{folder} cannot be written: {error.strerror or error}.", kept="Nothing was changed."
        ) from error
    return Stage(folder, base)


def contents(store: DocumentStore) -> dict[str, bytes]:
    """What all documents hold, by name, but those that cannot be read. Blocking.

    Raises `StorageError` where there are too many to look at.
    """
    found: dict[str, bytes] = {}
    for document in _all(store.listing(anew=True)):
        with contextlib.suppress(StorageError):
            data = store.read(document.name)
            if data is not None:
                found[document.name] = data
    return found


def _all(listing: Listing) -> Sequence[DocumentInfo]:
    if listing.is_cut:
        raise StorageError(
            f"There are more than {len(listing.documents):,} documents; a dream needs them all.",
            kept="Nothing was changed.",
            todo="Move some of them out of the memory folder.",
        )
    return listing.documents


def _write(file: Path, data: bytes) -> None:
    make_private_folder(file.parent)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(file, flags, 0o600), "wb") as opened:
        opened.write(data)


def _held_in(folder: Path) -> Mapping[str, bytes]:
    """The documents in a folder by name; what is no plain file is left out."""
    files = DocumentFolder(folder)
    found: dict[str, bytes] = {}
    for document in _all(FolderScan(folder, lambda: 0).listing(anew=True)):
        if (folder / document.name).is_symlink():
            continue
        with contextlib.suppress(StorageError):
            data = files.read(document.name)
            if data is not None:
                found[document.name] = data
    return found


def _text(name: str, data: bytes | None) -> str | None:
    return None if data is None else text_of(name, data)


def bytes_of(texts: Sequence[str | None]) -> int:
    """UTF-8 bytes of texts, of those that there are."""
    return sum(len(text.encode()) for text in texts if text is not None)
