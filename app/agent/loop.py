"""The agent loop: a prompt, model calls and tools in turns, until the model has nothing more to do.

Each message is a record before anything else happens with it, and on every way out (done, error,
interrupt) the history is left valid (spec/sessions.md; cases B16, B40, B42).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import datetime

from app.agent.briefing import Briefs
from app.agent.caller import Caller, Measure, Tell
from app.agent.compactor import Compactor
from app.agent.conversation import Conversation
from app.agent.leftovers import GO_ON, answer_leftovers, mark_interruption, supersede_leftovers
from app.agent.reply_writer import ReplyWriter
from app.agent.request import build_request
from app.agent.tool_runner import Answer, PersonInterrupted, ToolRunner
from app.agent.tools.memory import MEMORY
from app.agent.worth_noting import reminder
from app.clock import Clock
from app.models.errors import (
    ContextExceeded,
    ModelError,
    RequestTooLarge,
    StreamBroken,
    ThinkingRejected,
)
from app.models.estimate import estimate_request
from app.models.provider import (
    Block,
    LimitsSeen,
    MessageEnded,
    ModelRequest,
    RetryPlanned,
    Usage,
)
from app.models.retry import stream_with_retry
from app.sessions.envelope import new_uuid
from app.sessions.prompts import INTERRUPTED, INTERRUPTED_FOR_TOOL, typed_text
from app.state.facts import (
    Fact,
    LimitsReported,
    ReplyGrew,
    RequestSent,
    RetryScheduled,
    TurnEnded,
    TurnStarted,
)
from app.state.model import Outcome

THINKING_LEFT_OUT = (
    "The server did not accept the thinking of earlier replies; it is left out from here on."
)
MAX_PAUSES = 20
"""How often in a row a server may pause a turn before it counts as stuck."""


@dataclass(frozen=True, slots=True)
class TurnResult:
    """How a turn ended, for callers without a screen."""

    outcome: Outcome
    detail: str = ""
    text: str = ""
    """The text of the last reply."""
    usage: Usage = field(default_factory=Usage)
    calls: int = 0
    seconds: float = 0.0
    error: ModelError | None = None
    hit_max_turns: bool = False


@dataclass(slots=True)
class AgentLoop:
    """Runs turns for one conversation, one at a time."""

    conversation: Conversation
    caller: Caller
    runner: ToolRunner
    clock: Clock
    emit: Callable[[Fact], None]
    measure: Measure
    mode: Callable[[], str]
    tell: Tell
    briefing: Briefs
    compactor: Compactor | None = None
    max_turns: int | None = None
    shows_partials: bool = True
    """Whether a person sees text before its message is whole: a retry would take it back."""
    shows_blocks: bool = False
    """Whether a reader gets every block as soon as it is whole."""
    counts_unanswered: bool = False
    """Whether a call that is cancelled before its first answer is measured by an estimate."""
    last_request: ModelRequest | None = field(init=False, default=None)
    """The last request that the server has answered whole: what its cache holds."""
    _writer: ReplyWriter = field(init=False)
    _prompt_id: str = field(init=False, default="")
    _usage: Usage = field(init=False, default_factory=Usage)
    _calls: int = field(init=False, default=0)
    _text: str = field(init=False, default="")
    strips_thinking: bool = field(init=False, default=False)
    """Whether the server has refused the thinking of earlier replies."""
    _failures: int = field(init=False, default=0)
    """Calls of the turn that failed or were refused."""
    _boundaries: int = field(init=False, default=-1)

    def __post_init__(self) -> None:
        self._writer = ReplyWriter(self.conversation, self.clock, self.emit)

    async def go_on(self) -> TurnResult:
        """A turn that goes on where an earlier process was cut off (`resume_interrupted_turn`)."""
        supersede_leftovers(self.conversation)
        return await self.run_turn(GO_ON, meta=True)

    async def run_turn(
        self, content: str | list[Block], *, source: str = "typed", meta: bool = False
    ) -> TurnResult:
        """One turn from a prompt to its end. Cancelling it is an interrupt and re-raises.

        With `meta` the app speaks in the person's place.

        Raises `ValueError` for an empty prompt, which the API would refuse (cases/B41).
        """
        if not content or (isinstance(content, str) and not content.strip()):
            raise ValueError("an empty prompt is not sent")
        turn_id = new_uuid()
        self._prompt_id = new_uuid()
        self._usage, self._calls, self._text = Usage(), 0, ""
        started = self.clock.monotonic()
        self.emit(TurnStarted(turn_id, started))
        result = TurnResult("failed")
        try:
            await self._brief()
            self.answer_leftovers()
            mark_interruption(self.conversation, self._prompt_id, self.mode())
            prompt = self.conversation.envelope.prompt(
                self.conversation.leaf,
                content,
                prompt_id=self._prompt_id,
                permission_mode=self.mode(),
                source=source,
                meta=meta,
            )
            files = self.runner.context.files
            if files is None:
                self.conversation.append(prompt)
            else:
                await files.begin(prompt)
            if not meta:
                self._remind(typed_text(prompt.data))
            result = await self._rounds(prompt.uuid or "")
        except ModelError as error:
            self._keep_partial()
            self._write_error(error)
            result = self._result("failed", str(error), error=error)
        except (asyncio.CancelledError, PersonInterrupted) as reason:
            self._interrupted()
            result = self._result("interrupted")
            if isinstance(reason, asyncio.CancelledError):
                raise
        finally:
            self._writer.begin("")
            self.conversation.sync()
            seconds = self.clock.monotonic() - started
            result = replace(result, seconds=seconds)
            self.emit(TurnEnded(turn_id, result.outcome, result.detail, seconds))
        if self.compactor is not None:
            self.compactor.look_ahead()
        return result

    async def _brief(self) -> None:
        """Let the requests of this turn carry memory and instruction files as they are now."""
        if not self.caller.provider.supports_tools:
            return
        before, self._boundaries = self._boundaries, len(self.conversation.view.graph.boundaries)
        # What the model has noted itself may have been summed up with the conversation.
        await self.briefing.refresh(anew=before not in (-1, self._boundaries))
        self.caller.notes = self.briefing.blocks

    def _remind(self, prompt: str) -> None:
        """Say behind a prompt that something may be worth a note."""
        failures, self._failures = self._failures, 0
        context = self.runner.context
        offered = any(tool.get("name") == MEMORY for tool in self.caller.tools)
        if context.memory is None or not offered or self.runner.gate.policy.memory_writes == "deny":
            return
        words = reminder(prompt, failures)
        if words:
            record = self.conversation.envelope.prompt(
                self.conversation.leaf,
                words,
                prompt_id=self._prompt_id,
                permission_mode=self.mode(),
                meta=True,
            )
            self.conversation.append(record)

    async def _rounds(self, prompt_uuid: str) -> TurnResult:
        pauses = 0
        while True:
            if self.max_turns is not None and self._calls >= self.max_turns:
                sentence = f"Stopped after {self.max_turns} model calls, as asked."
                return replace(self._result("stopped", sentence), hit_max_turns=True)
            if self.compactor is not None:
                await self.compactor.before_call()
            ended = await self._call_model()
            if ended.stop_reason == "refusal":
                return self._declined(ended, prompt_uuid)
            calls = self._writer.finish(ended)
            self._text = self._writer.text
            if calls:
                await self.runner.run(calls, self._write_answer)
                continue
            if ended.stop_reason == "pause_turn" and pauses < MAX_PAUSES:
                pauses += 1
                continue
            return self._result("completed", _end_note(ended.stop_reason))

    async def _call_model(self) -> MessageEnded:
        rescued = False
        while True:
            try:
                return await self._attempts(self._request())
            except ThinkingRejected:
                if self.strips_thinking:
                    raise
                self.strips_thinking = True
                self.tell(THINKING_LEFT_OUT, "warning")
            except (ContextExceeded, RequestTooLarge):
                if rescued or self.compactor is None or not await self.compactor.rescue():
                    raise
                rescued = True

    def _request(self) -> ModelRequest:
        caller = self.caller
        return build_request(
            self.conversation.view,
            model=caller.model,
            system=caller.system,
            tools=caller.tools,
            max_tokens=caller.max_tokens,
            strip_thinking=self.strips_thinking,
        )

    async def _attempts(self, request: ModelRequest) -> MessageEnded:
        writer, reply = self._writer, self._writer.reply
        writer.begin(self.caller.model)
        self.emit(RequestSent())
        self._calls += 1
        began = self.clock.now()
        events = aclosing(
            stream_with_retry(
                self.caller.provider,
                request,
                self.caller.retry,
                self.clock,
                lambda: (
                    (self.shows_partials and reply.shown)
                    or (self.shows_blocks and bool(writer.written))
                ),
            )
        )
        try:
            async with events as stream:
                async for event in stream:
                    if isinstance(event, RetryPlanned):
                        self._count_broken(request.model, began)
                        writer.void()
                        until = self.clock.monotonic() + event.delay
                        self.emit(RetryScheduled(event.attempt, until, event.reason))
                    elif isinstance(event, LimitsSeen):
                        self.emit(LimitsReported(event.limits))
                    else:
                        writer.take(event)
        except asyncio.CancelledError:
            if self.counts_unanswered and reply.started is None:
                self.measure(request.model, Usage(input=estimate_request(request)), began)
            raise
        finally:
            reply.flush()
            if reply.ended is None:
                self._count_broken(request.model, began)
        if reply.ended is None:
            raise StreamBroken("The reply ended without its last part.")
        self.last_request = request
        self._usage += reply.ended.usage
        usage = reply.ended.usage
        self.measure(request.model, usage, began)
        if self.compactor is not None:
            self.compactor.measured(usage.whole_input + usage.output)
        return reply.ended

    def _count_broken(self, model: str, began: datetime) -> None:
        """What a reply that broke off cost as far as the server had said: its prompt."""
        started = self._writer.reply.started
        if started is not None:
            self._usage += started.usage
            self.measure(model, started.usage, began)

    def _write_answer(self, answer: Answer) -> None:
        self._failures += answer.result.is_error
        record = self.conversation.envelope.tool_result(
            self.conversation.leaf,
            answer.block,
            prompt_id=self._prompt_id,
            details=answer.result.details,
            assistant_uuid=answer.call.record_uuid,
            denial="user" if answer.denied else None,
        )
        self.conversation.append(record)

    def answer_leftovers(self) -> None:
        """Give the calls of a process that died their results."""
        answer_leftovers(self.conversation, self._prompt_id)

    def _declined(self, ended: MessageEnded, prompt_uuid: str) -> TurnResult:
        """Take a refused turn out of later requests, and say so (cases/B42)."""
        retracted = [prompt_uuid] if self._calls == 1 else []
        retracted += self._writer.keep_declined(ended)
        details = ended.stop_details or {}
        sentence = "The model declined this request."
        if explanation := details.get("explanation") or details.get("category"):
            sentence = f"The model declined this request ({explanation})."
        payload = {
            "content": sentence,
            "level": "warning",
            "isMeta": False,
            "refusedUserMessageUuid": prompt_uuid,
            "retractedMessageUuids": retracted,
        }
        event = self.conversation.envelope.system(self.conversation.leaf, "api_refusal", payload)
        self.conversation.append(event)
        self.emit(ReplyGrew(()))
        todo = " It was sent once; change its wording or go on with another."
        return self._result("declined", sentence + todo)

    def _keep_partial(self) -> None:
        """Keep what there is of a reply that broke off; calls in it end as not finished."""
        self._writer.keep_partial()
        self._text = self._writer.text
        self.answer_leftovers()

    def _write_error(self, error: ModelError) -> None:
        """An event for the eye; it is never sent to the model."""
        payload = {
            "content": str(error),
            "level": "error",
            "error": {"kind": type(error).__name__, "status": error.status},
            "isMeta": False,
        }
        self.conversation.append(
            self.conversation.envelope.system(self.conversation.leaf, "api_error", payload)
        )

    def _interrupted(self) -> None:
        reply = self._writer.reply
        was_replying = bool(reply.started) and reply.ended is None
        self._keep_partial()
        self._failures = 0  # the person's own doing
        marker = INTERRUPTED if was_replying or not self._calls else INTERRUPTED_FOR_TOOL
        record = self.conversation.envelope.prompt(
            self.conversation.leaf,
            [{"type": "text", "text": marker}],
            prompt_id=self._prompt_id,
            permission_mode=self.mode(),
            meta=False,
            source="system",
        )
        self.conversation.append(record)

    def _result(
        self, outcome: Outcome, detail: str = "", error: ModelError | None = None
    ) -> TurnResult:
        return TurnResult(outcome, detail, self._text, self._usage, self._calls, 0.0, error)


_END_NOTES = {
    "max_tokens": "The reply reached its length limit; say “go on” for the rest.",
    "model_context_window_exceeded": "The model's context is full; start afresh with /clear.",
}


_ORDINARY_ENDS = frozenset({"end_turn", "stop_sequence", "tool_use", "pause_turn"})


def _end_note(reason: str) -> str:
    """What the person should know of the way a reply ended; empty for an ordinary end."""
    if reason in _ORDINARY_ENDS:
        return ""
    return _END_NOTES.get(reason, f"The reply ended for a reason that is not known here: {reason}.")
