"""The state: frozen slices, each the fold of the facts that concern it (ARCHITECTURE.md)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from app.models.cache_clock import CacheClock
from app.models.provider import Limit, Usage
from app.sessions.graph import GraphView, MessageGraph
from app.state.background import Away, Background, Suggestion, Task, TurnSummary
from app.state.feedback import Feedback

Phase: TypeAlias = Literal[
    "idle",
    "requesting",
    "thinking",
    "replying",
    "calling",
    "running",
    "retrying",
    "compacting",
    "interrupting",
]
Outcome: TypeAlias = Literal["completed", "interrupted", "failed", "declined", "stopped"]
PermissionAnswer: TypeAlias = Literal["once", "session", "always", "no", "interrupt"]
Severity: TypeAlias = Literal["info", "warning", "error"]
Trigger: TypeAlias = Literal["manual", "auto", "ahead"]
"""Who wanted a compaction: the person, the full context, or the app in good time before that."""


def _empty_view() -> GraphView:
    return GraphView(MessageGraph(), 0, None)


class Session(msgspec.Struct, frozen=True):
    """Which conversation is open, and how the next turn will run."""

    session_id: str = ""
    folder: str = ""
    root: str = ""
    """The top of the project, whose own settings need to be trusted."""
    view: GraphView = msgspec.field(default_factory=_empty_view)
    title: str = ""
    model: str = ""
    provider: str = ""
    mode: str = "default"
    git_branch: str = ""
    persisted: bool = True
    warnings: tuple[str, ...] = ()
    """What was repaired or left out when the transcript was read, one sentence each."""


class OpenBlock(msgspec.Struct, frozen=True):
    """A block of the reply that is arriving; it becomes a record when the reply is whole."""

    index: int
    kind: Literal["text", "thinking", "tool_use"]
    text: str = ""
    tool_id: str = ""
    tool_name: str = ""
    closed: bool = False


class ToolRun(msgspec.Struct, frozen=True):
    """A tool call that has no result yet."""

    tool_id: str
    name: str
    status: Literal["queued", "asking", "running"]
    started: float = 0.0
    """Monotonic seconds."""
    output: str = ""
    """The last lines it has printed so far."""


class Retry(msgspec.Struct, frozen=True):
    """A failed attempt that will be repeated by itself."""

    attempt: int
    until: float
    """Monotonic seconds at which the next attempt starts."""
    reason: str


class QueuedMessage(msgspec.Struct, frozen=True):
    """What the person typed while a turn was running."""

    id: str
    text: str
    pictures: tuple[Path, ...] = ()


class TurnEnd(msgspec.Struct, frozen=True):
    """How the last turn ended; `detail` is a sentence for the person."""

    outcome: Outcome
    detail: str = ""
    seconds: float = 0.0


class Live(msgspec.Struct, frozen=True):
    """The turn that is running, if any. Nothing here survives a restart."""

    turn_id: str | None = None
    phase: Phase = "idle"
    started: float = 0.0
    blocks: tuple[OpenBlock, ...] = ()
    tools: Mapping[str, ToolRun] = msgspec.field(default_factory=dict[str, ToolRun])
    retry: Retry | None = None
    queue: tuple[QueuedMessage, ...] = ()
    last: TurnEnd | None = None


class PermissionRequest(msgspec.Struct, frozen=True):
    """A tool call that waits for the person's word."""

    id: str
    tool: str
    title: str
    arguments: Mapping[str, Any]
    reason: str
    rule: str | None
    """What "always" would save; None where no safe rule exists."""


class AskedQuestion(msgspec.Struct, frozen=True):
    """One question of the model with its choices (label, description)."""

    header: str
    text: str
    options: tuple[tuple[str, str], ...]
    multiple: bool = False


class QuestionRequest(msgspec.Struct, frozen=True):
    """Questions that the model waits for."""

    id: str
    questions: tuple[AskedQuestion, ...]


class Permission(msgspec.Struct, frozen=True):
    """What waits for the person's answer, oldest first."""

    requests: tuple[PermissionRequest, ...] = ()
    questions: tuple[QuestionRequest, ...] = ()


