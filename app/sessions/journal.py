"""The one serial writer of a session: records are on disk before anything else knows of them."""

from __future__ import annotations

from collections.abc import Sequence

from app.errors import StorageError
from app.sessions.records import Record
from app.storage.record_log import RecordLog


class Journal:
    """Appends the records of ONE session to its own log (cases/B10).

    When the log cannot be written, the records wait here in order and go out with the next append
    that succeeds: the session goes on and nothing is lost while the process lives.
    """

    def __init__(
        self, session_id: str, log: RecordLog | None, beginning: Sequence[Record] = ()
    ) -> None:
        """`log` is None for a session that leaves nothing behind (`--no-session-persistence`).

        `beginning` goes out in front of the first record that is appended: a session that is
        only looked at leaves no file.
        """
        self.session_id = session_id
        self._log = log
        self._beginning = tuple(beginning)
        self._unsaved: list[bytes] = []

    @property
    def unsaved(self) -> int:
        """How many records still wait for the disk."""
        return len(self._unsaved)

    def write_beginning(self) -> StorageError | None:
        """Write what the session begins with, without waiting for its first own record."""
        beginning, self._beginning = self._beginning, ()
        return self.append(*beginning)

    def append(self, *records: Record) -> StorageError | None:
        """Write records behind all earlier ones, in one write.

        Returns why they could not be written yet, or None when everything is on disk. Raises
        `ValueError` for a record of another session.
        """
        for record in records:
            if record.session_id not in (None, self.session_id):
                raise ValueError(f"a record of {record.session_id} in the log of {self.session_id}")
        if self._log is None:
            return None
        if records and self._beginning:
            self._unsaved += [record.raw for record in self._beginning]
            self._beginning = ()
        self._unsaved += [record.raw for record in records]
        try:
            self._log.append(self._unsaved)
        except StorageError as error:
            return error
        self._unsaved.clear()
        return None

    def append_now(self, *records: Record) -> StorageError | None:
        """Write records, or leave no trace of them; returns why they could not be written.

        For what must not count unless it is on disk.
        """
        error = self.write_beginning()
        if error is None:
            error = self.append(*records)
            if error is not None:
                self._unsaved.clear()  # there was nothing but these
        return error

    def sync(self) -> StorageError | None:
        """Make all that was appended survive a power cut; returns why it could not be done."""
        if self._log is None:
            return None
        error = self.append() if self._unsaved else None
        if error is not None:
            return error
        try:
            self._log.sync()
        except StorageError as failure:
            return failure
        return None

    def close(self) -> StorageError | None:
        """Sync and release the log."""
        error = self.sync()
        if self._log is not None:
            self._log.close()
        return error
