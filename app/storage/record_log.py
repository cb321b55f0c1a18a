"""The interface of a log of records: what any backend of transcripts must do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class RecordLog(Protocol):
    """An append-only list of lines that survives a crash.

    A line is bytes without a newline. What `append` has returned for is in the log for every
    later reader, whole and in order; `sync` makes it survive a power cut.
    """

    def append(self, lines: Sequence[bytes]) -> None:
        """Add lines at the end, all or none visible as whole lines. Raises `StorageError`."""
        ...

    def read(self) -> bytes:
        """The whole log. Raises `StorageError`; a log that does not exist is empty."""
        ...

    def sync(self) -> None:
        """Wait until everything appended is on the disk. Raises `StorageError`."""
        ...

    def close(self) -> None:
        """Sync and release the log; closing twice is harmless."""
        ...
