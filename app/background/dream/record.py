"""What a dream has changed, kept as long as it may be taken back (spec/dream.md).

One file a dream in `<project>/dreams/`, 0600: the texts before and after, what became of each.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from app.errors import ReverieError, StorageError
from app.models.provider import Usage
from app.paths import read_small, write_private
from app.storage.file_lock import locked

FileState: TypeAlias = Literal["staged", "published", "conflict", "refused", "reverted"]
DreamStatus: TypeAlias = Literal[
    "publishing", "held", "completed", "failed", "aborted", "discarded", "reverted"
]
"""`publishing`: the process may have been killed then; the history has what came to pass."""
KEPT: Final = 200
"""Dreams that are kept."""
_MOST_READ: Final = 256 << 20


class DreamFile(msgspec.Struct, frozen=True):
    """One document that a dream has changed."""

    name: str
    before: str | None
    """Its text; None where there was none."""
    after: str | None
    """None where the dream deletes it."""
    state: FileState = "staged"
    evidence: tuple[str, ...] = ()
    """Where the sub-agent saw what it wrote, in its own words."""
    change_id: str = ""
    """The change in the document's history that published it."""


class Dream(msgspec.Struct, frozen=True):
    """One dream and what came of it."""

    id: str
    started: str
    """ISO time, UTC."""
    ended: str = ""
    status: DreamStatus = "held"
    reason: str = ""
    """Why it is held, failed or was aborted, in a sentence."""
    sessions: tuple[str, ...] = ()
    """The sessions that were under review."""
    daily_logs: tuple[str, ...] = ()
    files: tuple[DreamFile, ...] = ()
    model: str = ""
    turns: int = 0
    usage: Usage = Usage()
    cost_usd: float | None = 0.0
    said: str = ""
    """The sub-agent's last words."""

    @property
    def touched(self) -> tuple[str, ...]:
        """The documents that it has changed and nobody has changed back."""
        return tuple(each.name for each in self.files if each.state == "published")


class DreamLog:
    """All dreams of a project."""

    def __init__(self, folder: Path) -> None:
        """`folder` is `<project>/dreams`."""
        self.folder = folder

    @contextlib.contextmanager
    def deciding(self) -> Generator[None, None, None]:
        """Nobody else publishes or takes a dream back meanwhile. Raises `StorageError`."""
        with locked(self.folder / "lock"):
            yield

    def save(self, dream: Dream) -> None:
        """Write a dream down; old ones go. Raises `StorageError`."""
        write_private(self._file(dream.id), msgspec.json.encode(dream))
        for old in self._files()[KEPT:]:
            with contextlib.suppress(OSError):  # it is written; the old one goes another time
                old.unlink(missing_ok=True)

    def has(self, dream_id: str) -> bool:
        """Whether this dream is written down."""
        return self._file(dream_id).exists()

    def load(self, dream_id: str) -> Dream:
        """A dream by its id or the beginning of it. Raises `ReverieError` where there is none."""
        found = [file for file in self._files() if dream_id and file.stem.startswith(dream_id)]
        if len(found) != 1:
            which = "no dream" if not found else f"{len(found)} dreams"
            raise ReverieError(
                f"There is {which} {dream_id}.", todo="`reverie dream log` lists them."
            )
        return self._read(found[0])

    def all(self) -> list[Dream]:
        """Every dream, newest first; damaged files are left out."""
        found: list[Dream] = []
        for file in self._files():
            try:
                found.append(self._read(file))
            except StorageError:
                continue
        return found

    def _read(self, file: Path) -> Dream:
        try:
            return msgspec.json.decode(read_small(file, _MOST_READ), type=Dream)
        except (OSError, msgspec.DecodeError) as error:
            raise StorageError(f"The dream {file} cannot be read: {error}.") from error

    def _files(self) -> list[Path]:
        """Newest first: an id begins with its time."""
        try:
            return sorted(self.folder.glob("*.json"), reverse=True)
        except OSError:
            return []

    def _file(self, dream_id: str) -> Path:
        return self.folder / f"{dream_id}.json"
