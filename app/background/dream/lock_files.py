"""The files of the consolidation lock: looked at without following or waiting, changed by
compare-and-swap.

Whoever wants to change the lock from what it is (its version) first makes a claim: a side file
named by that version. The claim is a symbolic link that leads nowhere and whose text names its
maker, because a link is made in one step, exclusively and with its content. Then the lock is looked
at again: only while it is still that version does the claim count. So exactly one process changes
each version, and there is no moment between looking and writing.

The claim of a process that died is never removed while its version lasts, since two that remove it
could take each other's new one for it. It is part of the version instead: the next claim is named
by the version and the dead claim.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.background.dream.lock_holder import MOST_BYTES, encoded, fate_of, myself, parsed
from app.clock import Clock

FILE: Final = ".consolidate-lock"
"""In the memory folder (spec/dream.md, The lock)."""
SEEN: Final = f"{FILE}.seen"
"""When a lock was first seen whose own time cannot be believed."""
_TEMPORARY: Final = f"{FILE}.new-"
_DEAD_CLAIMS: Final = 1_000
"""More dead claims on one version than any series of crashes leaves."""
_CLAIM_LIMIT: Final = 3_600.0
"""Seconds after which a claim from another machine, which needs milliseconds, is a dead one."""


class Elsewhere(Exception):
    """Another process changes the lock in this very moment, or has just done so."""


@dataclass(frozen=True, slots=True)
class Look:
    """The lock as it is."""

    version: str
    """Of the whole state; two looks at a lock that nobody changed have the same one."""
    kind: str = ""
    """`file`, `folder`, `other`; empty where there is none."""
    mtime_ns: int | None = None
    data: bytes | None = None
    """The content; None where it cannot be read."""

    @property
    def mtime(self) -> float | None:
        """Seconds since the epoch."""
        return None if self.mtime_ns is None else self.mtime_ns / 1e9


@contextlib.contextmanager
def opened(folder: Path) -> Generator[int, None, None]:
    """The memory folder held open. Raises `OSError`."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def look_at(folder: int) -> Look:
    """The lock in the open folder: never through a link, never waiting for a pipe, never much."""
    try:
        state = os.stat(FILE, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return Look(_digest(b"none"))
    facts = (state.st_ino, state.st_mode, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
    if not stat.S_ISREG(state.st_mode):
        kind = "folder" if stat.S_ISDIR(state.st_mode) else "other"
        return Look(_digest(repr(facts).encode()), kind)
    data = _content(folder)
    version = _digest(repr(facts).encode() + b"\0" + (data or b""))
    return Look(version, "file", state.st_mtime_ns, data)


def _content(folder: int) -> bytes | None:
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(FILE, flags, dir_fd=folder)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return os.read(descriptor, MOST_BYTES + 1)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def swap(folder: int, seen: Look, data: bytes | None, mtime_ns: int | None, clock: Clock) -> None:
    """Change the lock from what was `seen` to `data` with this time, or with None remove it.

    Raises `Elsewhere` where another process was quicker, and `OSError`.
    """
    with _claimed(folder, seen, clock):
        if data is None:
            os.unlink(FILE, dir_fd=folder)
            return
        _put(folder, data, mtime_ns)
        if look_at(folder).data != data:
            raise Elsewhere


@contextlib.contextmanager
def _claimed(folder: int, seen: Look, clock: Clock) -> Generator[None, None, None]:
    text = encoded(myself(clock)).decode()
    names = _claim(folder, seen.version, text, clock)
    try:
        # In this order: a claim that was cleared away between the two is noticed.
        if look_at(folder).version != seen.version or not _stands(folder, names[-1], text):
            raise Elsewhere
        _remove_leftovers(folder, names)
        yield
    finally:
        with contextlib.suppress(OSError):
            if _stands(folder, names[-1], text):
                os.unlink(names[-1], dir_fd=folder)


def _claim(folder: int, version: str, text: str, clock: Clock) -> list[str]:
    """The names of the claims on this version: those of dead processes, and last our own."""
    names = [f"{FILE}.{version}"]
    while len(names) < _DEAD_CLAIMS:
        try:
            os.symlink(text, names[-1], dir_fd=folder)
        except FileExistsError:
            other = _other_claim(folder, names[-1])
            if _is_live(folder, names[-1], other, clock):
                raise Elsewhere from None
            names.append(f"{FILE}.{_digest(f'{names[-1]} {other}'.encode())}")
        else:
            return names
    raise OSError(errno.EEXIST, f"too many side files {FILE}.* are in the way")


def _stands(folder: int, name: str, text: str) -> bool:
    try:
        return os.readlink(name, dir_fd=folder) == text
    except OSError:
        return False


def _other_claim(folder: int, name: str) -> str:
    """The text of another's claim; a file that somebody put there counts as a dead one."""
    try:
        return os.readlink(name, dir_fd=folder)
    except FileNotFoundError:
        raise Elsewhere from None
    except OSError:
        return ""


def _is_live(folder: int, name: str, text: str, clock: Clock) -> bool:
    maker = parsed(os.fsencode(text))
    fate = "dead" if maker is None else fate_of(maker)
    if fate != "unknown":
        return fate == "alive"
    try:
        made = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime
    except FileNotFoundError:
        raise Elsewhere from None
    return abs(clock.now().timestamp() - made) < _CLAIM_LIMIT


def _put(folder: int, data: bytes, mtime_ns: int | None) -> None:
    """Put a new lock in the place of whatever is there, in one step."""
    temporary = _TEMPORARY + secrets.token_hex(8)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, 0o600, dir_fd=folder)
    try:
        try:
            if data:
                os.write(descriptor, data)
            if mtime_ns is not None:
                os.utime(descriptor, ns=(mtime_ns, mtime_ns))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, FILE, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:  # also a cancellation: no temporary file may stay; raised again below
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise


def _remove_leftovers(folder: int, names: list[str]) -> None:
    """Remove what killed processes left; only for the one whose claim counts, and before it changes
    anything.

    Until then nobody else's claim can count, whatever it was made for, and only whoever's claim
    counts has a temporary file. The dead claims on this version (`names`) stay for the next one.
    """
    for name in os.listdir(folder):
        if name.startswith(f"{FILE}.") and name != SEEN and name not in names:
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=folder)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:24]
