"""Where a report can go, and how an attempt ended; only `send` ever opens a connection.

There is no default: a sink is made of the user's own settings (spec/feedback.md, Sinks).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeAlias

import msgspec

from app.background.feedback.payload import BUDGET, Payload
from app.errors import StorageError
from app.paths import create_private, make_private_folder

Progress: TypeAlias = Callable[[int, int], None]
"""Told the bytes that were handed over, and all there are; first of all 0, before any is."""


class Sent(msgspec.Struct, frozen=True):
    """The service said yes."""

    remote_id: str
    note: str = ""
    """What went wrong afterwards, as a sentence."""
    is_duplicate: bool = False
    """Whether the service had a report under this key before."""


class Failed(msgspec.Struct, frozen=True):
    """There was no yes; the draft stays."""

    reason: str
    """What happened and what to do, as sentences."""
    retry_after: float | None = None
    """Seconds before which the service wants no other attempt."""
    is_unclear: bool = False
    """Whether the report may have arrived all the same."""
    status: int | None = None
    """The HTTP status, when there was one; 413: offer to send without the transcript."""


Outcome: TypeAlias = Sent | Failed


class Sink(Protocol):
    """One place for reports."""

    @property
    def name(self) -> str:
        """`http`, `github` or `file`."""
        ...

    @property
    def target(self) -> str:
        """The address, repository or file, without secrets."""
        ...

    @property
    def is_idempotent(self) -> bool:
        """Whether it takes the same draft only once, however often it is sent."""
        ...

    @property
    def budget(self) -> int:
        """Bytes that a report may have; for `payload.build`."""
        ...

    def encoded(self, payload: Payload) -> bytes:
        """Exactly the bytes that `send` sends: what the review screen shows."""
        ...

    def fault(self, payload: Payload) -> str:
        """Why this cannot be sent with these settings, as sentences; empty when it can."""
        ...

    async def send(self, payload: Payload, progress: Progress, key: str) -> Outcome:
        """One attempt, one request. Cancelling it closes the connection.

        An idempotent sink takes one report for each `key`. Nothing leaves where there is a `fault`.
        """
        ...


class FileSink:
    """An export: a new file, 0600. The same report in the same file counts as written."""

    name: str = "file"
    is_idempotent: bool = True

    def __init__(self, path: Path, *, is_folder: bool = False, budget: int = BUDGET) -> None:
        """`path` is a folder, which is made, where the file is named after the key, or the file;
        where that is taken, one beside it with the key in its name.
        """
        self._path = path
        self._is_folder = is_folder
        self.budget = budget

    @property
    def target(self) -> str:
        return str(self._path)

    def encoded(self, payload: Payload) -> bytes:
        return payload.data

    def fault(self, payload: Payload) -> str:
        return ""

    async def send(self, payload: Payload, progress: Progress, key: str) -> Outcome:
        data = self.encoded(payload)
        progress(0, len(data))
        path = self._path
        try:
            if path.is_file():
                if not _holds(path, data):
                    path = path.with_name(f"{path.stem}-{key}{path.suffix}")
            elif self._is_folder:
                make_private_folder(path)
            written = export(path, key, data)
        except StorageError as error:
            return Failed(str(error))
        progress(len(data), len(data))
        return Sent(str(written))


def export(path: Path, name: str, data: bytes) -> Path:
    """Write a report to a new 0600 file; returns which. The draft stays as it is.

    In a folder the file is `<name>.json`. Raises `StorageError`, also when there is
    another file already; one with exactly these bytes is what was asked for.
    """
    file = path / f"{name}.json" if path.is_dir() else path
    make_private_folder(file.parent)
    try:
        create_private(file, data)
    except FileExistsError:
        if not _holds(file, data):
            raise StorageError(
                f"{file} exists already.",
                kept="It was not changed.",
                todo="Choose another name.",
            ) from None
    return file


def _holds(file: Path, data: bytes) -> bool:
    try:
        return not file.is_symlink() and file.is_file() and file.read_bytes() == data
    except OSError:
        return False
