"""What happened: every change of the state is one of these, and there are no others.

A fact belongs to the slices whose union names it; `app.state.reduce` folds it there. Structs, not
dataclasses, which cost 0.4 ms each at import: 11 ms before the first frame.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeAlias

from msgspec import Struct

from app.models.provider import Limit, Usage
from app.sessions.graph import GraphView
from app.sessions.records import Record
from app.state.background import Mechanism, Spend, Task, TurnSummary
from app.state.feedback import Feedback
from app.state.model import (
    Memory,
    Notice,
    OpenBlock,
    Outcome,
    PermissionRequest,
    QuestionRequest,
    QueuedMessage,
    Receipt,
    Server,
    Session,
    Trigger,
)


class SessionOpened(Struct, frozen=True):
    """A session came on screen: new, resumed or switched to."""

    session: Session
    usage: Usage
    cost_usd: float | None
    context_window: int | None
    context_tokens: int = 0
    """How long the next request will be; 0 where it is not known."""


class RecordsAppended(Struct, frozen=True):
    """Records were written to the transcript of this session; `view` is its graph after them."""

    session_id: str
    records: tuple[Record, ...]
    view: GraphView


class HeadMoved(Struct, frozen=True):
    """Another branch of the same session came on screen."""

    view: GraphView


class ModelChosen(Struct, frozen=True):
    """Later turns go to this model."""

    model: str
    provider: str
    context_window: int | None


class ModeChanged(Struct, frozen=True):
    """Later tool calls are judged in this permission mode."""

    mode: str


class GitBranchSeen(Struct, frozen=True):
    """The working folder's git branch; empty outside of git."""

    branch: str


class TurnStarted(Struct, frozen=True):
    """A prompt was accepted and its turn began."""

    turn_id: str
    at: float


class RequestSent(Struct, frozen=True):
    """A model call began; the blocks of an earlier attempt are void."""


class ReplyGrew(Struct, frozen=True):
    """The reply's blocks as they stand now; at most one a frame."""

    blocks: tuple[OpenBlock, ...]


class RetryScheduled(Struct, frozen=True):
    """An attempt failed; the next one begins by itself."""

    attempt: int
    until: float
    reason: str


class ToolQueued(Struct, frozen=True):
    """The model called a tool; it has not begun."""

    tool_id: str
    name: str


class ToolAsked(Struct, frozen=True):
    """A tool call waits for the person's permission or answer."""

    tool_id: str


class ToolStarted(Struct, frozen=True):
    """A tool call runs."""

    tool_id: str
    at: float


class ToolProgressed(Struct, frozen=True):
    """The last lines that a running tool has printed."""

    tool_id: str
    output: str


class InterruptRequested(Struct, frozen=True):
    """The person stopped the turn; it is winding up."""


class TurnEnded(Struct, frozen=True):
    """A turn is wholly over."""

    turn_id: str
    outcome: Outcome
    detail: str
    seconds: float


class MessageQueued(Struct, frozen=True):
    """Something was typed while a turn was running."""

    message: QueuedMessage


class MessageUnqueued(Struct, frozen=True):
    """A queued message was sent, taken back or removed."""

    id: str


class PermissionAsked(Struct, frozen=True):
    """A tool call needs the person's word."""

    request: PermissionRequest


class PermissionSettled(Struct, frozen=True):
    """A permission request was answered or became void."""

    id: str


class QuestionAsked(Struct, frozen=True):
    """The model asks the person something."""

    request: QuestionRequest


class QuestionSettled(Struct, frozen=True):
    """A question was answered, declined or became void."""

    id: str


class RequestMeasured(Struct, frozen=True):
    """A model call ended and was counted."""

    usage: Usage
    cost_usd: float | None
    at: datetime
    """When the call began."""
    purpose: str = "turn"
    """`turn`, or what else the call was for; only a turn's own shows how full the context is."""
    model: str = ""
    session_id: str = ""
    """The session that it was made for; empty where it was for none."""


class ContextSized(Struct, frozen=True):
    """How long the next request will be, where no call of a turn has shown it."""

    tokens: int


class CompactionStarted(Struct, frozen=True):
    """A summary of the conversation is being written."""

    trigger: Trigger


