"""What background model calls cost, by day and mechanism, over all sessions and processes.

One line a call in `<data>/background/ledger.jsonl` (spec/background.md, Task registry and ledger).
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from app.errors import StorageError
from app.models.provider import Usage
from app.state.background import Spend
from app.storage.local import FileLog

MECHANISMS: Final = frozenset(
    {"away_summary", "recap", "suggestion", "post_turn", "title", "compact_ahead", "dream"}
)
"""The purposes of model calls that nobody waits for, and of the recap."""


MOST_READ: Final = 64 << 20
"""Bytes that are read at once."""
_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_USD: Final = 1e6
_MOST_TOKENS: Final = 10**12
"""A call that costs or uses more is a damaged line."""


class Entry(msgspec.Struct, frozen=True):
    """One model call."""

    at: str
    """ISO time with the local offset, when the call began."""
    mechanism: str
    session: str
    model: str
    usage: Usage
    cost_usd: float | None
    """None when the price is unknown."""

    @property
    def day(self) -> str:
        """ISO date, local to whoever made the call."""
        return self.at[:10]


class Ledger:
    """The file, and what it holds as far as it was read. Many processes may write to it."""

    def __init__(self, data: Path) -> None:
        """`data` is the app's data folder."""
        self._file = data / "background" / "ledger.jsonl"
        self._log = FileLog(self._file, "ledger of background work")
        self._read_to = 0
        self._inode: int = 0
        self._spend: dict[tuple[str, str], Spend] = {}

    def add(
        self,
        mechanism: str,
        session: str,
        model: str,
        usage: Usage,
        cost_usd: float | None,
        at: datetime,
    ) -> None:
        """Write a call down. Raises `StorageError`; it is counted all the same."""
        entry = Entry(
            at.astimezone().isoformat(timespec="seconds"),
            mechanism,
            session,
            model,
            usage,
            cost_usd,
        )
        try:
            self._log.append([msgspec.json.encode(entry)])
        except StorageError:
            self._count(entry)
            raise

    def spend(self) -> tuple[Spend, ...]:
        """By day and mechanism, oldest first, other processes' calls included.

        Raises `StorageError`.
        """
        self._refresh()
        return tuple(self._spend[key] for key in sorted(self._spend))

    def _refresh(self) -> None:
        try:
            data = self._new_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise StorageError(
                f"The ledger {self._file} cannot be read: {error.strerror or error}.",
                kept="It was not changed.",
            ) from error
        whole = data.rfind(b"\n") + 1
        self._read_to += whole
        for raw in data[:whole].split(b"\n"):
            with contextlib.suppress(msgspec.DecodeError):  # torn by a crash, or damaged
                entry = msgspec.json.decode(raw, type=Entry)
                if _is_sound(entry):
                    self._count(entry)

    def _new_bytes(self) -> bytes:
        descriptor = os.open(self._file, _FLAGS)
        with os.fdopen(descriptor, "rb") as file:
            state = os.fstat(descriptor)
            if not stat.S_ISREG(state.st_mode):
                raise OSError(errno.EINVAL, "it is not a regular file")
            if state.st_size < self._read_to or state.st_ino != self._inode:
                self._read_to, self._inode = 0, state.st_ino  # another file by now
                self._spend.clear()
            file.seek(self._read_to)
            return file.read(MOST_READ)

    def _count(self, entry: Entry) -> None:
        key = entry.day, entry.mechanism
        before = self._spend.get(key) or Spend(*key)
        known = before.cost_usd is not None and entry.cost_usd is not None
        self._spend[key] = replace(
            before,
            calls=before.calls + 1,
            usage=before.usage + entry.usage,
            cost_usd=(before.cost_usd or 0) + (entry.cost_usd or 0) if known else None,
        )

    def close(self) -> None:
        """Release the file."""
        self._log.close()


def _is_sound(entry: Entry) -> bool:
    try:
        datetime.fromisoformat(entry.at)
    except ValueError:
        return False
    counts = msgspec.structs.astuple(entry.usage)
    cost = 0.0 if entry.cost_usd is None else entry.cost_usd
    return all(0 <= count <= _MOST_TOKENS for count in counts) and 0 <= cost <= _MOST_USD


def today(now: datetime) -> str:
    """The local date on which a call would be counted."""
    return now.astimezone().date().isoformat()
