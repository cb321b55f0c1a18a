"""Versioned documents as files in a folder, with their history beside it (spec/memory.md)."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Callable, Generator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from msgspec import structs

from app.clock import Clock, timestamp
from app.errors import StorageError
from app.storage.document_folder import DocumentFolder, digest_of
from app.storage.document_log import DocumentLog, Stamp
from app.storage.document_scan import FolderScan
from app.storage.documents import Author, Change, Listing, Moved, Replacement
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
        with self._writing():
            if self._notice(checked_name(name)):
                raise Moved(self._files.read(name))
            change = self._ready(Replacement(name, data, expected), author)
            self._log.announce([change])
            try:
                stamp = self._files.put(change.name, data, expected, self._log.keep)
            except (Moved, StorageError):
                self._log.settle()
                raise
            with contextlib.suppress(StorageError):  # the text is written; `pending` tells the next
                self._log.append(change, stamp)
                self._log.settle()
        return change

    def replace_all(self, wanted: Sequence[Replacement], author: Author) -> Mapping[str, Change]:
        ready: list[tuple[Change, Callable[[], Stamp | None]]] = []
        stamps: list[tuple[Change, Stamp | None]] = []
        with self._writing(), contextlib.ExitStack() as prepared:
            for each in wanted:
                self._notice(checked_name(each.name))
                self._files.tidy(each.name, self._log.keep)
            for each in sorted(wanted, key=lambda each: each.data is None):
                change = self._ready(each, author)
                write = self._files.prepared(change.name, each.data, each.expected)
                ready.append((change, prepared.enter_context(write)))
            self._log.announce([change for change, _ in ready])
            try:
                self._commit_all(ready, stamps)
            finally:
                if not stamps:
                    self._log.settle()
            with contextlib.suppress(StorageError):  # they are written; `pending` tells the next
                for change, stamp in stamps:
                    self._log.append(change, stamp)
                self._log.settle()
        return {change.name: change for change, _ in stamps}

    def _commit_all(
        self,
        ready: Sequence[tuple[Change, Callable[[], Stamp | None]]],
        stamps: list[tuple[Change, Stamp | None]],
    ) -> None:
        """Documents are deleted last, and not where one of the others was changed in this moment:
        what they held may have gone there.
        """
        for change, commit in ready:
            if change.after is None and len(stamps) < sum(c.after is not None for c, _ in ready):
                return
            with contextlib.suppress(Moved):
                stamps.append((change, commit()))

    def _ready(self, wanted: Replacement, author: Author) -> Change:
        """What a write would be, all texts that it touches kept. Raises `Moved`."""
        name = checked_name(wanted.name)
        current = self._files.read(name)
        if digest_of(current) != wanted.expected:
            raise Moved(current)
        for text in (wanted.data, current):
            if text is not None:
                self._log.keep(text)
        what = "deleted" if wanted.data is None and author.what == "written" else author.what
        made = structs.replace(author, what=what)
        return self._change(name, made, wanted.expected, wanted.data)

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
        """Write down the changes that a process was killed in, as far as they had come to pass.

        Several that belong together are carried out whole, also where none of them has come to
        pass: which one an editor has written over since cannot be told. Where that cannot be done
        it is raised, and tried anew by the next one that writes.
        """
        changes, is_begun = self._log.announced()
        states = [(change, *self._state(change.name)) for change in changes]
        is_begun = is_begun or len(changes) > 1 or any(d == c.after for c, d, _ in states)
        is_whole = True
        for change, digest, stamp in states if is_begun else ():
            if digest == change.after:
                self._log.append(change, stamp)
            elif digest == change.before and (is_whole or change.after is not None):
                is_whole &= self._make_up_for(change)
            else:
                is_whole = False
        self._log.settle()

    def _make_up_for(self, change: Change) -> bool:
        """Whether it could be: not when it is another's by now, or its text is damaged."""
        try:
            text = None if change.after is None else self._log.text(change.after)
            stamp = self._files.put(change.name, text, change.before, self._log.keep)
        except Moved:
            return False
        except StorageError as error:
            if _lasts(error):
                return False
            raise StorageError(
                f"A change of several documents ({change.author.why}) is not whole: "
                f"{error.happened}",
                kept="What of it is done already stays; its texts are all in the history.",
                todo="Make that document writable; until then nothing else is written.",
            ) from error
        self._log.append(change, stamp)
        return True

    def _state(self, name: str) -> tuple[str | None, Stamp | None]:
        """The digest of a document and its stamp; an empty digest where none can be there."""
        try:
            found = self._files.read_with_stamp(name)
        except StorageError as error:
            if _lasts(error):
                return "", None
            raise
        return (None, None) if found is None else (digest_of(found[0]), found[1])

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


def _lasts(error: StorageError) -> bool:
    """Whether it says what a document or its name is, and not that the system refuses just now."""
    cause = error.__cause__
    lasting = (errno.ENOENT, errno.ELOOP, errno.EISDIR, errno.ENOTDIR)
    return not isinstance(cause, OSError) or cause.errno in lasting
