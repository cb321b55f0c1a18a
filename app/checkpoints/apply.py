"""Puts files back: all of them or none, whatever ends the process (spec/checkpoints.md).

What is about to be done is written down first. New bytes are staged beside their places, old files
are moved aside, new ones moved in, and only when the session has its record are the old ones
removed. Whoever finds the note of a rewind that has no record moves everything back.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

from app.checkpoints.blobs import BlobStore
from app.checkpoints.history import Change
from app.checkpoints.moves import (
    FOLDER,
    Move,
    Pending,
    Sign,
    exists,
    folder_of,
    inside,
    sign_of,
    take_back,
    tidy,
    write_note,
)
from app.checkpoints.plan import RewindError, Step, holds_only
from app.checkpoints.states import open_file, state_of
from app.errors import ReverieError, StorageError
from app.paths import open_resolved

FAILED = "Failed to rewind: "
_UNCHANGED = "Nothing was changed."
_MARK = ".reverie-"
_AT_ONCE = 4
"""Files that wait for the disk at the same time: 1 000 files take half as long."""


@dataclass(slots=True)
class Applied:
    """A rewind whose files are in place and whose record is still to be written."""

    pending: Pending
    changes: tuple[Change, ...]
    """What it changed, so that it can be taken back like any change."""
    _steps: tuple[Step, ...]
    _signs: dict[str, Sign | None]
    _note: Path

    def take_back(self) -> tuple[str, ...]:
        """Move everything back, since the record could not be written; see `take_back`."""
        left = take_back(self.pending)
        self._note.unlink(missing_ok=True)
        return left

    def finish(self) -> tuple[str, ...]:
        """Remove what was put aside, now that the record is written.

        Returns the names under which bytes are left that somebody wrote in this very moment.
        """
        left = tidy(self.pending, self._signs)
        _remove_emptied(self._steps)
        self._note.unlink(missing_ok=True)
        return left


def carry_out(steps: Iterable[Step], store: BlobStore, note: Path, rewind: str) -> Applied:
    """Put the files of these steps in place: all of them, or none.

    The bytes that are there now are kept first. `note` is where the rewind is written down while
    it is under way, `rewind` the uuid of its record to be. Raises `RewindError`; then everything
    is as it was.
    """
    chosen = tuple(steps)
    pending = _prepared(chosen, rewind)
    try:
        signs = _saved(chosen, store)
        write_note(note, pending)
    except ReverieError as error:
        raise RewindError(FAILED + error.happened, kept=_UNCHANGED, todo=error.todo) from error
    try:
        _move_all(pending, chosen, signs, store)
        changes = _changes(pending, chosen)
    except (OSError, ReverieError) as error:
        left = take_back(pending)
        note.unlink(missing_ok=True)
        raise failure(_reason(error), left) from error
    return Applied(pending, changes, chosen, signs, note)


def failure(reason: str, left: Sequence[str]) -> RewindError:
    """Why files could not go back, when all but `left` is as it was."""
    kept = _UNCHANGED if not left else f"All is as it was but for {', '.join(left)}."
    return RewindError(f"{FAILED}{reason}", kept=kept)


def _move_all(
    pending: Pending, steps: tuple[Step, ...], signs: dict[str, Sign | None], store: BlobStore
) -> None:
    known = {step.path: step for step in steps}

    def stage(move: Move) -> None:
        _stage(move, known[move.path], store)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(stage, [move for move in pending.moves if move.staged is not None]))
    for move in pending.moves:
        if move.aside is not None:
            _put_aside(move, signs[move.path], pending)
    for folder in pending.folders:
        _make_folder(folder)
    for move in pending.moves:
        if move.staged is not None:
            _move_new(move.staged, move.path)
    _sync(pending)


def _prepared(steps: tuple[Step, ...], rewind: str) -> Pending:
    """The moves: what only goes first, then folders that give way, then what comes."""
    mark = f"{_MARK}{rewind[:8]}-"
    missing: dict[str, None] = {}
    moves: list[tuple[int, Move]] = []
    for number, step in enumerate(steps):
        folder = os.path.dirname(step.path)  # noqa: PTH120 - paths of records are texts
        comes = step.then.kind == "file"
        order = 2 if comes and step.now.kind != "folder" else 1 if comes else 0
        aside = staged = None
        if step.now.kind != "absent":
            aside = f"{folder}/{mark}{number}.old"
        if comes:
            lacking, standing = _missing_folders(folder)
            missing |= dict.fromkeys(lacking)
            staged = f"{standing}/{mark}{number}.new"
        moves.append((order, Move(step.path, aside, staged, step.now, step.then)))
    moves.sort(key=lambda each: each[0])
    return Pending(rewind, tuple(move for _, move in moves), tuple(sorted(missing)))


def _missing_folders(folder: str) -> tuple[list[str], str]:
    """The folders to be made, outermost first, and the one that stands already."""
    lacking: list[str] = []
    while not os.path.isdir(folder):  # noqa: PTH112
        lacking.insert(0, folder)
        folder = os.path.dirname(folder)  # noqa: PTH120
    return lacking, folder


def _saved(steps: tuple[Step, ...], store: BlobStore) -> dict[str, Sign | None]:
    """Keep what all these paths hold now."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        signs = list(pool.map(_save, steps, repeat(store)))
    store.sync()
    return dict(zip((step.path for step in steps), signs, strict=True))


