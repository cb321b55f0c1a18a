"""A rewind on its way: what it moves where, how it is taken back, what is tidied up after it."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TypeAlias

import msgspec
from msgspec import Struct

from app.checkpoints.states import FileState, state_of
from app.paths import open_resolved, write_private

FOLDER = os.O_RDONLY | os.O_DIRECTORY

Sign: TypeAlias = tuple[int, int, int, int]
"""Device, inode, size and time of change of a file: whether it is still the one that was read."""


class Move(Struct, frozen=True):
    """One path on its way: the names that its old and its new bytes have meanwhile."""

    path: str
    aside: str | None
    """Where what is there goes; None where nothing is."""
    staged: str | None
    """Where the new bytes wait; None where none come."""
    now: FileState
    then: FileState


class Pending(Struct, frozen=True):
    """The note of a rewind under way."""

    rewind: str
    """The uuid that its record will have."""
    moves: tuple[Move, ...]
    """In the order in which they are carried out."""
    folders: tuple[str, ...]
    """Folders that are made for it, outermost first."""


def sign_of(state: os.stat_result) -> Sign:
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns


@contextlib.contextmanager
def folder_of(path: str) -> Generator[tuple[int, str], None, None]:
    """The folder of a path, opened through no link, and the name in it."""
    folder, name = os.path.split(path)
    descriptor = open_resolved(Path(folder), FOLDER)
    try:
        yield descriptor, name
    finally:
        os.close(descriptor)


def exists(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def inside(path: str | None, folder: Move) -> str:
    """Where a path below a folder is once the folder itself was put aside."""
    beneath = f"{folder.path}/"
    if path is None or not path.startswith(beneath):
        return path or ""
    return f"{folder.aside}/{path.removeprefix(beneath)}"


def take_back(pending: Pending) -> tuple[str, ...]:
    """Move everything back; returns the paths that somebody changed meanwhile and that stay, each
    with the name under which its old bytes are.

    Doing it twice, or being ended in the middle and doing it again, does no harm.
    """
    left = [
        f"{move.path} (what it held is in {move.aside})" if move.aside else move.path
        for move in reversed(pending.moves)
        if not _take_back(move)
    ]
    for move in pending.moves:  # now that each folder is back where it was
        if move.staged is not None:
            _unlink(move.staged)
    for folder in reversed(pending.folders):
        with contextlib.suppress(OSError), folder_of(folder) as (parent, name):
            os.rmdir(name, dir_fd=parent)
    return tuple(left)


def _take_back(move: Move) -> bool:
    try:
        with folder_of(move.path) as (folder, name):
            aside = os.path.basename(move.aside or "")  # noqa: PTH119
            if move.aside is not None and not exists(folder, aside):
                return True  # it was not moved yet, or is back already
            here = state_of(move.path)
            if here.kind == "file" and here.same_bytes(move.then):
                os.unlink(name, dir_fd=folder)
            elif here.kind != "absent":
                return False
            if move.aside is not None:
                os.rename(aside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except FileNotFoundError:
        return True  # its folder was not made yet, or is gone again
    except OSError:
        return False
    return True


def _unlink(path: str) -> None:
    with contextlib.suppress(OSError), folder_of(path) as (folder, name):
        os.unlink(name, dir_fd=folder)


def tidy(pending: Pending, signs: dict[str, Sign | None]) -> tuple[str, ...]:
    """Remove what was put aside; returns what somebody still wrote to, which stays."""
    left: list[str] = []
    folders = [move for move in pending.moves if move.now.kind == "folder"]
    for move in pending.moves:
        if move.aside is None or move.now.kind == "folder":
            continue
        aside = move.aside
        for folder in folders:
            aside = inside(aside, folder)
        with contextlib.suppress(OSError), folder_of(aside) as (parent, name):
            state = os.stat(name, dir_fd=parent, follow_symlinks=False)
            if signs.get(move.path) in (None, sign_of(state)):
                os.unlink(name, dir_fd=parent)
            else:
                left.append(aside)
    for move in folders:
        left += _remove_folders(move.aside or "")
    return tuple(left)


def _remove_folders(top: str) -> list[str]:
    """Remove a folder of empty folders; returns it when it holds something after all."""
    for folder, _, _ in os.walk(top, topdown=False):
        with contextlib.suppress(OSError):
            os.rmdir(folder)  # noqa: PTH106
    return [top] if os.path.lexists(top) else []


def write_note(note: Path, pending: Pending) -> None:
    """Write down a rewind that is about to begin. Raises `StorageError`."""
    # Not msgspec's own encoder: a name that is no UTF-8 is half a surrogate pair in a text.
    write_private(note, json.dumps(msgspec.to_builtins(pending)).encode())


def read_note(note: Path) -> Pending | None:
    """The rewind that was under way when a process ended, None where there is none."""
    try:
        return msgspec.convert(json.loads(note.read_bytes()), Pending)
    except (OSError, ValueError, msgspec.MsgspecError):
        return None


def settle(note: Path, is_recorded: Callable[[str], bool]) -> str:
    """End what a process that was killed had begun: tidy up when the session has the record of
    the rewind, else move everything back.

    Returns what was done as a sentence without its end, empty where there was nothing to do.
    """
    pending = read_note(note)
    if pending is None:
        if not note.exists():
            return ""
        kept = note.with_name("rewind.damaged.json")
        note.replace(kept)
        return (
            f"a rewind was cut off and its note cannot be read; it is kept as {kept}, and files "
            "named .reverie-* may hold what others held before"
        )
    count = len(pending.moves)
    said = f"a rewind of {count} file{'' if count == 1 else 's'} was cut off; "
    if is_recorded(pending.rewind):
        tidy(pending, {})
        said += "it had been done, and what it left lying about was removed"
    else:
        left = take_back(pending)
        said += "every file is as it was before it"
        if left:
            said += f", but for {', '.join(left)}, changed by someone else since"
    note.unlink(missing_ok=True)
    return said
