"""Whole or not at all: how a tool puts a file in place."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

from app.agent.tools.arguments import clean
from app.agent.tools.base import ToolContext, ToolFailure, ToolInput
from app.agent.tools.paths import reason_of, settled, within_roots
from app.agent.tools.text_file import refuse_special
from app.paths import open_resolved


def writable_target(path: Path, arguments: ToolInput, context: ToolContext) -> Path:
    """Where a write to `path` ends up, links resolved.

    Raises `ToolFailure` where a link would carry the write out of the session's folders or was
    turned elsewhere since the call was judged, or where something that is no plain file is in
    the way.
    """
    target = settled(path, arguments, context)
    leaves = within_roots(path, context) or path.is_symlink()
    if target != path and leaves and not within_roots(target, context):
        raise ToolFailure(
            f"{clean(str(path))} leads by a link to {clean(str(target))}, which is outside the "
            "project. Nothing was written; name the real file if it is meant."
        )
    try:
        refuse_special(target.stat(), clean(str(path)))
    except FileNotFoundError:
        if path.is_symlink():
            raise ToolFailure(
                f"{clean(str(path))} is a link to {clean(str(target))}, which does not exist."
            ) from None
    except OSError as error:
        raise ToolFailure(f"{clean(str(path))} cannot be written: {reason_of(error)}.") from error
    return target


async def kept(
    context: ToolContext, target: Path, new: bytes, *, what: str, old: bytes | None
) -> None:
    """Have the bytes at `target` kept for a rewind; see `FileKeeper.keep`."""
    if context.files is not None:
        await context.files.keep(target, new, what=what, old=old)


def write_atomic(target: Path, data: bytes) -> str:
    """Put `data` at the resolved `target`, making its parent folders; keeps mode and owner.

    A temporary file in the same folder, fsync, rename: a reader sees the old bytes or the new.
    The rename makes a new file; what that changes besides the bytes is in the sentence it returns,
    which is empty as a rule. Raises `ToolFailure`; then the old file is untouched and nothing is
    left behind.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # The folder is held open, so that a folder swapped for a link is not written through.
        folder = open_resolved(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    except FileExistsError as error:
        raise ToolFailure(f"{clean(str(target.parent))} is a file, not a folder.") from error
    except OSError as error:
        raise _failure(target, error) from error
    try:
        return _replace(folder, target.name, data)
    except OSError as error:
        raise _failure(target, error) from error
    finally:
        os.close(folder)


def _replace(folder: int, name: str, data: bytes) -> str:
    temporary = f".{secrets.token_hex(8)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, 0o666, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            lost = _keep_mode(folder, name, file.fileno())
            os.fsync(file.fileno())
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:  # also a cancellation: no temporary file may stay; raised again below
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
    with contextlib.suppress(OSError):  # some file systems cannot sync a folder
        os.fsync(folder)
    return lost


def _keep_mode(folder: int, name: str, descriptor: int) -> str:
    """Give the new file owner and mode of the old one; what of the old one is lost, in words."""
    try:
        old = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return ""
    notes: list[str] = []
    if old.st_nlink > 1:
        others = "another name" if old.st_nlink == 2 else f"{old.st_nlink - 1} other names"
        notes.append(f"It had {others} (hard links), under which the old text stays.")
    # Each by itself: another's owner cannot be kept, a group often can.
    for owner, group in ((-1, old.st_gid), (old.st_uid, -1)):
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, owner, group)
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        notes.append("It belonged to another user or group, which could not be kept.")
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
    return " ".join(notes)


def _failure(target: Path, error: OSError) -> ToolFailure:
    return ToolFailure(
        f"{clean(str(target))} cannot be written: {reason_of(error)}. Nothing was changed."
    )
