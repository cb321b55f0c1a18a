"""When a conversation may be summed up by itself, and when that has become useless (cases/B15)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, cast

from app.models.usage import usage_from
from app.sessions.graph import COMPACT_FAILED, COMPACT_UNDONE, GraphView
from app.sessions.history import timeline
from app.sessions.records import JsonObject, Record

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
    def awaits(self) -> bool:
        """Whether no call has shown yet what the last compaction brought."""
        return self._before is not None

    @property
    def is_paused(self) -> bool:
        """Whether nothing is summed up by itself any more."""
        return self._useless >= MOST_USELESS or self._failures >= MOST_FAILURES

    def allows(self, tokens: int) -> bool:
        """Whether a context of this size may be compacted now."""
        if self.is_paused or self.awaits:
            return False
        return self._after is None or tokens > self._after * GROWTH

    def compacted(self, tokens_before: int) -> None:
        """A compaction was carried out."""
        self._before = tokens_before
        self._failures = 0

    def undone(self) -> None:
        """The person has taken a compaction back: none is made by itself while it stays full."""
        self._before, self._useless = None, MOST_USELESS

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


def guard_of(view: GraphView, full: float) -> ThrashGuard:
    """What earlier processes have learnt on this branch: a session outlives each of them.

    `full` is the number of tokens from which on compaction begins.
    """
    guard, graph = ThrashGuard(), view.graph
    if not any(r.is_boundary or r.subtype == COMPACT_FAILED for r in graph.records):
        return guard
    for here in timeline(graph, view.leaf):
        record = graph.records[here]
        if record.is_boundary:
            guard = _after_boundary(guard, record)
        elif record.subtype == COMPACT_FAILED:
            guard.failed()
        elif record.subtype == COMPACT_UNDONE:
            guard.undone()
        elif record.type == "assistant" and guard.awaits and (tokens := told_tokens(record)):
            guard.measured(tokens, full)
    return guard


def _after_boundary(guard: ThrashGuard, boundary: Record) -> ThrashGuard:
    found = boundary.data.get("compactMetadata")
    told = cast("JsonObject", found) if isinstance(found, dict) else {}
    tokens = told.get("preTokens")
    if told.get("trigger") != "auto" or not isinstance(tokens, int):
        return ThrashGuard()
    guard.compacted(tokens)
    return guard


def told_tokens(record: Record) -> int:
    """Prompt and reply of a call, as its server told; 0 where it did not."""
    message = record.data.get("message")
    usage = cast("JsonObject", message).get("usage") if isinstance(message, dict) else None
    if record.is_synthetic or not isinstance(usage, dict):
        return 0
    told = usage_from(cast("JsonObject", usage))
    return told.whole_input + told.output if told.whole_input else 0
