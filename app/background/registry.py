"""Background jobs: every one is seen, metered and can be ended (spec/background.md, Task registry).

The jobs of one app. They are owned here, never by a widget.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from app.clock import Clock
from app.errors import ReverieError
from app.models.provider import Usage
from app.plain_text import plain_line
from app.state.background import Task
from app.state.facts import Fact, TaskChanged, TaskForgotten

KEPT: Final = 100
"""Ended jobs that stay in the list."""
MOST_LINES: Final = 200
"""Progress lines of a job that are kept, the newest."""
EXIT_WAIT: Final = 2.0
"""Seconds that closing waits for jobs to end (ARCHITECTURE.md, Concurrency)."""


class Stale(Exception):
    """What a job made is out of date; it ends as aborted, with this reason."""


class Skip(Exception):
    """The job did not begin, for this reason."""


class Job:
    """What a running job says of itself."""

    def __init__(self, task: Task, show: Callable[[Task], None]) -> None:
        self._task = task
        self._show = show

    @property
    def id(self) -> str:
        """The job's name in the list."""
        return self._task.id

    def say(self, line: str) -> None:
        """A line of progress."""
        lines = (*self._task.lines, plain_line(line))[-MOST_LINES:]
        self.change(lines=lines)

    def enter(self, phase: str) -> None:
        """Another part of the work begins."""
        self.change(phase=phase)

    def measured(self, usage: Usage, cost_usd: float | None) -> None:
        """A model call ended and was counted."""
        before = self._task.cost_usd
        cost = None if before is None or cost_usd is None else before + cost_usd
        self.change(calls=self._task.calls + 1, usage=self._task.usage + usage, cost_usd=cost)

    def touched(self, file: str) -> None:
        """A file was changed."""
        if file not in self._task.files:
            self.change(files=(*self._task.files, file))

    def change(self, **fields: Any) -> None:
        """Show the job with other values."""
        self._task = replace(self._task, **fields)
        self._show(self._task)


Work: TypeAlias = Callable[[Job], Coroutine[Any, Any, str]]
"""Does the job; returns in a few words what came of it."""


class TaskRegistry:
    """Starts jobs, tells the store of them, and ends them."""

    def __init__(
        self,
        emit: Callable[[Fact], None],
        clock: Clock,
        fault: Callable[[BaseException], None],
    ) -> None:
        """`fault` is told of a programming error in a job."""
        self._emit = emit
        self._clock = clock
        self._fault = fault
        self._running: dict[str, asyncio.Task[None]] = {}
        self._ended: list[str] = []
        self._count = 0

    def start(self, kind: str, title: str, work: Work, session_id: str = "") -> str:
        """Run a job beside everything else; returns its id."""
        self._count += 1
        task_id = f"{kind}_{self._count}"
        began = self._clock.now().timestamp()
        task = Task(
            task_id,
            kind,
            plain_line(title),
            "running",
            self._clock.monotonic(),
            began=began,
            session_id=session_id,
        )
        job = Job(task, self._show)
        self._show(task)
        running = asyncio.create_task(self._run(job, work), name=f"job {task_id}")
        self._running[task_id] = running
        running.add_done_callback(lambda done: self._done(job, done))
        return task_id

    def task(self, task_id: str) -> asyncio.Task[None]:
        """The running job as asyncio has it. Raises `KeyError` once it has ended."""
        return self._running[task_id]

    def is_running(self, task_id: str) -> bool:
        """Whether a job has not ended yet."""
        return task_id in self._running

    def kill(self, task_id: str) -> None:
        """End a job; it is shown as aborted once it is gone. Ended ones stay as they are."""
        if task_id in self._running:
            self._running[task_id].cancel()

    async def ended(self, task_id: str) -> None:
        """Wait for the end of a job; cancelling the wait ends the job."""
        running = self._running.get(task_id)
        if running is None:
            return
        try:
            await asyncio.wait([running])
        except asyncio.CancelledError:
            running.cancel()
            raise

    async def close(self) -> None:
        """End all jobs."""
        waiting = list(self._running.values())
        for running in waiting:
            running.cancel()
        if waiting:
            await asyncio.wait(waiting, timeout=EXIT_WAIT)

    async def _run(self, job: Job, work: Work) -> None:
        try:
            self._end(job, "completed", await work(job))
        except Skip as reason:
            self._end(job, "skipped", str(reason))
        except Stale as reason:
            self._end(job, "aborted", str(reason))
        except ReverieError as error:
            self._end(job, "failed", str(error))

    def _done(self, job: Job, running: asyncio.Task[None]) -> None:
        del self._running[job.id]
        if running.cancelled():
            self._end(job, "aborted", "")
        elif error := running.exception():
            self._end(job, "failed", "There is a fault in the program.")
            self._fault(error)

    def _end(self, job: Job, status: str, detail: str) -> None:
        job.change(status=status, detail=plain_line(detail), ended=self._clock.monotonic())
        self._ended.append(job.id)
        if len(self._ended) > KEPT:
            self._emit(TaskForgotten(self._ended.pop(0)))

    def _show(self, task: Task) -> None:
        self._emit(TaskChanged(task))
