"""One dream: a sub-agent works on a copy of the memory, then all or nothing (spec/dream.md)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from msgspec.structs import replace

from app.agent.caller import Caller, Measure, Purpose
from app.background.dream.boundary import Boundary
from app.background.dream.guards import objections
from app.background.dream.lock import Held, Refused, acquire
from app.background.dream.place import Place
from app.background.dream.publish import publish
from app.background.dream.record import Dream, DreamLog
from app.background.dream.roots import nothing_hidden
from app.background.dream.stage import Stage, make_stage
from app.background.dream.sub_agent import SubAgent
from app.background_settings import DreamSettings
from app.clock import Clock, timestamp
from app.errors import ReverieError
from app.memory.documents import Documents
from app.models.provider import Usage
from app.sessions.envelope import new_uuid

MOST_SECONDS: Final = 600.0
MOST_CALLS: Final = 30
MOST_TOKENS: Final = 2_000_000
"""Tokens of all calls of one dream, read and written."""
_DAILY = re.compile(r"(?:^|/)[^/]*\d{4}-\d{2}-\d{2}[^/]*\.md$")
_log = logging.getLogger(__name__)
T = TypeVar("T")


class Skipped(ReverieError):
    """The dream did not begin: a gate or the lock holds it back."""


class OutOfBounds(ReverieError):
    """The dream took too long, or cost too much; nothing was changed."""


class Overtaken(ReverieError):
    """Every document that the dream would have changed was changed by somebody else meanwhile."""


class Progress(Protocol):
    """Told how a dream goes."""

    def say(self, line: str) -> None:
        """A line of progress."""
        ...

    def enter(self, phase: str) -> None:
        """Another phase begins."""
        ...

    def touched(self, file: str) -> None:
        """The sub-agent has changed a document of its copy."""
        ...


@dataclass(slots=True)
class Dreamer:
    """Carries dreams out."""

    place: Place
    documents: Documents
    clock: Clock
    settings: DreamSettings
    caller: Caller
    measure: Measure
    progress: Progress
    hidden: Callable[[Path], bool] = nothing_hidden
    """What the person's rules close to reading."""
    _usage: Usage = field(default_factory=Usage)
    _cost: float | None = 0.0
    _over: str = ""
    _stop: Callable[[], object] = field(default=lambda: None)

    async def dream(self, sessions: Sequence[str]) -> Dream:
        """Dream over these sessions.

        Raises `Skipped` when another process does, `OutOfBounds`, `Overtaken`, `Failed`,
        `StorageError` and `ModelError`; then, and when it is cancelled, the memory is as it was and
        the time of the last dream too. Once it publishes it is not to be cancelled any more.
        """
        held, is_cancelled = await _whole(
            lambda: acquire(self.place.memory, self.clock, _log.warning)
        )
        if isinstance(held, Refused):
            raise Skipped(held.reason)
        dream = Dream(
            id=f"{self.clock.now():%Y%m%d-%H%M%S}-{new_uuid()[:4]}",
            started=timestamp(self.clock.now()),
            sessions=tuple(sessions),
            model=self.caller.model,
        )
        log = DreamLog(self.place.dreams)
        try:
            _heed(is_cancelled)
            made = await self._work(dream, log, held)
        except BaseException as error:  # cancelled too: the time goes back; it is raised again
            await _whole(partial(self._roll_back, dream, log, held, error))
            raise
        return made

    async def _work(self, dream: Dream, log: DreamLog, held: Held) -> Dream:
        stage, is_cancelled = await _whole(self._staged)
        try:
            _heed(is_cancelled)
            agent = self._agent(stage)
            self.progress.enter("orient")
            said = await self._within_bounds(agent, dream.sessions)
            changes = await asyncio.to_thread(stage.changes)
        finally:
            _, is_cancelled = await _whole(stage.remove)
        _heed(is_cancelled)
        files = tuple(
            replace(each, evidence=tuple(agent.evidence.get(each.name, ()))) for each in changes
        )
        made = replace(
            dream,
            ended=timestamp(self.clock.now()),
            files=files,
            daily_logs=tuple(name for name in stage.base if _DAILY.search(name)),
            said=said,
            turns=agent.calls,
            usage=self._usage,
            cost_usd=self._cost,
        )
        made, _ = await _whole(lambda: self._finish(made, stage, log, held))
        return made

    def _staged(self) -> Stage:
        self.documents.settle()
        return make_stage(self.place.memory, self.place.stage)

    def _finish(self, made: Dream, stage: Stage, log: DreamLog, held: Held) -> Dream:
        """Publish, or hold for a look. Not to be interrupted: it is quick."""
        if not held.is_mine():
            raise OutOfBounds("Another process has taken the lock over.", kept="Nothing changed.")
        reasons = objections(stage.base, made.files)
        made = replace(made, status="held", reason="It could not be published.")
        log.save(made)
        with log.deciding():
            if not made.files:
                made = replace(made, status="completed", reason="Nothing was worth a change.")
                log.save(made)
            elif reasons or self.settings.review:
                reason = " ".join(reasons) or "You want to see it first (`dream.review`)."
                made = replace(made, status="held", reason=reason)
                log.save(made)
            else:
                made = publish(made, self.documents, log)
        if made.status == "failed":
            raise Overtaken(made.reason, kept="Nothing was changed.")
        if trouble := held.succeed():
            _log.warning(trouble)
        return made

    def _roll_back(self, dream: Dream, log: DreamLog, held: Held, error: BaseException) -> None:
        if trouble := held.fail():
            _log.warning(trouble)
            self.progress.say(trouble)
        if log.has(dream.id):
            return  # what became of it is written down already
        aborted = isinstance(error, asyncio.CancelledError)
        ended = replace(
            dream,
            ended=timestamp(self.clock.now()),
            status="aborted" if aborted else "failed",
            reason="It was stopped." if aborted else str(error),
            usage=self._usage,
            cost_usd=self._cost,
        )
        with contextlib.suppress(ReverieError):  # the job itself says what went wrong
            log.save(ended)

    def _agent(self, stage: Stage) -> SubAgent:
        boundary = Boundary(self.place.project, stage.folder, self.place.sessions, self.hidden)
        return SubAgent(
            self.place, boundary, self.clock, self.caller, self._measured, self.progress, MOST_CALLS
        )

    async def _within_bounds(self, agent: SubAgent, sessions: Sequence[str]) -> str:
        """The sub-agent's last words; it is stopped when it takes too long or costs too much."""
        work = asyncio.create_task(agent.run(sessions))
        limit = asyncio.create_task(self.clock.sleep(MOST_SECONDS))
        self._stop = work.cancel
        try:
            await asyncio.wait({work, limit}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                self._over = f"It took longer than {MOST_SECONDS / 60:.0f} minutes."
        finally:
            for task in (work, limit):
                task.cancel()
            is_cancelled = await _over(work, limit)
        _heed(is_cancelled)
        if self._over:
            raise OutOfBounds(self._over, kept="Nothing was changed.")
        return work.result()

    def _measured(
        self, model: str, usage: Usage, began: datetime, purpose: Purpose = "turn"
    ) -> float | None:
        cost = self.measure(model, usage, began, "dream")
        self._usage += usage
        self._cost = None if self._cost is None or cost is None else self._cost + cost
        used = self._usage.whole_input + self._usage.output
        if used > MOST_TOKENS:
            self._over = f"It used more than {MOST_TOKENS:,} tokens."
        elif (self._cost or 0) > self.settings.budget_usd:
            self._over = f"It cost more than ${self.settings.budget_usd:.2f}."
        if self._over:
            self._stop()
        return cost


async def _whole(work: Callable[[], T]) -> tuple[T, bool]:
    """What `work` gives, run in a thread to its end whatever happens; and whether this was
    cancelled meanwhile.
    """
    running = asyncio.ensure_future(asyncio.to_thread(work))
    is_cancelled = await _over(running)
    return running.result(), is_cancelled


async def _over(*tasks: asyncio.Future[Any]) -> bool:
    """Wait until all are done; returns whether this was cancelled meanwhile."""
    is_cancelled = False
    while not all(task.done() for task in tasks):
        try:
            await asyncio.wait(tasks)
        except asyncio.CancelledError:
            is_cancelled = True
    return is_cancelled


def _heed(is_cancelled: bool) -> None:
    if is_cancelled:
        raise asyncio.CancelledError