class CompactionGrew(Struct, frozen=True):
    """The summary has this many characters so far."""

    characters: int


class CompactionDrafted(Struct, frozen=True):
    """A summary waits for the person's word before it counts."""

    receipt: Receipt


class CompactionEnded(Struct, frozen=True):
    """No summary is being written or waits any more."""


class LimitsReported(Struct, frozen=True):
    """The server said what it still allows."""

    allowances: tuple[Limit, ...]


class TaskChanged(Struct, frozen=True):
    """A background job began, went on or ended."""

    task: Task


class TaskForgotten(Struct, frozen=True):
    """An ended background job left the list."""

    id: str


class MechanismsSeen(Struct, frozen=True):
    """What holds each background mechanism back was looked at."""

    mechanisms: tuple[Mechanism, ...]


class SpendCounted(Struct, frozen=True):
    """The ledger of background work was read."""

    budget_usd: float | None
    today: str
    spend: tuple[Spend, ...]


class FocusChanged(Struct, frozen=True):
    """The person left the terminal, or is back."""

    is_away: bool


class FocusWatched(Struct, frozen=True):
    """It is known how one hears that the person leaves."""

    watch: Literal["focus", "keys"]


class DraftChanged(Struct, frozen=True):
    """Something stands in the prompt, or nothing does any more."""

    has_draft: bool


class SuggestionOffered(Struct, frozen=True):
    """There is something that the person may want to say next."""

    text: str


class SuggestionDropped(Struct, frozen=True):
    """It was taken, refused or is out of date."""


class TurnSummarised(Struct, frozen=True):
    """Where the turn left things; None when that is not known any more."""

    summary: TurnSummary | None


class NoticePosted(Struct, frozen=True):
    """Something the person should know; one with the same id is replaced."""

    notice: Notice


class NoticeDismissed(Struct, frozen=True):
    """A notice has been read."""

    id: int


class AccessChanged(Struct, frozen=True):
    """A model can be reached, or none can."""

    ready: bool


class TrustSettled(Struct, frozen=True):
    """Whether the folder's own settings count."""

    trusted: bool


class ServersFound(Struct, frozen=True):
    """The search for servers on this machine has ended."""

    servers: tuple[Server, ...]


class FeedbackSeen(Struct, frozen=True):
    """The outbox was looked at, or a report goes its way."""

    feedback: Feedback


class MemorySeen(Struct, frozen=True):
    """The memory folder was looked at."""

    memory: Memory


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
    | CompactionStarted
)
PermissionFact: TypeAlias = (
    SessionOpened | PermissionAsked | PermissionSettled | QuestionAsked | QuestionSettled
)
LimitsFact: TypeAlias = (
    SessionOpened | HeadMoved | ModelChosen | RequestMeasured | LimitsReported | ContextSized
)
CompactionFact: TypeAlias = (
    SessionOpened | CompactionStarted | CompactionGrew | CompactionDrafted | CompactionEnded
)
TaskFact: TypeAlias = TaskChanged | TaskForgotten
NoticeFact: TypeAlias = NoticePosted | NoticeDismissed
AccessFact: TypeAlias = AccessChanged | TrustSettled | ServersFound
MemoryFact: TypeAlias = MemorySeen
FeedbackFact: TypeAlias = FeedbackSeen
BackgroundFact: TypeAlias = MechanismsSeen | SpendCounted
AwayFact: TypeAlias = FocusChanged | FocusWatched
SuggestionFact: TypeAlias = (
    SessionOpened
    | TurnStarted
    | HeadMoved
    | ModelChosen
    | ModeChanged
    | DraftChanged
    | SuggestionOffered
    | SuggestionDropped
)
SummaryFact: TypeAlias = SessionOpened | TurnSummarised

Fact: TypeAlias = (
    SessionFact
    | LiveFact
    | PermissionFact
    | LimitsFact
    | CompactionFact
    | TaskFact
    | NoticeFact
    | AccessFact
    | MemoryFact
    | FeedbackFact
    | BackgroundFact
    | AwayFact
    | SuggestionFact
    | SummaryFact
)
