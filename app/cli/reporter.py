"""Listens to a session in print mode: its facts become events, counts and words on stderr."""

from __future__ import annotations

from typing import Any

from app.background.ledger import MECHANISMS, Ledger
from app.cli.events import Ending, record_event
from app.cli.output import Output, note
from app.clock import Clock
from app.errors import StorageError
from app.models.provider import Usage
from app.state.facts import (
    Fact,
    RecordsAppended,
    RequestMeasured,
    RequestSent,
    RetryScheduled,
    SessionOpened,
    ToolQueued,
)
from app.state.model import Access, State
from app.state.reduce import reduce

LONG_WAIT = 2.0
"""Seconds of a wait that a person at a silent prompt is told of."""


class Reporter:
    """Counts what a turn and the session have used, and passes on what happens."""

    def __init__(self, output: Output, session_id: str, clock: Clock, ledger: Ledger) -> None:
        self.session_usage = Usage()
        self.state = State(access=Access(ready=True))
        """The state, as the app would have it."""
        self.turn_tokens = 0
        """Uncached, cache-write and output tokens of the turn."""
        self._ledger = ledger
        self.session_cost: float | None = 0.0
        self._output = output
        self._session_id = session_id
        self._clock = clock
        self._began = clock.monotonic()
        self._calls = 0
        self._usage = Usage()
        self._cost: float | None = 0.0
        self._storage_told = False
        self._retry_told = False

    def begin_session(self, opened: SessionOpened) -> None:
        """Count on from what the transcript says; a fork has an id of its own."""
        self._session_id = opened.session.session_id
        self.state = reduce(self.state, opened)
        self.session_usage = opened.usage
        self.session_cost = opened.cost_usd

    def begin_turn(self) -> None:
        """Count anew."""
        self._began = self._clock.monotonic()
        self._calls, self._usage = 0, Usage()
        self.turn_tokens = 0

    def emit(self, fact: Fact) -> None:
        """Hear one fact."""
        self.state = reduce(self.state, fact)
        match fact:
            case RecordsAppended(records=records):
                for record in records:
                    event = record_event(record, self._session_id)
                    if event is not None:
                        self._output.event(event)
            case RequestSent():
                self._calls += 1
            case RequestMeasured(usage=usage, cost_usd=cost):
                self._count(fact)
                self._usage += usage
                self._cost = _sum(self._cost, cost)
                self.session_usage += usage
                self.session_cost = _sum(self.session_cost, cost)
            case RetryScheduled(attempt=attempt, until=until, reason=reason):
                sentence = f"Attempt {attempt} failed and is repeated. {reason}"
                if until - self._clock.monotonic() >= LONG_WAIT and not self._retry_told:
                    self._retry_told = True
                    note(sentence)
                else:
                    self._tell(sentence)
            case ToolQueued(name=name):
                self._tell(f"Tool call: {name}")
            case _:
                pass

    def _count(self, fact: RequestMeasured) -> None:
        """Background calls go into the ledger, as in the app."""
        usage = fact.usage
        if fact.purpose == "turn":
            self.turn_tokens += usage.input + usage.cache_write + usage.output
        if fact.purpose in MECHANISMS:
            session = self._session_id
            try:
                self._ledger.add(fact.purpose, session, fact.model, usage, fact.cost_usd, fact.at)
            except StorageError as error:
                note(error.happened)

    def _tell(self, sentence: str) -> None:
        if self._output.verbose and self._output.form == "text":
            note(sentence)

    def storage_changed(self, error: StorageError | None) -> None:
        """Say once that the transcript is not on disk."""
        if error is not None and not self._storage_told:
            self._storage_told = True
            note(f"{error.happened} This run is not saved.")

    def ending(self, subtype: str, result: str, denials: tuple[dict[str, Any], ...]) -> Ending:
        """How the turn that runs came to its end; the cost is that of the whole run."""
        seconds = self._clock.monotonic() - self._began
        return Ending(
            subtype,
            result,
            self._session_id,
            seconds,
            self._calls,
            self._usage,
            self._cost,
            denials,
        )


def _sum(before: float | None, more: float | None) -> float | None:
    return None if before is None or more is None else before + more
