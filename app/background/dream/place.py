"""Where a project's dreams happen, and what they leave for the next session."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

import msgspec

from app.config import Settings
from app.errors import StorageError
from app.installation import Installation
from app.paths import read_small, write_private


@dataclass(frozen=True, slots=True)
class Place:
    """The folders that a dream reads and writes."""

    project: Path
    """The top of the project."""
    sessions: Path
    """The folder with its transcripts."""
    memory: Path
    dreams: Path
    """What dreams have changed, and the copy that one works on."""

    @property
    def stage(self) -> Path:
        """The copy that a dream works on."""
        return self.dreams / "stage"


def place_of(here: Installation, settings: Settings) -> Place:
    """The folders of the project that the app was opened in."""
    memory, history = here.memory_folders(settings)
    return Place(here.root, here.places.project(here.folder), memory, history / "dreams")


class Update(msgspec.Struct, frozen=True):
    """A change of memory that no session has been told of yet."""

    dream: str
    at: str
    """ISO time, UTC."""
    files: tuple[str, ...]
    source: str = "dream"


def add_update(place: Place, update: Update) -> None:
    """Leave word for the next session. Raises `StorageError`."""
    write_private(_file(place), msgspec.json.encode([*_updates(place), update]))


def take_updates(place: Place) -> list[Update]:
    """What the sessions before have left word of; each is told once. Blocking."""
    found = _updates(place)
    if found:
        with contextlib.suppress(OSError):
            _file(place).unlink(missing_ok=True)
    return found


def _updates(place: Place) -> list[Update]:
    try:
        return msgspec.json.decode(read_small(_file(place)), type=list[Update])
    except (OSError, msgspec.DecodeError, StorageError):
        return []


def _file(place: Place) -> Path:
    return place.dreams / "pending_memory_updates"
