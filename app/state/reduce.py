"""Facts into state: pure functions, one a slice; an unchanged slice stays the same object."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, assert_never

from msgspec.structs import replace

from app.models.cache_clock import CacheClock
from app.plain_text import cut
from app.sessions.prompts import typed_text, user_kind
from app.sessions.records import Record
from app.state import facts as f
from app.state.background import Away, Background, Suggestion, Task, TurnSummary
from app.state.feedback import Feedback
from app.state.model import (
    Access,
    Compaction,
    Limits,
    Live,
    Memory,
    Notice,
    Permission,
    Retry,
    Session,
    State,
    ToolRun,
    TurnEnd,
)

FIRST_WORDS = 60
"""Characters of a prompt that stand as the title."""
OWN_PROMPT = frozenset({"title", "post_turn"})
"""Purposes of calls that do not carry the conversation, so that its cache is not touched."""


def reduce(state: State, fact: f.Fact) -> State:
    """The state after a fact; `state` itself when the fact changes nothing."""
    if isinstance(fact, f.RecordsAppended | f.RequestMeasured) and fact.session_id not in (
        "",
        state.session.session_id,
    ):
        return state  # late, of a session that is no longer on screen
    changed: dict[str, Any] = {}
    for name, kind, fold in _SLICES:
        if isinstance(fact, kind):
            before = getattr(state, name)
            after = fold(before, fact)
            if after is not before:
                changed[name] = after
    return replace(state, **changed) if changed else state


def reduce_session(session: Session, fact: f.SessionFact) -> Session:
    """Which conversation is open."""
    match fact:
        case f.SessionOpened():
            return fact.session
        case f.RecordsAppended(records=records, view=view):
            title = latest_title(records) or session.title or first_words(records)
            return replace(session, view=view, title=title)
        case f.HeadMoved(view=view):
            return replace(session, view=view)
        case f.ModelChosen(model=model, provider=provider):
            return replace(session, model=model, provider=provider)
        case f.ModeChanged(mode=mode):
            return session if session.mode == mode else replace(session, mode=mode)
        case f.GitBranchSeen(branch=branch):
            return session if session.git_branch == branch else replace(session, git_branch=branch)
        case _:
            assert_never(fact)


def latest_title(records: Iterable[Record]) -> str:
    """The title that these records give the session; the person's own beats a made one."""
    own = made = ""
    for record in records:
        if record.type == "custom-title":
            own = str(record.data.get("customTitle") or "")
        elif record.type == "ai-title":
            made = str(record.data.get("aiTitle") or "")
    return own or made


def first_words(records: Iterable[Record]) -> str:
    """How the first of these prompts begins: a title until there is a better one."""
    for record in records:
        if record.type == "user" and user_kind(record, record.data) == "prompt":
            return cut(" ".join(typed_text(record.data).split()), FIRST_WORDS)
    return ""


def reduce_live(live: Live, fact: f.LiveFact) -> Live:
    """The turn that is running."""
    match fact:
        case f.SessionOpened():
            return Live()
        case f.RecordsAppended(records=records):
            return _settle(live, records)
        case f.TurnStarted(turn_id=turn_id, at=at):
            return Live(turn_id, "requesting", at, queue=live.queue)
        case f.RequestSent():
            return replace(live, phase="requesting", blocks=(), retry=None)
        case f.ReplyGrew(blocks=blocks):
            phase = "replying"
            if blocks and not blocks[-1].closed:
                kind = blocks[-1].kind
                phase = {"thinking": "thinking", "tool_use": "calling"}.get(kind, "replying")
            return replace(live, phase=phase, blocks=blocks, retry=None)
        case f.RetryScheduled(attempt=attempt, until=until, reason=reason):
            return replace(live, phase="retrying", retry=Retry(attempt, until, reason), blocks=())
        case f.ToolQueued(tool_id=tool_id, name=name):
            return _with_tool(live, ToolRun(tool_id, name, "queued"))
        case f.ToolAsked(tool_id=tool_id):
            run = live.tools.get(tool_id)
            return live if run is None else _with_tool(live, replace(run, status="asking"))
        case f.ToolStarted(tool_id=tool_id, at=at):
            run = live.tools.get(tool_id)
            if run is None:
                return live
            return _with_tool(live, replace(run, status="running", started=at))
        case f.ToolProgressed(tool_id=tool_id, output=output):
            run = live.tools.get(tool_id)
            return live if run is None else _with_tool(live, replace(run, output=output))
        case f.CompactionStarted(trigger=trigger):
            ahead = trigger == "ahead" or live.turn_id is None
            return live if ahead else replace(live, phase="compacting", blocks=(), retry=None)
        case f.InterruptRequested():
            return live if live.turn_id is None else replace(live, phase="interrupting")
        case f.TurnEnded(turn_id=turn_id):
            if live.turn_id != turn_id:
                return live
            return Live(queue=live.queue, last=TurnEnd(fact.outcome, fact.detail, fact.seconds))
        case f.MessageQueued(message=message):
            return replace(live, queue=(*live.queue, message))
        case f.MessageUnqueued(id=message_id):
            return replace(live, queue=tuple(m for m in live.queue if m.id != message_id))
        case _:
            assert_never(fact)