class Limits(msgspec.Struct, frozen=True):
    """What the session has used and what the server still allows."""

    usage: Usage = msgspec.field(default_factory=Usage)
    cost_usd: float | None = 0.0
    """None when a model's price is unknown."""
    context_tokens: int = 0
    """Prompt and reply of the last request."""
    context_window: int | None = None
    cache: CacheClock = msgspec.field(default_factory=CacheClock)
    allowances: tuple[Limit, ...] = ()


class Receipt(msgspec.Struct, frozen=True):
    """What a compaction would do; the person may still change its summary."""

    summary: str
    tokens_before: int
    tokens_after: int
    """As far as it can be told before the next call."""
    summarised: int
    """Messages that the summary takes the place of."""
    kept: int
    """Messages that are kept word for word."""
    last_request: str
    """The person's last request, which is kept whatever the summary says; cut for the eye."""
    goes_back: str = ""
    """The prompt that the conversation goes back to before, whole; empty where it stays."""


class Compaction(msgspec.Struct, frozen=True):
    """The summary that is being written, or that waits for the person's word."""

    trigger: Trigger | None = None
    """None when none is being written."""
    characters: int = 0
    receipt: Receipt | None = None


class Notice(msgspec.Struct, frozen=True):
    """One sentence for the person that belongs to no message."""

    id: int
    text: str
    severity: Severity = "info"


class Server(msgspec.Struct, frozen=True):
    """A Messages API server found on this machine."""

    name: str
    base_url: str
    models: tuple[str, ...] = ()


class Access(msgspec.Struct, frozen=True):
    """How a model is reached, and what must be answered before one is."""

    ready: bool = False
    trusted: bool | None = None
    """None while it is not known whether the folder's own settings may count."""
    servers: tuple[Server, ...] = ()
    searched: bool = False
    """Whether the search for local servers has ended."""


class MemoryDocument(msgspec.Struct, frozen=True):
    """A document of the memory folder."""

    name: str
    size: int
    modified: float
    """Seconds since the epoch."""
    who: Literal["you", "assistant", "dream", "other", ""] = ""
    """Who wrote it last; empty where nobody knows."""
    is_orphan: bool = False
    """Whether the entry does not mention it."""
    trouble: str = ""
    """Why it cannot be opened; empty when it can."""


class Memory(msgspec.Struct, frozen=True):
    """The project's memory as it was last seen on disk."""

    folder: str = ""
    """Empty until it has been looked at."""
    documents: tuple[MemoryDocument, ...] = ()
    """By name, the entry first."""
    trashed: tuple[MemoryDocument, ...] = ()
    """Deleted documents that can be restored, newest first."""
    lines: int = 0
    code_units: int = 0
    """Of the whole entry, to be compared with its budget."""
    problems: tuple[str, ...] = ()
    """Why the folder cannot be used as it should, one sentence each."""
    is_on: bool = True
    """Whether requests carry the memory (`auto_memory`)."""


class State(msgspec.Struct, frozen=True):
    """Everything that two widgets need or that outlives one of them."""

    session: Session = msgspec.field(default_factory=Session)
    live: Live = msgspec.field(default_factory=Live)
    permission: Permission = msgspec.field(default_factory=Permission)
    limits: Limits = msgspec.field(default_factory=Limits)
    compaction: Compaction = msgspec.field(default_factory=Compaction)
    tasks: Mapping[str, Task] = msgspec.field(default_factory=dict[str, Task])
    notices: tuple[Notice, ...] = ()
    access: Access = msgspec.field(default_factory=Access)
    memory: Memory = msgspec.field(default_factory=Memory)
    background: Background = msgspec.field(default_factory=Background)
    away: Away = msgspec.field(default_factory=Away)
    suggestion: Suggestion = msgspec.field(default_factory=Suggestion)
    summary: TurnSummary | None = None
    feedback: Feedback = msgspec.field(default_factory=Feedback)
