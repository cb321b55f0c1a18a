"""When a conversation may be summed up by itself, and when that has become useless (cases/B15)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

USEFUL_SHARE: Final = 0.9
"""A compaction that leaves more than this share of the tokens was useless."""
GROWTH: Final = 1.01
"""By how much the context must have grown since a compaction before there is another."""
MOST_USELESS: Final = 2
MOST_FAILURES: Final = 3


@dataclass(slots=True)
class ThrashGuard:
    """Counts what automatic compactions of one session have brought. Figures are tokens."""

    _before: int | None = None
    """The size before a compaction whose effect no call has shown yet."""
    _after: int | None = None
    """What the first call after the last compaction has shown."""
    _useless: int = 0
    _failures: int = 0

    @property
    def is_paused(self) -> bool:
        """Whether nothing is summed up by itself any more."""
        return self._useless >= MOST_USELESS or self._failures >= MOST_FAILURES

    def allows(self, tokens: int) -> bool:
        """Whether a context of this size may be compacted now."""
        if self.is_paused or self._before is not None:
            return False
        return self._after is None or tokens > self._after * GROWTH

    def compacted(self, tokens_before: int) -> None:
        """A compaction was carried out."""
        self._before = tokens_before
        self._failures = 0

    def failed(self) -> bool:
        """A compaction failed; returns whether that was the last try."""
        self._failures += 1
        return self._failures == MOST_FAILURES

    def measured(self, tokens: int, full: float) -> bool:
        """A call has shown the real size; `full` is from where on compaction begins.

        Returns whether compaction has just turned out to be useless once too often.
        """
        if self._before is None:
            if tokens < full:
                self._useless, self._after = 0, None
            return False
        was_useless = tokens > self._before * USEFUL_SHARE
        self._useless = self._useless + 1 if was_useless else 0
        self._before, self._after = None, tokens
        return self._useless == MOST_USELESS
