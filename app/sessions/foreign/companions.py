"""The files beside a Claude Code session: its sub-agents and outputs too big for a line."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from app.errors import StorageError
from app.paths import make_private_folder

_FOLDERS = ("subagents", "tool-results")
"""What lies in the folder that is named for a session (transcripts.md, a1)."""

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK = 1 << 20


def copy_companions(source: Path, target: Path) -> int:
    """Copy what lies in a session's folder `source` to the new folder `target`, 0600.

    Only plain files, and no link is followed. Returns how many were copied. Raises `StorageError`.
    """
    copied = 0
    for name in _FOLDERS:
        if _is_link(source) or _is_link(source / name):
            continue
        for folder, _, files in os.walk(source / name, followlinks=False):
            place = target / Path(folder).relative_to(source)
            copied += sum(_copy(Path(folder) / file, place / file) for file in sorted(files))
    return copied


def _is_link(folder: Path) -> bool:
    try:
        return folder.is_symlink()
    except OSError:
        return True


def _copy(source: Path, target: Path) -> bool:
    try:
        reading = os.open(source, _READ)
    except OSError:
        return False  # a link, or nothing that we may read: the session itself does not need it
    with os.fdopen(reading, "rb") as file:
        if not stat.S_ISREG(os.fstat(reading).st_mode):
            return False
        make_private_folder(target.parent)
        try:
            with os.fdopen(os.open(target, _WRITE, 0o600), "wb") as copy:
                while chunk := file.read(_CHUNK):
                    copy.write(chunk)
        except OSError as error:
            raise StorageError(
                f"{target} could not be written: {error.strerror or error}.",
                kept="The session that it belongs to was not imported.",
                todo="Check the folder's permissions and free space.",
            ) from error
    return True
