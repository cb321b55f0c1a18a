"""What a tool is, what it may use, and what it gives back."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from app.agent.policy import Sightings
from app.clock import Clock
from app.sessions.records import Record

if TYPE_CHECKING:
    from app.agent.session_memory import SessionMemory

ToolInput: TypeAlias = Mapping[str, Any]
"""A tool's arguments as the model wrote them: untrusted until the tool has checked them."""

MAX_RESULT_CHARACTERS = 30_000
"""Longer results are cut for the model; the whole goes to a file that the result names."""


LIVE_LINES = 40
LIVE_CHARACTERS = 4_000
"""Of a call that still runs, what `progress` gets at a time."""


class ToolFailure(Exception):
    """The call cannot be carried out; the sentence goes to the model as an error result."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gave: `content` for the model, `details` for the card and the transcript."""

    content: str | list[dict[str, Any]]
    is_error: bool = False
    details: Mapping[str, Any] | str | None = None
    """`toolUseResult` of the transcript, in the shapes of transcripts.md a5."""


class ToolInterrupted(asyncio.CancelledError):
    """The call was cancelled, as by any `CancelledError`; `partial` is what it had done by then,
    an error result that says that the call did not finish."""

    def __init__(self, partial: ToolResult) -> None:
        super().__init__()
        self.partial = partial


@dataclass(frozen=True, slots=True)
class Question:
    """One question for the person: a heading, the text, and the choices (label, description)."""

    header: str
    text: str
    options: tuple[tuple[str, str], ...]
    multiple: bool = False


class Asker(Protocol):
    """Puts questions to the person."""

    async def __call__(self, questions: tuple[Question, ...]) -> tuple[str, ...] | None:
        """The answers in order, or None when the person declined."""
        ...


CALL: ContextVar[str] = ContextVar("CALL", default="")
"""The uuid of the record that holds the tool call which runs."""


class FileKeeper(Protocol):
    """Keeps what files held, so that a rewind can put it back."""

    async def begin(self, prompt: Record) -> None:
        """Write a prompt to the transcript: what changes from here on belongs to it."""
        ...

    async def keep(self, target: Path, new: bytes, *, what: str, old: bytes | None) -> None:
        """Keep what the resolved `target` holds, `old`, before `new` is written to it.

        `old` is None where there is no file yet. Raises `ToolFailure` when it cannot be kept or
        holds something else by now; then it must not be changed.
        """
        ...

    def around(self, command: str) -> contextlib.AbstractAsyncContextManager[None]:
        """Record what the project's files go through while a shell command runs."""
        ...


class BackgroundShells(Protocol):
    """Keeps shell commands that outlive their turn."""

    def adopt(self, process: asyncio.subprocess.Process, command: str, output: Path) -> str:
        """Take over a running process whose output goes to `output`; returns the task's id."""
        ...

    def read(self, task_id: str) -> tuple[str, str]:
        """`(status, output since the last read)`; raises `ToolFailure` for an unknown id."""
        ...

    def kill(self, task_id: str) -> None:
        """End the task's whole process group; raises `ToolFailure` for an unknown id."""
        ...


class ReportQueue(Protocol):
    """Keeps the model's reports until the person has reviewed them; none leaves by it."""

    async def __call__(self, title: str, body: str, *, category: str, evidence: str) -> str:
        """Store a report; returns its id. Raises `ToolFailure` when it cannot be stored."""
        ...


def _nothing_hidden(_path: Path) -> bool:
    return False


@dataclass(slots=True)
class ToolContext:
    """What a session lends its tools. One per session, shared by all its calls."""

    root: Path
    """The folder in which the session was opened."""
    clock: Clock
    scratch: Path
    """A private folder for outputs too long to show; made on first use, 0700."""
    background: BackgroundShells
    files: FileKeeper | None = None
    """None where file checkpoints are off."""
    memory: SessionMemory | None = None
    """None where memory is off."""
    reports: ReportQueue | None = None
    """None where the model may not queue reports."""
    ask: Asker | None = None
    """None where nobody can answer (print mode)."""
    added_roots: tuple[Path, ...] = ()
    cwd: Path | None = None
    """The shell's working folder; None until the first command has moved it."""
    seen: dict[str, tuple[int, int, str]] = field(default_factory=dict[str, tuple[int, int, str]])
    """By resolved path: mtime_ns, size and SHA-256 of the bytes when a tool last read or wrote it.

    The digest is empty for a file too large to hash.
    """
    todos: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    hidden: Callable[[Path], bool] = _nothing_hidden
    """Whether a search leaves this file out (what a deny rule for Read names)."""
    sightings: Sightings = field(default_factory=Sightings)
    """Where the paths of the calls led when they were judged: the policy's own object, so that a
    link that was turned elsewhere since is not followed."""


class Tool(Protocol):
    """One tool of the agent."""

    name: str
    description: str
    schema: Mapping[str, Any]
    """JSON schema of the input."""
    read_only: bool
    """May run beside other read-only calls."""

    def title(self, arguments: ToolInput) -> str:
        """The one argument worth showing on the card's line; never raises, whatever the input."""
        ...

    async def run(
        self, arguments: ToolInput, context: ToolContext, progress: Callable[[str], None]
    ) -> ToolResult:
        """Carry the call out. `progress` gets the live output of a shell as it grows: each time the
        newest end of all there is so far, at most `LIVE_LINES` and `LIVE_CHARACTERS`, to be shown
        in the place of what it got before.

        Raises `ToolFailure` for anything the model should know. Cancelling ends whatever it has
        started; a tool that has something to show by then raises `ToolInterrupted`.
        """
        ...
