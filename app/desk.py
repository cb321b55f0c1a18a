"""Small helpers of the controller: questions that wait, drafts that are kept, shells as tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from app.clock import Clock
from app.config import own_value, set_value
from app.installation import Installation
from app.sessions.envelope import new_uuid
from app.sessions.prompt_memory import PromptMemory
from app.state.background import Task
from app.state.facts import Fact, QuestionAsked, QuestionSettled
from app.state.model import AskedQuestion, QuestionRequest
from app.trust import trust

if TYPE_CHECKING:
    from app.agent.tools.base import Question
    from app.agent.tools.shell_background import ShellTask

DRAFT_PAUSE = 0.3
"""Seconds between a keystroke and the draft on disk."""


class QuestionDesk:
    """Puts the model's questions to the person and waits for the answers."""

    def __init__(self, emit: Callable[[Fact], None]) -> None:
        self._emit = emit
        self._waiting: dict[str, asyncio.Future[tuple[str, ...] | None]] = {}

    async def ask(self, questions: tuple[Question, ...]) -> tuple[str, ...] | None:
        """The answers in order, None when the person declined."""
        asked = tuple(AskedQuestion(q.header, q.text, q.options, q.multiple) for q in questions)
        request = QuestionRequest(new_uuid(), asked)
        future: asyncio.Future[tuple[str, ...] | None] = asyncio.get_running_loop().create_future()
        self._waiting[request.id] = future
        self._emit(QuestionAsked(request))
        try:
            return await future
        finally:
            del self._waiting[request.id]
            self._emit(QuestionSettled(request.id))

    def answer(self, request_id: str, answers: tuple[str, ...] | None) -> None:
        """The person's answers, None to decline; ignored when nothing waits for them."""
        future = self._waiting.get(request_id)
        if future is not None and not future.done():
            future.set_result(answers)


class DraftKeeper:
    """Writes the unsent text a moment after the last keystroke, off the event loop."""

    def __init__(self, memory: PromptMemory, clock: Clock) -> None:
        self._memory = memory
        self._clock = clock
        self._latest: tuple[str, str] | None = None
        self._writer: asyncio.Task[None] | None = None

    def keep(self, session_id: str, text: str) -> None:
        """Remember the unsent text of a session, empty to forget it."""
        self._latest = (session_id, text)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write())

    async def _write(self) -> None:
        while self._latest is not None:
            await self._clock.sleep(DRAFT_PAUSE)
            latest, self._latest = self._latest, None
            await asyncio.to_thread(self._memory.save_draft, *latest)

    def close(self) -> None:
        """Write what is still in hand and stop."""
        if self._writer is not None:
            self._writer.cancel()
        self.flush()

    def flush(self) -> None:
        """Write what is still in hand, at once."""
        if self._latest is not None:
            self._memory.save_draft(*self._latest)
            self._latest = None


_STATUS: dict[str, Literal["running", "completed", "failed", "aborted"]] = {
    "running": "running",
    "completed": "completed",
    "failed": "failed",
    "killed": "aborted",
}


def shell_task(shell: ShellTask, before: Task | None, now: float, at: float) -> Task:
    """A background shell as an entry of the task list; `now` in monotonic seconds, `at` since the
    epoch.
    """
    running = shell.status == "running"
    detail = "" if shell.code is None else f"exit {shell.code}"
    return Task(
        shell.id,
        "shell",
        shell.command,
        _STATUS[shell.status],
        before.started if before else now,
        None if running else now,
        detail,
        before.began if before else at,
    )


def save_rule(here: Installation, rule: str) -> None:
    """Keep an "always" in the project's own local settings, and trust the folder that has them.

    Raises `SettingsError` or `StorageError`.
    """
    file = here.root / ".reverie" / "settings.local.toml"
    known: list[str] = own_value(file, "permissions.allow") or []
    trust(here.places, here.root)
    set_value(file, "permissions.allow", list(dict.fromkeys([*known, rule])))
