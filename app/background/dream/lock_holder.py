"""Who holds the consolidation lock, and whether that process still lives.

A start time by the wall clock is not enough: psutil works it out from the clock, so that it moves
when the clock is set (cases/B28). On Linux the start is told in the kernel's ticks since the boot.
"""

from __future__ import annotations

import os
import secrets
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from app.clock import Clock

Fate: TypeAlias = Literal["alive", "dead", "unknown"]
"""`unknown`: the holder is on another machine, or its start is not told."""
MOST_BYTES: Final = 4096
"""Of a lock; whatever is longer is none of ours."""
_SAME_START: Final = 1.0
"""Seconds by which two readings of one process's start may differ."""
_LARGEST_PID: Final = 1 << 22  # of Linux; macOS has fewer
_START_FIELD: Final = 19
"""Of `/proc/<pid>/stat` behind the name: field 22, the start in ticks since the boot."""


class Holder(msgspec.Struct, frozen=True, omit_defaults=True):
    """A process that holds the lock or is about to change it, as it is written in a file."""

    pid: int
    started: float = 0.0
    """Seconds since the epoch; 0 where it is not told."""
    birth: str = ""
    """Boot and ticks of its start, which no clock changes; empty where the system does not tell."""
    host: str = ""
    held_at: float | None = None
    """`Clock.monotonic()` when the lock was taken: it does not jump, nor run while asleep."""
    wall: float = 0.0
    """Seconds since the epoch when the lock was taken."""
    prior_ns: int | msgspec.UnsetType | None = msgspec.UNSET
    """Nanoseconds since the epoch of the consolidation before; None where there was no lock."""
    nonce: str = ""


def myself(clock: Clock, prior_ns: int | msgspec.UnsetType | None = msgspec.UNSET) -> Holder:
    """This process, with a nonce that no other holding has."""
    import psutil  # 20 ms that a session without a dream need not pay

    pid = os.getpid()
    return Holder(
        pid,
        psutil.Process(pid).create_time(),
        _birth(pid),
        os.uname().nodename,
        clock.monotonic(),
        clock.now().timestamp(),
        prior_ns,
        secrets.token_hex(8),
    )


def encoded(holder: Holder) -> bytes:
    """The holder as JSON, one line."""
    return msgspec.json.encode(holder)


def parsed(data: bytes) -> Holder | None:
    """The holder that a lock names; a bare number is a pid (cases/B28). None for anything else."""
    if len(data) > MOST_BYTES:
        return None
    text = data.strip()
    if text.isdigit() and len(text) <= 10:
        return Holder(int(text))
    try:
        return msgspec.json.decode(data, type=Holder)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def fate_of(holder: Holder) -> Fate:
    """Whether the holder lives. A zombie is dead: it does nothing any more."""
    import psutil

    if holder.host and holder.host != os.uname().nodename:
        return "unknown"
    if not 0 < holder.pid <= _LARGEST_PID:
        return "dead"
    try:
        process = psutil.Process(holder.pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return "dead"
        birth, started = _birth(holder.pid), process.create_time()
    except psutil.AccessDenied:
        return "unknown"
    except (psutil.Error, OSError, ValueError, OverflowError):
        return "dead"
    if holder.birth and birth:
        return "alive" if holder.birth == birth else "dead"
    if holder.started:
        return "alive" if abs(started - holder.started) < _SAME_START else "dead"
    return "unknown"


def _birth(pid: int) -> str:
    """`<boot>/<ticks>`; empty where there is no `/proc` or no such process."""
    try:
        data = Path(f"/proc/{pid}/stat").read_bytes()
        # The name stands in parentheses and may hold anything, parentheses too.
        ticks = data.rsplit(b")", 1)[1].split()[_START_FIELD].decode()
    except (OSError, IndexError):
        return ""
    return f"{boot()}/{ticks}"


@lru_cache(maxsize=1)
def boot() -> str:
    """What tells this run of the machine from others; empty where the system does not say."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""
