"""Versioned documents as files in a folder, with their history beside it (spec/memory.md)."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from app.clock import Clock, timestamp
from app.errors import StorageError
from app.storage.document_folder import DocumentFolder, digest_of
from app.storage.document_log import DocumentLog, Stamp
from app.storage.document_scan import FolderScan
from app.storage.documents import Author, Change, Listing, Moved
from app.storage.file_lock import locked
from app.storage.names import checked_name
from app.storage.reading import LAST_SECOND, Read, read_head

OTHER = Author("other", why="seen afterwards")


class LocalDocuments:
    """A `DocumentStore` over files that other programs may change at any time.

    What another program wrote is put into the history before it is replaced, so that nothing
    that was ever in a document is lost.
    """

    def __init__(self, folder: Path, history: Path, clock: Clock) -> None:
        self.folder = folder
        self._files = DocumentFolder(folder)
        self._scan = FolderScan(folder, lambda: int(clock.now().timestamp() * 1e9))
        self._log = DocumentLog(history)
        self._clock = clock

    def listing(self, *, anew: bool = False) -> Listing:
        return self._scan.listing(anew=anew)

    def read(self, name: str) -> bytes | None:
        return self._files.read(name)

    def head(self, name: str, most: int) -> Read:
        return read_head(self.folder, checked_name(name), most)

    def replace(
        self, name: str, data: bytes | None, author: Author, *, expected: str | None
    ) -> Change:
        name = checked_name(name)
        with self._writing():
            is_news = self._notice(name)
            current = self._files.read(name)
            if is_news or digest_of(current) != expected:
                raise Moved(current)
            change = self._change(name, author, expected, data)
            if data is not None:
                self._log.keep(data)
            if current is not None:
                self._log.keep(current)
            self._log.announce(change)
            try:
                stamp = self._files.put(name, data, expected, self._log.keep)
            except (Moved, StorageError):
                self._log.settle()
                raise
            with contextlib.suppress(StorageError):  # the text is written; `pending` tells the next
                self._log.append(change, stamp)
                self._log.settle()
        return change

    def set_aside(self, name: str, data: bytes, author: Author) -> Change:
        name = checked_name(name)
        with self._writing():
            change = self._change(name, author, None, data)
            self._log.keep(data)
            self._log.append(change, None)
        return change

    def notice(self) -> None:
        if not self._log.is_begun:
            return
        with self._writing():
            found = self._scan.listing(anew=True).documents
            stamps = {each.name: (each.modified, each.size) for each in found}
            for name in self._log.known():
                if stamps.get(name) != self._log.stamp(name):
                    # A pipe, a folder or a link may stand in its place by now.
                    with contextlib.suppress(StorageError):
                        self._notice(name)

    def changes(self, name: str | None = None) -> Sequence[Change]:
        self._log.refresh()
        if name is None:
            return self._log.changes
        return tuple(change for change in self._log.changes if change.name == name)

    def text_of(self, digest: str) -> bytes:
        return self._log.text(digest)

    def close(self) -> None:
        self._log.close()

    @contextlib.contextmanager
    def _writing(self) -> Generator[None, None, None]:
        with locked(self._log.lock):
            self._log.refresh()
            self._finish()
            yield

    def _finish(self) -> None:
        """Write down the change that a process was killed in, if it had come to pass."""
        change = self._log.announced()
        if change is not None:
            with contextlib.suppress(StorageError):
                found = self._files.read_with_stamp(change.name)
                data, stamp = (None, None) if found is None else found
                if digest_of(data) == change.after:
                    self._log.append(change, stamp)
        self._log.settle()

    def _notice(self, name: str) -> bool:
        """Write down what another program has made of a document since its last change.

        Returns whether it has made anything of it.
        """
        found = self._files.read_with_stamp(name)
        data, stamp = found if found is not None else (None, None)
        last = self._log.last(name)
        before = None if last is None else last.after
        if digest_of(data) == before:
            return False
        if data is not None:
            self._log.keep(data)
        change = self._change(name, OTHER, before, data, stamp)
        self._log.append(change, stamp)
        return last is not None

    def _change(
        self,
        name: str,
        author: Author,
        before: str | None,
        data: bytes | None,
        stamp: Stamp | None = None,
    ) -> Change:
        moment = self._clock.now()
        if stamp is not None:
            seconds = min(max(stamp[0] / 1e9, 0.0), LAST_SECOND)
            moment = datetime.fromtimestamp(seconds, UTC)
        return Change(
            uuid4().hex[:12],
            timestamp(moment),
            name,
            author,
            before,
            digest_of(data),
            len(data or b""),
        )
