"""What background model calls cost, by day and mechanism, over all sessions and processes.

One line a call in `<data>/background/ledger.jsonl` (spec/background.md, Task registry and ledger).
"""

from __future__ import annotations

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
            with self._file.open("rb") as file:
                file.seek(self._read_to)
                data = file.read()
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
            try:
                self._count(msgspec.json.decode(raw, type=Entry))
            except msgspec.DecodeError:
                continue  # torn by a crash: the call itself cannot be told any more

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


def today(now: datetime) -> str:
    """The local date on which a call would be counted."""
    return now.astimezone().date().isoformat()
