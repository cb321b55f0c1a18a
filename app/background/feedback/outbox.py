"""The drafts of this installation: one 0600 file each in a 0700 folder, for many processes.

Whoever changes something holds `.lock`; whoever sends a draft holds `.ID.sending` from before the
first byte to the end, so that a crash is told from a send that goes on in another process.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
from collections.abc import Callable, Generator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from app.background.feedback.draft_files import put_aside, read_draft
from app.background.feedback.drafts import (
    LIFETIME,
    MOST_DRAFTS,
    Draft,
    DraftNotFound,
    checked,
    is_draft_id,
    moment,
)
from app.clock import Clock, timestamp
from app.errors import StorageError
from app.paths import create_private, make_private_folder, read_small, write_private
from app.plain_text import encodable
from app.storage.file_lock import locked
from app.storage.local import FileLog
from app.storage.reading import LAST_SECOND

SAFE_TO_REPEAT: Final = (
    "The program ended while this was being sent. It may have arrived; sending it again makes no "
    "second report."
)
UNKNOWN_END: Final = (
    "The program ended while this was being sent. It may have arrived; look there before you send "
    "it again."
)
REMOVED: Final = "removed"
"""The folder in which drafts that had to leave lie for another 30 days."""
MOST_REMOVED: Final = 100
"""Of these drafts; the oldest are deleted."""
MOST_LOG_BYTES: Final = 16 << 20
"""Of the log of what was sent."""
_PATIENCE: Final = 2.0
"""Seconds for another sender that is done and only has to let go."""


class SentReport(msgspec.Struct, frozen=True):
    """A line of the log of what was sent; it holds no text of the report."""

    id: str
    remote_id: str
    at: str
    sink: str


class Listing(msgspec.Struct, frozen=True):
    """What lies in the outbox, and what happened to it while it was looked at."""

    drafts: tuple[Draft, ...] = ()
    """Oldest first."""
    damaged: tuple[str, ...] = ()
    """Names of files that are no drafts; they are kept."""
    expired: tuple[Draft, ...] = ()
    """Drafts that were removed just now because of their age."""
    trouble: str = ""
    """Why the folder could not be put in order, as a sentence."""


class Outbox:
    """The folder `<data>/feedback/`. All methods block and raise `StorageError`."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.folder = folder
        self._clock = clock

    def add(self, draft: Draft) -> tuple[Draft, ...]:
        """Store a new draft; returns those that left because there were too many, oldest first.

        Raises DraftTooLarge.
        """
        draft = checked(draft)
        with self._changing():
            self._mend()
            others = [d for d in self._drafts() if d.id != draft.id and not self._is_held(d)]
            held = sum(d.id != draft.id for d in self._drafts()) - len(others)
            self._write(draft)
            evicted: list[Draft] = []
            for old in others[: max(len(others) + held + 1 - MOST_DRAFTS, 0)]:
                with contextlib.suppress(StorageError):  # the new one is stored all the same
                    self._let_go(old)
                    evicted.append(old)
        return tuple(evicted)

    def listing(self) -> Listing:
        """All drafts, after expired ones are gone, damaged files aside and crashes noted.

        Where the folder cannot be written they are read all the same, and `trouble` says why.
        """
        if not self.folder.exists():
            return Listing()
        expired: tuple[Draft, ...] = ()
        trouble = ""
        try:
            with self._changing():
                self._mend()
                expired = self._expire()
        except StorageError as error:
            trouble = str(error)
        try:
            names = sorted(path.name for path in self.folder.iterdir())
            drafts = tuple(self._drafts())
        except OSError as error:
            return Listing(trouble=f"{self.folder} cannot be read: {error.strerror or error}.")
        damaged = tuple(name for name in names if name.endswith(".damaged"))
        return Listing(drafts, damaged, expired, trouble)

    def settle(self, draft_id: str) -> None:
        """Draw the conclusion from an attempt at this draft whose process died; raises nothing
        where the folder cannot be written.
        """
        if self.folder.exists():
            with contextlib.suppress(StorageError), self._changing():
                self._settle(draft_id)

    def get(self, draft_id: str) -> Draft:
        """One draft as it stands on disk. Raises DraftNotFound."""
        draft = self._read(draft_id)
        if draft is None:
            raise DraftNotFound(
                f"There is no draft {draft_id}.", todo="`reverie feedback list` names them."
            )
        return draft

    def change(self, draft_id: str, changed: Callable[[Draft], Draft]) -> Draft:
        """Replace a draft by what `changed` makes of it; returns that.

        Raises DraftNotFound, DraftTooLarge, and `StorageError` while it is being sent.
        """
        with self._changing():
            self._settle(draft_id)
            draft = self.get(draft_id)
            self._refuse_held(draft)
            after = checked(changed(draft))
            self._write(replace(after, id=draft_id))
        return after

    def set_aside(self, draft_id: str, text: str) -> Path:
        """Keep a text that the draft cannot take in a file beside it, which no listing shows."""
        with self._changing():
            for number in itertools.count(1):
                file = self.folder / f"{draft_id}-{number}.txt"
                with contextlib.suppress(FileExistsError):
                    create_private(file, encodable(text).encode())
                    return file
        raise AssertionError("there is always a free number")

    def discard(self, draft_id: str) -> None:
        """Delete a draft. Raises DraftNotFound, and `StorageError` while it is being sent."""
        with self._changing():
            self._refuse_held(self.get(draft_id))
            self._remove(draft_id)

    @contextlib.contextmanager
    def sending(
        self, draft_id: str, marked: Callable[[Draft], Draft]
    ) -> Generator[Draft, None, None]:
        """Hold a draft while it is sent; on disk is what `marked` made of it before this yields.

        `marked` may raise to leave it as it is. Raises DraftNotFound, and `StorageError` when
        another process is sending it.
        """
        with contextlib.ExitStack() as held:
            with self._changing():
                self._settle(draft_id)
                draft = self.get(draft_id)
                self._refuse_held(draft)
                # Before the lock file is made: a refusal leaves none behind.
                after = marked(draft)
                held.enter_context(locked(self._lock_of(draft_id), _PATIENCE))
                self._write(after)
            yield after

    def finish(self, draft: Draft) -> None:
        """Write how an attempt ended; for the holder of `sending` alone."""
        with self._changing():
            self._write(draft)

    def sent(self, draft: Draft, remote_id: str) -> None:
        """Log a draft as sent, then delete it; for the holder of `sending` alone.

        Raises `StorageError` when it could not be logged; it is deleted all the same.
        """
        report = SentReport(draft.id, remote_id, timestamp(self._clock.now()), draft.sink)
        with self._changing():
            log = FileLog(self.folder / "sent.jsonl", "log of sent reports")
            try:
                log.append([msgspec.json.encode(report)])
                log.sync()
            except StorageError as error:
                raise StorageError(
                    f"The log of sent reports could not be written: {error.happened}"
                ) from error
            finally:
                log.close()
                # Also where the log is full: what stays here would be sent once more.
                self._remove(draft.id)

    def sent_reports(self) -> tuple[SentReport, ...]:
        """What was sent, oldest first; lines that are damaged are left out."""
        reports: list[SentReport] = []
        try:
            log = read_small(self.folder / "sent.jsonl", MOST_LOG_BYTES)
        except OSError:
            return ()
        for raw in log.split(b"\n"):
            with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
                reports.append(msgspec.json.decode(raw, type=SentReport))
        return tuple(reports)

    @contextlib.contextmanager
    def _changing(self) -> Generator[None, None, None]:
        with locked(self.folder / ".lock"):
            yield

    def _mend(self) -> None:
        """Put damaged files aside and settle what a crash left behind."""
        with contextlib.suppress(OSError):  # the folder of another person
            if stat.S_IMODE(self.folder.stat().st_mode) & 0o077:
                self.folder.chmod(0o700)
            for half in self.folder.glob(".tmp-*"):  # whoever wrote it held the lock, and is gone
                half.unlink()
        for path in self._files():
            draft_id = path.name.removesuffix(".json")
            with contextlib.suppress(OSError):  # one that may not be read stays where it is
                if read_draft(path) is None:
                    put_aside(path)
                else:
                    self._settle(draft_id)

    def _expire(self) -> tuple[Draft, ...]:
        """Let the drafts go that are too old; returns them."""
        expired = tuple(d for d in self._drafts() if self._is_expired(d) and not self._is_held(d))
        for draft in expired:
            self._let_go(draft)
        return expired

    def _let_go(self, draft: Draft) -> None:
        """Move a draft that nobody has discarded to where it lies for another while.

        A clock that runs ahead by years must not delete a word for good.
        """
        now = self._clock.now().timestamp()
        folder = self.folder / REMOVED
        make_private_folder(folder)
        try:
            files = sorted(folder.iterdir(), key=lambda file: file.lstat().st_mtime, reverse=True)
            for number, old in enumerate(files, 1):
                is_old = old.lstat().st_mtime < now - LIFETIME.total_seconds()
                if is_old or number >= MOST_REMOVED:
                    old.unlink()
            kept = folder / f"{draft.id}.json"
            (self.folder / f"{draft.id}.json").replace(kept)
            os.utime(kept, (now, now))
            self._lock_of(draft.id).unlink(missing_ok=True)
        except OSError as error:
            raise StorageError(
                f"The draft {draft.id} cannot be moved to {folder}: {error.strerror or error}.",
                kept="It is still there.",
            ) from error

    def _settle(self, draft_id: str) -> None:
        """Draw the conclusion from an attempt whose process died."""
        draft = self._read(draft_id)
        if draft is None or draft.status != "sending" or self._is_held(draft):
            return
        if any(report.id == draft_id for report in self.sent_reports()):
            self._remove(draft_id)
        elif draft.is_idempotent:
            self._write(
                replace(draft, status="failed", reason=SAFE_TO_REPEAT, may_have_arrived=True)
            )
        else:
            self._write(replace(draft, status="unclear", reason=UNKNOWN_END, may_have_arrived=True))

    def _is_expired(self, draft: Draft) -> bool:
        """Whether it is too old by its own time and by its file's: one of them may be wrong."""
        try:
            changed = (self.folder / f"{draft.id}.json").stat().st_mtime
        except OSError:
            return False
        limit = self._clock.now() - LIFETIME
        created = moment(draft.created)
        return created is not None and created < limit and _from_epoch(changed) < limit

    def _is_held(self, draft: Draft) -> bool:
        """Whether a living process is sending it."""
        lock = self._lock_of(draft.id)
        if draft.status != "sending" or not lock.exists():
            return False
        try:
            with locked(lock, patience=0):
                return False
        except StorageError:
            return True

    def _refuse_held(self, draft: Draft) -> None:
        if self._is_held(draft):
            raise StorageError(
                f"The draft {draft.id} is being sent by another process.",
                kept="Nothing was changed.",
                todo="Wait until it is done.",
            )

    def _lock_of(self, draft_id: str) -> Path:
        return self.folder / f".{draft_id}.sending"

    def _files(self) -> list[Path]:
        return sorted(path for path in self.folder.glob("*.json") if not path.name.startswith("."))

    def _drafts(self) -> list[Draft]:
        read = (self._read(path.name.removesuffix(".json")) for path in self._files())
        return sorted((d for d in read if d is not None), key=lambda d: (d.created, d.id))

    def _read(self, draft_id: str) -> Draft | None:
        if not is_draft_id(draft_id):
            return None
        try:
            return read_draft(self.folder / f"{draft_id}.json")
        except OSError:
            return None

    def _write(self, draft: Draft) -> None:
        content = msgspec.json.format(msgspec.json.encode(draft), indent=1)
        write_private(self.folder / f"{draft.id}.json", content + b"\n")

    def _remove(self, draft_id: str) -> None:
        try:
            (self.folder / f"{draft_id}.json").unlink(missing_ok=True)
            self._lock_of(draft_id).unlink(missing_ok=True)
        except OSError as error:
            raise StorageError(
                f"The draft {draft_id} cannot be deleted: {error.strerror or error}.",
                kept="It is still there.",
                todo=f"Check the permissions of {self.folder}.",
            ) from error


def _from_epoch(seconds: float) -> datetime:
    return datetime.fromtimestamp(min(max(seconds, 0.0), LAST_SECOND), UTC)
