"""One dream at a time across all processes, and the time of the last one (spec/dream.md, The lock).

The file's mtime is the time of the last consolidation, its content the holder; empty: nobody.

How the two sources fit together. The spec calls a lock stale after an hour and lets a live holder
be respected within it; case B28 respects a live holder of this machine "whatever the time says" and
takes over from a dead one at once, since the file's time depends on clocks that jump. Therefore:

- a dead holder, a recycled pid, an unreadable or senseless content: reclaimed at once;
- a live holder of this machine: the hour is counted by the monotonic clock, from the moment that
  the holder wrote down itself. The file's time has no say. A dream lasts ten minutes at most, so
  one that holds for an hour of running machine is stuck, and is reclaimed;
- a holder of whom nothing can be known (another machine, a pid without a start time): the hour is
  that of the file's time. A time in the future tells nothing; then the hour counts from when the
  lock was first seen, which a file beside it remembers across restarts, by the monotonic clock
  within one boot and by the wall clock across boots. Where that would run backwards, it is seen
  anew.

Whoever was reclaimed from finds out: `Held.is_mine` asks, and nothing is rolled back for others.
All functions but `last_consolidation` are blocking.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from app.background.dream.lock_files import FILE, SEEN, Elsewhere, Look, look_at, opened, swap
from app.background.dream.lock_holder import Holder, boot, encoded, fate_of, myself, parsed
from app.clock import Clock
from app.errors import StorageError
from app.paths import make_private_folder, read_small, write_private
from app.storage.reading import LAST_SECOND

__all__ = ["FILE", "Held", "Refused", "acquire", "last_consolidation", "lock_words", "recover"]

STALE: Final = 3_600.0
"""Seconds after which a lock is stale (spec/dream.md, The lock)."""
_ELSEWHERE: Final = "another process is just taking the lock"
_TRIES: Final = 40
_PAUSE: Final = 0.005
"""Seconds between two tries to give the lock back while another process looks at it."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The lock is not to be had."""

    reason: str
    """Who holds it since when, or what is wrong, as a sentence without its full stop."""


@dataclass(frozen=True, slots=True)
class Held:
    """The lock, taken; ends with `succeed` or `fail`."""

    folder: Path
    prior_ns: int | None
    _mine: bytes
    _taken_ns: int
    _clock: Clock

    @property
    def prior_mtime(self) -> float | None:
        """The last consolidation before, in seconds since the epoch; None where there was none."""
        return None if self.prior_ns is None else self.prior_ns / 1e9

    def is_mine(self) -> bool:
        """Whether nobody has reclaimed the lock; to be asked before anything is published."""
        try:
            with opened(self.folder) as folder:
                return look_at(folder).data == self._mine
        except OSError:
            return False

    def succeed(self) -> str:
        """Clear the content; the time at which the lock was taken stays as the last consolidation.

        Returns what went wrong as a sentence for the log; empty as a rule.
        """
        trouble = self._give_back(b"", self._taken_ns)
        if not trouble:
            return ""
        return f"The consolidation lock could not be cleared: {trouble}. It ends with this process."

    def fail(self) -> str:
        """Put the time of the last consolidation back; where there was no lock, remove it.

        Returns what went wrong as a sentence for the log; empty as a rule.
        """
        trouble = self._give_back(None if self.prior_ns is None else b"", self.prior_ns)
        if not trouble:
            return ""
        return (
            f"The time of the last consolidation could not be put back: {trouble}. The next run "
            "waits at least dream.min_hours."
        )

    def _give_back(self, data: bytes | None, mtime_ns: int | None) -> str:
        for _ in range(_TRIES):
            try:
                with opened(self.folder) as folder:
                    seen = look_at(folder)
                    if seen.data != self._mine:
                        return "another process has taken the lock over, or it was removed"
                    swap(folder, seen, data, mtime_ns, self._clock)
            except Elsewhere:
                time.sleep(_PAUSE)
            except (OSError, OverflowError) as error:
                return _words(error)
            else:
                return ""
        return _ELSEWHERE


def last_consolidation(folder: Path) -> float | None:
    """When memory was last consolidated, in seconds since the epoch; None for never. One `stat`."""
    try:
        return os.stat(folder / FILE, follow_symlinks=False).st_mtime  # noqa: PTH116 - no Path made
    except OSError:
        return None


def acquire(folder: Path, clock: Clock, log: Callable[[str], None]) -> Held | Refused:
    """Take the lock of the memory in `folder`, which is made where it is missing. Blocking.

    `log` gets a sentence when a lock was taken over from somebody, or its time was not believed.
    """
    try:
        make_private_folder(folder)
        with opened(folder) as descriptor:
            return _acquire(folder, descriptor, clock, log)
    except Elsewhere:
        return Refused(_ELSEWHERE)
    except StorageError as error:
        return Refused(error.happened.removesuffix("."))
    except (OSError, OverflowError) as error:
        return Refused(f"the lock in {folder} cannot be written: {_words(error)}")


