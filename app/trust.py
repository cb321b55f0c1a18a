"""Which folders the person has trusted: only there do a project's own settings count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

from app.paths import Places, read_small, write_private


def _file(places: Places) -> Path:
    return places.config / "trusted.json"


def _trusted(places: Places) -> list[str]:
    try:
        found: object = json.loads(read_small(_file(places)))
    except (OSError, ValueError):
        return []
    if not isinstance(found, list):
        return []
    return [item for item in cast("list[object]", found) if isinstance(item, str)]


def is_trusted(places: Places, folder: Path) -> bool:
    """Whether this folder, or one above it, was trusted."""
    real = folder.resolve()
    known = set(_trusted(places))
    return any(str(candidate) in known for candidate in (real, *real.parents))


def trust(places: Places, folder: Path) -> None:
    """Trust a folder from now on. Raises `StorageError`."""
    entries = [*_trusted(places), str(folder.resolve())]
    write_private(_file(places), json.dumps(sorted(set(entries)), indent=1).encode())


def wants_trust(folder: Path) -> bool:
    """Whether the folder holds anything that only counts when it is trusted."""
    names = (".reverie", "CLAUDE.md", "AGENTS.md", "CLAUDE.local.md", ".claude")
    return any((folder / name).exists() for name in names)