def _with_tool(live: Live, run: ToolRun) -> Live:
    phase = live.phase if live.phase == "interrupting" else "running"
    return replace(live, phase=phase, tools={**live.tools, run.tool_id: run})


def _settle(live: Live, records: tuple[Record, ...]) -> Live:
    """Blocks whose message has become a record, and calls that have their result, are over."""
    answered = {tool_id for record in records for tool_id in record.tool_results}
    blocks = () if any(record.type == "assistant" for record in records) else live.blocks
    tools = live.tools
    if answered & tools.keys():
        tools = {tool_id: run for tool_id, run in tools.items() if tool_id not in answered}
    if blocks is live.blocks and tools is live.tools:
        return live
    return replace(live, blocks=blocks, tools=tools)


def reduce_permission(permission: Permission, fact: f.PermissionFact) -> Permission:
    """What waits for the person's answer."""
    match fact:
        case f.SessionOpened():
            return Permission()
        case f.PermissionAsked(request=request):
            return replace(permission, requests=(*permission.requests, request))
        case f.PermissionSettled(id=request_id):
            requests = tuple(r for r in permission.requests if r.id != request_id)
            return replace(permission, requests=requests)
        case f.QuestionAsked(request=question):
            return replace(permission, questions=(*permission.questions, question))
        case f.QuestionSettled(id=request_id):
            questions = tuple(q for q in permission.questions if q.id != request_id)
            return replace(permission, questions=questions)
        case _:
            assert_never(fact)


def reduce_limits(limits: Limits, fact: f.LimitsFact) -> Limits:
    """What was used and what is left."""
    match fact:
        case f.SessionOpened(usage=usage, cost_usd=cost, context_window=window):
            size = fact.context_tokens
            return Limits(usage, cost, size, window, allowances=limits.allowances)
        case f.ContextSized(tokens=tokens):
            return replace(limits, context_tokens=tokens)
        case f.ModelChosen(context_window=window):
            return replace(limits, context_window=window, cache=CacheClock())
        case f.HeadMoved():
            return replace(limits, cache=CacheClock())  # what is cached is another branch
        case f.RequestMeasured(usage=usage, cost_usd=cost, at=at):
            if fact.purpose == "dream":
                return limits  # it belongs to the project, not to the session that is open
            before = limits.cost_usd
            is_turn = fact.purpose == "turn"
            size = usage.whole_input + usage.output if is_turn else limits.context_tokens
            return replace(
                limits,
                usage=limits.usage + usage,
                cost_usd=None if before is None or cost is None else before + cost,
                context_tokens=size,
                cache=limits.cache if fact.purpose in OWN_PROMPT else limits.cache.seen(usage, at),
            )
        case f.LimitsReported(allowances=allowances):
            return replace(limits, allowances=allowances)
        case _:
            assert_never(fact)


def reduce_compaction(compaction: Compaction, fact: f.CompactionFact) -> Compaction:
    """The summary that is being written or waits."""
    match fact:
        case f.SessionOpened() | f.CompactionEnded():
            return Compaction()
        case f.CompactionStarted(trigger=trigger):
            return Compaction(trigger)
        case f.CompactionGrew(characters=characters):
            return replace(compaction, characters=characters)
        case f.CompactionDrafted(receipt=receipt):
            return Compaction(receipt=receipt)
        case _:
            assert_never(fact)