def _acquire(
    folder: Path, descriptor: int, clock: Clock, log: Callable[[str], None]
) -> Held | Refused:
    seen = look_at(descriptor)
    holder = parsed(seen.data) if seen.data else None
    taken, why = _judge(folder, seen, holder, clock)
    if not taken:
        return Refused(why)
    prior = seen.mtime_ns
    if holder is not None and holder.prior_ns is not msgspec.UNSET:
        prior = holder.prior_ns  # its time is that of a dream which never came to its end
    mine = encoded(myself(clock, prior))
    taken_ns = int(clock.now().timestamp() * 1e9)
    swap(descriptor, seen, mine, taken_ns, clock)
    with contextlib.suppress(OSError):
        os.unlink(SEEN, dir_fd=descriptor)
    if why:
        log(f"The consolidation lock was taken over: {why}.")
    if seen.mtime is not None and seen.mtime > clock.now().timestamp() + 1:
        log(f"The time of the last consolidation, {_moment(seen.mtime)}, lies in the future.")
    return Held(folder, prior, mine, taken_ns, clock)


def lock_words(folder: Path, clock: Clock) -> str:
    """Why the lock is not to be had, in words; empty when it is free. Changes nothing. Blocking."""
    try:
        with opened(folder) as descriptor:
            seen = look_at(descriptor)
    except OSError as error:
        return "" if isinstance(error, FileNotFoundError) else _words(error)
    holder = parsed(seen.data) if seen.data else None
    taken, why = _judge(folder, seen, holder, clock, note=False)
    return "" if taken else why


def recover(folder: Path, clock: Clock, log: Callable[[str], None]) -> None:
    """Put the time back after a dream whose process was killed; for the start of a process.

    Without this the time gate would count the killed dream as a consolidation. Blocking.
    """
    try:
        with opened(folder) as descriptor:
            seen = look_at(descriptor)
    except OSError:
        return
    holder = parsed(seen.data) if seen.data else None
    if holder is None or fate_of(holder) != "dead":
        return
    held = acquire(folder, clock, log)
    if isinstance(held, Held) and (trouble := held.fail()):
        log(trouble)


def _judge(
    folder: Path, seen: Look, holder: Holder | None, clock: Clock, *, note: bool = True
) -> tuple[bool, str]:
    """Whether the lock may be taken, and why; no reason where it was simply free.

    With `note` a lock whose time cannot be believed is noted as seen.
    """
    if seen.kind == "folder":
        return False, f"a folder lies where the lock {FILE} belongs; move it away"
    if seen.kind == "other":
        return True, "what lay in its place was no regular file"
    if seen.kind == "" or seen.data == b"":
        return True, ""
    if seen.data is None:
        return True, "it could not be read"
    if holder is None:
        return True, "its content named nobody"
    fate = fate_of(holder)
    if fate == "dead":
        return True, f"the process {holder.pid} that held it is gone"
    if fate == "alive" and holder.held_at is not None:
        is_stale = clock.monotonic() - holder.held_at >= STALE
    else:
        is_stale = _is_old(folder, seen, clock, believe=fate == "unknown", note=note)
    who = "this process" if holder.pid == os.getpid() else f"the process {holder.pid}"
    if holder.host and holder.host != os.uname().nodename:
        who += " of another machine"
    since = _moment(holder.wall or seen.mtime or 0.0)
    if is_stale:
        return True, f"{who} has held it since {since}, which is more than an hour"
    return False, f"{who} dreams since {since}"


def is_future_old(folder: Path, clock: Clock) -> bool:
    """Whether the time of the lock, which lies in the future, was first seen an hour ago; now is
    noted as the first time where it is. Blocking.
    """
    try:
        with opened(folder) as descriptor:
            seen = look_at(descriptor)
    except OSError:
        return False
    return _is_old(folder, seen, clock, believe=False, note=True)


class _Sighting(msgspec.Struct, frozen=True):
    """When a lock was first seen."""

    version: str
    wall: float
    monotonic: float
    boot: str


def _is_old(folder: Path, seen: Look, clock: Clock, *, believe: bool, note: bool) -> bool:
    """Whether the lock is more than an hour old, by its time where that is to be believed."""
    now = clock.now().timestamp()
    if believe and seen.mtime is not None and seen.mtime <= now:
        return now - seen.mtime >= STALE
    file = folder / SEEN
    try:
        first = msgspec.json.decode(read_small(file, 4096), type=_Sighting)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        first = None
    if first is not None and first.version == seen.version:
        same_boot = first.boot == boot() and first.monotonic <= clock.monotonic()
        age = clock.monotonic() - first.monotonic if same_boot else now - first.wall
        if age >= 0:
            return age >= STALE
    if note:
        with contextlib.suppress(StorageError):
            sighting = _Sighting(seen.version, now, clock.monotonic(), boot())
            write_private(file, msgspec.json.encode(sighting))
    return False


def _moment(seconds: float) -> str:
    bounded = min(max(seconds, 0.0), LAST_SECOND)
    return datetime.fromtimestamp(bounded, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _words(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
