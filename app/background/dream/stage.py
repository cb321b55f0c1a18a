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
from app.storage.documents import DocumentStore


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
        now = held_in(self.folder)
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


def make_stage(store: DocumentStore, folder: Path) -> Stage:
    """Copy all documents to `folder`, which an earlier dream may have left. Blocking.

    Raises `StorageError` where the memory cannot be read or the copy not be written.
    """
    if folder.is_symlink():
        raise StorageError(
            f"{folder} is a link; a dream's copy must be a folder of its own.",
            kept="Nothing was changed.",
            todo="Remove the link.",
        )
    shutil.rmtree(folder, ignore_errors=True)
    base = contents(store)
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
    """What all documents hold, by name. Blocking; raises `StorageError`."""
    found: dict[str, bytes] = {}
    for document in store.listing(anew=True).documents:
        data = store.read(document.name)
        if data is not None:
            found[document.name] = data
    return found


def _write(file: Path, data: bytes) -> None:
    make_private_folder(file.parent)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(file, flags, 0o600), "wb") as opened:
        opened.write(data)


def held_in(folder: Path) -> Mapping[str, bytes]:
    """The documents in a folder by name; what is no plain file is left out."""
    files = DocumentFolder(folder)
    found: dict[str, bytes] = {}
    for document in FolderScan(folder, lambda: 0).listing(anew=True).documents:
        if (folder / document.name).is_symlink():
            continue
        data = files.read(document.name)
        if data is not None:
            found[document.name] = data
    return found


def _text(name: str, data: bytes | None) -> str | None:
    return None if data is None else text_of(name, data)


def bytes_of(texts: Sequence[str | None]) -> int:
    """UTF-8 bytes of texts, of those that there are."""
    return sum(len(text.encode()) for text in texts if text is not None)