def reduce_tasks(tasks: Mapping[str, Task], fact: f.TaskFact) -> Mapping[str, Task]:
    """The background jobs, in the order in which they began."""
    match fact:
        case f.TaskChanged(task=task):
            return {**tasks, task.id: task}
        case f.TaskForgotten(id=task_id):
            return {key: task for key, task in tasks.items() if key != task_id}
        case _:
            assert_never(fact)


def reduce_notices(notices: tuple[Notice, ...], fact: f.NoticeFact) -> tuple[Notice, ...]:
    """Sentences that wait to be read, oldest first."""
    match fact:
        case f.NoticePosted(notice=notice):
            return (*(n for n in notices if n.id != notice.id), notice)
        case f.NoticeDismissed(id=notice_id):
            kept = tuple(n for n in notices if n.id != notice_id)
            return notices if len(kept) == len(notices) else kept
        case _:
            assert_never(fact)


def reduce_access(access: Access, fact: f.AccessFact) -> Access:
    """How a model is reached."""
    match fact:
        case f.AccessChanged(ready=ready):
            return access if access.ready == ready else replace(access, ready=ready)
        case f.TrustSettled(trusted=trusted):
            return replace(access, trusted=trusted)
        case f.ServersFound(servers=servers):
            return replace(access, servers=servers, searched=True)
        case _:
            assert_never(fact)


def reduce_memory(memory: Memory, fact: f.MemoryFact) -> Memory:
    """The memory folder as it was last seen."""
    return memory if memory == fact.memory else fact.memory


def reduce_feedback(feedback: Feedback, fact: f.FeedbackFact) -> Feedback:
    """The outbox as it was last seen."""
    return feedback if feedback == fact.feedback else fact.feedback


def reduce_background(background: Background, fact: f.BackgroundFact) -> Background:
    """The frame that all mechanisms live in."""
    match fact:
        case f.MechanismsSeen(mechanisms=mechanisms):
            same = mechanisms == background.mechanisms
            return background if same else replace(background, mechanisms=mechanisms)
        case f.SpendCounted(budget_usd=budget, today=today, spend=spend):
            counted = replace(background, budget_usd=budget, today=today, spend=spend)
            return background if counted == background else counted
        case _:
            assert_never(fact)


def reduce_away(away: Away, fact: f.AwayFact) -> Away:
    """Whether the person is at the terminal."""
    match fact:
        case f.FocusChanged(is_away=is_away):
            return away if away.is_away == is_away else replace(away, is_away=is_away)
        case f.FocusWatched(watch=watch):
            return away if away.watch == watch else replace(away, watch=watch)
        case _:
            assert_never(fact)


def reduce_suggestion(suggestion: Suggestion, fact: f.SuggestionFact) -> Suggestion:
    """What the person may want to say next."""
    match fact:
        case (
            f.SessionOpened()
            | f.TurnStarted()
            | f.SuggestionDropped()
            | f.ModeChanged()
            | f.ModelChosen()
            | f.HeadMoved()
        ):
            return suggestion if not suggestion.text else replace(suggestion, text="")
        case f.SuggestionOffered(text=text):
            return replace(suggestion, text=text)
        case f.DraftChanged(has_draft=has_draft):
            same = suggestion.has_draft == has_draft
            return suggestion if same else replace(suggestion, has_draft=has_draft)
        case _:
            assert_never(fact)


def reduce_summary(summary: TurnSummary | None, fact: f.SummaryFact) -> TurnSummary | None:
    """Where the last turn left things."""
    after = fact.summary if isinstance(fact, f.TurnSummarised) else None
    return summary if after == summary else after


_SLICES: Final[tuple[tuple[str, Any, Callable[[Any, Any], Any]], ...]] = (
    ("session", f.SessionFact, reduce_session),
    ("live", f.LiveFact, reduce_live),
    ("permission", f.PermissionFact, reduce_permission),
    ("limits", f.LimitsFact, reduce_limits),
    ("compaction", f.CompactionFact, reduce_compaction),
    ("tasks", f.TaskFact, reduce_tasks),
    ("notices", f.NoticeFact, reduce_notices),
    ("access", f.AccessFact, reduce_access),
    ("memory", f.MemoryFact, reduce_memory),
    ("feedback", f.FeedbackFact, reduce_feedback),
    ("background", f.BackgroundFact, reduce_background),
    ("away", f.AwayFact, reduce_away),
    ("suggestion", f.SuggestionFact, reduce_suggestion),
    ("summary", f.SummaryFact, reduce_summary),
)
"""Each slice, the facts that concern it, and how it folds them."""
