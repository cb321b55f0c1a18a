"""What happened: every change of the state is one of these, and there are no others.

A fact belongs to the slices whose union names it; `app.state.reduce` folds it there.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from app.models.provider import Limit, Usage
from app.sessions.graph import GraphView
from app.sessions.records import Record
from app.state.model import (
    Notice,
    OpenBlock,
    Outcome,
    PermissionRequest,
    QuestionRequest,
    QueuedMessage,
    Server,
    Session,
    Task,
)


@dataclass(frozen=True, slots=True)
class SessionOpened:
    """A session came on screen: new, resumed or switched to."""

    session: Session
    usage: Usage
    cost_usd: float | None
    context_window: int | None


@dataclass(frozen=True, slots=True)
class RecordsAppended:
    """Records were written to the transcript of this session; `view` is its graph after them."""

    session_id: str
    records: tuple[Record, ...]
    view: GraphView


@dataclass(frozen=True, slots=True)
class HeadMoved:
    """Another branch of the same session came on screen."""

    view: GraphView


@dataclass(frozen=True, slots=True)
class ModelChosen:
    """Later turns go to this model."""

    model: str
    provider: str
    context_window: int | None


@dataclass(frozen=True, slots=True)
class ModeChanged:
    """Later tool calls are judged in this permission mode."""

    mode: str


@dataclass(frozen=True, slots=True)
class GitBranchSeen:
    """The working folder's git branch; empty outside of git."""

    branch: str


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A prompt was accepted and its turn began."""

    turn_id: str
    at: float


@dataclass(frozen=True, slots=True)
class RequestSent:
    """A model call began; the blocks of an earlier attempt are void."""


@dataclass(frozen=True, slots=True)
class ReplyGrew:
    """The reply's blocks as they stand now; at most one a frame."""

    blocks: tuple[OpenBlock, ...]


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """An attempt failed; the next one begins by itself."""

    attempt: int
    until: float
    reason: str


@dataclass(frozen=True, slots=True)
class ToolQueued:
    """The model called a tool; it has not begun."""

    tool_id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolAsked:
    """A tool call waits for the person's permission or answer."""

    tool_id: str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool call runs."""

    tool_id: str
    at: float


@dataclass(frozen=True, slots=True)
class ToolProgressed:
    """The last lines that a running tool has printed."""

    tool_id: str
    output: str


@dataclass(frozen=True, slots=True)
class InterruptRequested:
    """The person stopped the turn; it is winding up."""


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """A turn is wholly over."""

    turn_id: str
    outcome: Outcome
    detail: str
    seconds: float


@dataclass(frozen=True, slots=True)
class MessageQueued:
    """Something was typed while a turn was running."""

    message: QueuedMessage


@dataclass(frozen=True, slots=True)
class MessageUnqueued:
    """A queued message was sent, taken back or removed."""

    id: str


@dataclass(frozen=True, slots=True)
class PermissionAsked:
    """A tool call needs the person's word."""

    request: PermissionRequest


@dataclass(frozen=True, slots=True)
class PermissionSettled:
    """A permission request was answered or became void."""

    id: str


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """The model asks the person something."""

    request: QuestionRequest


@dataclass(frozen=True, slots=True)
class QuestionSettled:
    """A question was answered, declined or became void."""

    id: str


@dataclass(frozen=True, slots=True)
class RequestMeasured:
    """A model call ended and was counted."""

    usage: Usage
    cost_usd: float | None
    at: datetime
    """When the call began."""


@dataclass(frozen=True, slots=True)
class LimitsReported:
    """The server said what it still allows."""

    allowances: tuple[Limit, ...]


@dataclass(frozen=True, slots=True)
class TaskChanged:
    """A background job began, went on or ended."""

    task: Task


@dataclass(frozen=True, slots=True)
class TaskForgotten:
    """An ended background job left the list."""

    id: str


@dataclass(frozen=True, slots=True)
class NoticePosted:
    """Something the person should know; one with the same id is replaced."""

    notice: Notice


@dataclass(frozen=True, slots=True)
class NoticeDismissed:
    """A notice has been read."""

    id: int


@dataclass(frozen=True, slots=True)
class AccessChanged:
    """A model can be reached, or none can."""

    ready: bool


@dataclass(frozen=True, slots=True)
class TrustSettled:
    """Whether the folder's own settings count."""

    trusted: bool


@dataclass(frozen=True, slots=True)
class ServersFound:
    """The search for servers on this machine has ended."""

    servers: tuple[Server, ...]


SessionFact: TypeAlias = (
    SessionOpened | RecordsAppended | HeadMoved | ModelChosen | ModeChanged | GitBranchSeen
)
LiveFact: TypeAlias = (
    SessionOpened
    | RecordsAppended
    | TurnStarted
    | RequestSent
    | ReplyGrew
    | RetryScheduled
    | ToolQueued
    | ToolAsked
    | ToolStarted
    | ToolProgressed
    | InterruptRequested
    | TurnEnded
    | MessageQueued
    | MessageUnqueued
)
PermissionFact: TypeAlias = (
    SessionOpened | PermissionAsked | PermissionSettled | QuestionAsked | QuestionSettled
)
LimitsFact: TypeAlias = SessionOpened | ModelChosen | RequestMeasured | LimitsReported
TaskFact: TypeAlias = TaskChanged | TaskForgotten
NoticeFact: TypeAlias = NoticePosted | NoticeDismissed
AccessFact: TypeAlias = AccessChanged | TrustSettled | ServersFound

Fact: TypeAlias = (
    SessionFact | LiveFact | PermissionFact | LimitsFact | TaskFact | NoticeFact | AccessFact
)