def _save(step: Step, store: BlobStore) -> Sign | None:
    """Keep the bytes that are there. Raises `RewindError` when they are not the plan's."""
    descriptor, state = open_file(step.path)
    if descriptor is None:
        if state.kind != step.now.kind and (state.kind, step.now.kind) != ("beneath", "absent"):
            raise RewindError(f"{step.path} changed in the meantime.")
        return None
    with os.fdopen(descriptor, "rb") as file:
        sign = sign_of(os.fstat(descriptor))
        if store.put_from(file) != step.now.sha256 or sign_of(os.fstat(descriptor)) != sign:
            raise RewindError(f"{step.path} changed in the meantime.")
    return sign


def _stage(move: Move, step: Step, store: BlobStore) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with folder_of(move.staged or "") as (folder, name):
        descriptor = os.open(name, flags, 0o666, dir_fd=folder)
        with os.fdopen(descriptor, "wb") as file:
            digest = store.copy_to(step.blob or "", file)
            if digest != step.then.sha256:
                raise StorageError(f"the saved bytes of {move.path} are damaged")
            file.flush()
            _take_over(descriptor, move)
            os.fsync(descriptor)


def _take_over(descriptor: int, move: Move) -> None:
    """Give a staged file the owner of the one whose place it takes, and its own old mode."""
    mode = move.then.mode if move.then.mode is not None else move.now.mode
    with contextlib.suppress(OSError), folder_of(move.path) as (folder, name):
        old = os.stat(name, dir_fd=folder, follow_symlinks=False)
        for owner, group in ((-1, old.st_gid), (old.st_uid, -1)):
            with contextlib.suppress(PermissionError):
                os.fchown(descriptor, owner, group)
    if mode is not None:
        os.fchmod(descriptor, mode)


def _put_aside(move: Move, sign: Sign | None, pending: Pending) -> None:
    with folder_of(move.path) as (folder, name):
        aside = os.path.basename(move.aside or "")  # noqa: PTH119
        os.rename(name, aside, src_dir_fd=folder, dst_dir_fd=folder)
        state = os.stat(aside, dir_fd=folder, follow_symlinks=False)
    if move.now.kind == "folder":
        gone = {inside(other.aside, move) for other in pending.moves if other.aside}
        is_same = stat.S_ISDIR(state.st_mode) and holds_only(move.aside or "", gone)
    else:
        is_same = sign == sign_of(state)
    if not is_same:
        raise RewindError(f"{move.path} changed in the meantime.")


def _make_folder(path: str) -> None:
    with folder_of(path) as (folder, name), contextlib.suppress(FileExistsError):
        os.mkdir(name, dir_fd=folder)


def _move_new(source: str, target: str) -> None:
    """Move a file to a name that must be free: what somebody put there meanwhile stays."""
    with folder_of(source) as (old, old_name), folder_of(target) as (new, name):
        try:
            os.link(old_name, name, src_dir_fd=old, dst_dir_fd=new, follow_symlinks=False)
        except FileExistsError as error:
            raise RewindError(f"{target} changed in the meantime.") from error
        except OSError:  # no hard links on this file system
            if exists(new, name):
                raise RewindError(f"{target} changed in the meantime.") from None
            os.rename(old_name, name, src_dir_fd=old, dst_dir_fd=new)
            return
        os.unlink(old_name, dir_fd=old)


def _sync(pending: Pending) -> None:
    folders = {os.path.dirname(move.path) for move in pending.moves}  # noqa: PTH120
    for folder in folders | {os.path.dirname(made) for made in pending.folders}:  # noqa: PTH120
        with contextlib.suppress(OSError):  # some file systems cannot sync a folder
            descriptor = open_resolved(Path(folder), FOLDER)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _changes(pending: Pending, steps: tuple[Step, ...]) -> tuple[Change, ...]:
    """What the rewind itself changed, so that it can be taken back like any change."""
    made = pending.folders
    found: list[Change] = []
    for step in steps:
        folders = tuple(each for each in made if step.path.startswith(f"{each}/"))
        blob = step.now.sha256 or None
        left = step.then
        if left.kind == "file" and left.mode is None:
            left = state_of(step.path)
        found.append(Change(pending.rewind, step.path, step.now, blob, left, "rewind", "", folders))
    return tuple(found)


def _remove_emptied(steps: tuple[Step, ...]) -> None:
    """Folders that were made for files which are gone now go too, when nothing is in them."""
    made = {folder for step in steps if step.then.kind == "absent" for folder in step.folders}
    for folder in sorted(made, key=len, reverse=True):
        with contextlib.suppress(OSError), folder_of(folder) as (parent, name):
            os.rmdir(name, dir_fd=parent)


def _reason(error: OSError | ReverieError) -> str:
    if isinstance(error, ReverieError):
        return error.happened.removeprefix(FAILED)
    name = f"{error.filename}: " if error.filename else ""
    return f"{name}{error.strerror or error}."
