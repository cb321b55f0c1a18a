"""Compaction of one session: by the person's wish, by itself, and in good time before that."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from app.agent import compaction
from app.agent.caller import Caller, Measure, Purpose, Tell
from app.agent.compaction import Draft, Part, context_tokens, request_at, size_of
from app.agent.conversation import Conversation
from app.agent.reattach import FILE_TOKENS, FILES, files_again
from app.agent.rewinder import Rewinder
from app.agent.summary_call import NothingToSumUp, SummaryFailed, summarise
from app.agent.thrash import ThrashGuard, guard_of
from app.agent.tool_runner import ToolRunner
from app.clock import Clock
from app.config import CompactSettings
from app.errors import ReverieError
from app.models.errors import ModelError
from app.models.estimate import estimate_text
from app.models.provider import Usage
from app.models.usage import model_facts
from app.plain_text import cut, plain_line
from app.sessions.compact import (
    count_messages,
    has_something_to_say,
    last_request,
    plan_compaction,
    undo_target,
)
from app.sessions.envelope import new_uuid
from app.sessions.graph import COMPACT_FAILED, COMPACT_UNDONE
from app.sessions.history import logical_chain
from app.sessions.kept import walk_from
from app.sessions.prompts import text_of, typed_text
from app.spawner import Start, at_once
from app.state.facts import (
    CompactionDrafted,
    CompactionEnded,
    CompactionGrew,
    CompactionStarted,
    ContextSized,
    Fact,
)
from app.state.model import Receipt, Trigger

EMPTY: Final = "An empty summary would lose what was said."
LEAD: Final = 0.10
"""Share of the window by which a summary is begun before it is needed (75 % for 85 %)."""
GROWN: Final = 4
"""A summary made ahead counts until a quarter of what it covers has come after it."""
FILES_SHARE: Final = 4
"""Files take at most a quarter of what was compacted."""
TELLING: Final = 200
"""Characters of a summary between two tellings of how long it is."""


@dataclass(slots=True)
class Compactor:
    """Sums up one session's conversation, one summary at a time."""

    conversation: Conversation
    caller: Callable[[], Caller]
    runner: ToolRunner
    clock: Clock
    emit: Callable[[Fact], None]
    measure: Measure
    tell: Tell
    settings: CompactSettings
    rewinder: Rewinder
    works_ahead: bool = True
    """Whether a summary is made before it is needed: only where a person would have to wait."""
    start_ahead: Start = at_once
    _guard: ThrashGuard = field(init=False)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _draft: Draft | None = None
    """Made ahead, or waiting for the person's word."""
    _ahead: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        self._guard = guard_of(self.conversation.view, self.settings.at * self._window)

    # Sizes

    def size(self) -> int:
        """Tokens of the next request."""
        return context_tokens(self.conversation.view, self.caller())

    @property
    def _window(self) -> int:
        return model_facts(self.caller().model).context

    def measured(self, tokens: int) -> None:
        """A call of a turn has shown how long the conversation is."""
        if self._guard.measured(tokens, self.settings.at * self._window):
            item = compaction.biggest_item(self.conversation.view, self.caller())
            self.tell(
                "Summing up has freed too little twice, so it is not done by itself any more. "
                f"The largest part of the context is {item}. /compact still works.",
                "warning",
            )

    # By itself

    async def before_call(self) -> None:
        """Make room when the context is nearly full, or begin a summary in good time."""
        if not self.settings.auto:
            return
        tokens = self.size()
        if tokens >= self.settings.at * self._window and self._guard.allows(tokens):
            await self._by_itself(tokens)
        else:
            self.look_ahead(tokens)

    async def rescue(self) -> bool:
        """Make room after the server found a request too long; returns whether it did."""
        tokens = max(self.size(), self._window)
        if not self.settings.auto or not self._guard.allows(tokens):
            return False
        return await self._by_itself(tokens, shortened=True)

    def look_ahead(self, tokens: int | None = None) -> None:
        """Begin a summary when the context will soon be full; the turn goes on meanwhile."""
        if self._ahead is None and self._wants_ahead(tokens) and not self._lock.locked():
            self._ahead = self.start_ahead(self._work_ahead)

    def _wants_ahead(self, tokens: int | None = None) -> bool:
        if not (self.works_ahead and self.settings.auto):
            return False
        tokens = self.size() if tokens is None else tokens
        if tokens < (self.settings.at - LEAD) * self._window or not self._guard.allows(tokens):
            return False
        return self._draft is None or not self._is_fresh(self._draft)

    async def _work_ahead(self) -> None:
        try:
            async with self._lock:
                if not self._wants_ahead():
                    return  # a compaction has overtaken this one
                self.emit(CompactionStarted("ahead"))
                try:
                    self._draft = await self._summarise("", ahead=True)
                finally:
                    self.emit(CompactionEnded())
        except NothingToSumUp:
            pass
        except (ModelError, SummaryFailed) as error:
            self._failed(error)
        finally:
            self._ahead = None

    def _failed(self, error: ReverieError) -> None:
        """Count a summary that could not be made, in the transcript too: it was paid for."""
        last = self._guard.failed()
        more = " It is not tried by itself any more; /compact still works." if last else ""
        sentence = f"The conversation could not be summed up. {error}{more}"
        payload = {"content": sentence, "level": "warning", "isMeta": False}
        leaf = self.conversation.leaf
        self.conversation.append(self.conversation.envelope.system(leaf, COMPACT_FAILED, payload))
        self.tell(sentence, "warning")

    async def _by_itself(self, tokens: int, *, shortened: bool = False) -> bool:
        self.emit(CompactionStarted("auto"))  # also while one made ahead is waited for
        try:
            async with self._lock:
                try:
                    draft = self._draft
                    if draft is None or draft.seen or draft.part or not self._is_fresh(draft):
                        draft = await self._summarise("", shortened=shortened)
                    await self._carry_out(draft, draft.summary, "auto")
                finally:
                    self.emit(CompactionEnded())
        except NothingToSumUp:
            return False
        except (ModelError, SummaryFailed) as error:
            self._failed(error)
            return False
        self._guard.compacted(tokens)
        self.tell("The conversation was summed up to make room. /uncompact goes back.", "info")
        return True

    # By the person's wish

    async def draft(self, instructions: str, part: Part | None = None) -> Receipt:
        """A summary, of all or of a part, to look at; nothing counts before `accept`.

        One that was made ahead is shown at once, unless there are instructions. Raises
        `SummaryFailed` and `ModelError`. Cancelling changes nothing.
        """
        async with self._lock:
            self.emit(CompactionStarted("manual"))
            try:
                draft = self._draft
                if instructions or draft is None or draft.part != part or not self._is_fresh(draft):
                    draft = await self._summarise(instructions, part=part)
                self._draft = draft
            except BaseException:  # cancelling too: nothing is being written any more
                self.emit(CompactionEnded())
                raise
            receipt = self._receipt(draft)
            self.emit(CompactionDrafted(receipt))
            return receipt

    async def accept(self, summary: str) -> bool:
        """Let the summary count, as the person left it; whether the conversation went back.

        Raises `SummaryFailed`.
        """
        async with self._lock:
            draft = self._draft
            try:
                if not summary.strip():
                    raise SummaryFailed(EMPTY, kept="Nothing was changed.")
                if draft is None or not self._is_here(draft):
                    raise SummaryFailed(
                        "The conversation has moved to another branch since the summary was made.",
                        kept="Nothing was changed.",
                        todo="Write /compact again.",
                    )
                if draft.back_to:
                    await self._go_back(draft, summary)
                else:
                    await self._carry_out(draft, summary, "manual")
                self._guard = ThrashGuard()
                return bool(draft.back_to)
            finally:
                self.emit(CompactionEnded())

    def postpone(self, summary: str) -> None:
        """Keep the summary, as the person left it, for the next /compact; an empty one goes."""
        if self._draft is not None:
            kept = replace(self._draft, summary=summary, seen=True)
            self._draft = kept if summary.strip() else None
        self.emit(CompactionEnded())

    def discard(self) -> None:
        """Let go of the summary; the conversation stays as it is."""
        self._draft = None
        self.emit(CompactionEnded())

    def undo(self) -> bool:
        """Go back to the branch before the last compaction; False when there is none."""
        view = self.conversation.view
        target = undo_target(view.graph, view.leaf)
        if target is None:
            return False
        payload = {"content": "Compaction undone", "level": "info", "isMeta": False}
        before = view.graph.records[target].uuid
        record = self.conversation.envelope.system(before, COMPACT_UNDONE, payload)
        self.conversation.append(record)
        self.conversation.sync()
        self._draft = None
        self._guard.undone()
        self.emit(ContextSized(self.size()))
        return True

    async def close(self) -> None:
        """Stop what is made ahead."""
        if self._ahead is not None:
            self._ahead.cancel()
            await asyncio.wait([self._ahead])

    # Inside

    async def _summarise(
        self,
        instructions: str,
        *,
        part: Part | None = None,
        ahead: bool = False,
        shortened: bool = False,
    ) -> Draft:
        view, caller = self.conversation.view, self.caller()
        graph = view.graph
        tokens = self.size()
        if part is None:
            keep = self.settings.keep_tokens
            plan = plan_compaction(graph, view.leaf, lambda here: size_of(graph, here), keep)
        else:
            plan = part.plan(view)
            instructions = "\n".join(filter(None, (part.wishes(view), instructions)))
        if view.leaf is None or not has_something_to_say(graph, plan):
            raise NothingToSumUp("There is nothing to sum up yet.", kept="Nothing was changed.")
        started, told, used = self.clock.monotonic(), 0, Usage()

        def measure(model: str, usage: Usage, began: datetime, purpose: Purpose = "turn"):
            nonlocal used
            used += usage
            return self.measure(model, usage, began, "compact_ahead" if ahead else purpose)

        def grew(characters: int) -> None:
            nonlocal told
            if not ahead and (characters - told >= TELLING or characters < told):
                told = characters
                self.emit(CompactionGrew(characters))

        summary = await summarise(
            view if part is None else part.seen_from(view),
            caller,
            clock=self.clock,
            measure=measure,
            grew=grew,
            instructions=instructions,
            shortened=shortened,
        )
        seconds = self.clock.monotonic() - started
        model = caller.model
        return Draft(view.leaf, plan, summary, tokens, seconds, model, used, ahead, part=part)

    def _is_here(self, draft: Draft) -> bool:
        view = self.conversation.view
        return draft.leaf in walk_from(view.graph, view.leaf).positions

    def _is_fresh(self, draft: Draft) -> bool:
        if not self._is_here(draft):
            return False
        graph = self.conversation.view.graph
        newer = sum(size_of(graph, here) for here in self._newer(draft))
        return newer <= draft.tokens_before // GROWN

    def _newer(self, draft: Draft) -> list[int]:
        view = self.conversation.view
        chain = logical_chain(view.graph, walk_from(view.graph, view.leaf))
        covered = draft.plan.covered
        return [here for here in chain if here not in covered]

    def _kept(self, draft: Draft) -> list[int]:
        return [*draft.plan.kept, *self._newer(draft)]

    async def _carry_out(self, draft: Draft, summary: str, trigger: Trigger) -> None:
        view, caller = self.conversation.view, self.caller()
        tokens = self.size()
        budget = min(FILES * FILE_TOKENS, tokens // FILES_SHARE)
        files = await files_again(view.graph, draft.plan, self.runner, budget)
        kept = self._kept(draft)
        written = compaction.write(self.conversation, caller, summary, kept, files)
        after = await self._tokens_after(written, tokens)
        told = compaction.metadata(view, draft, trigger, tokens, after, kept)
        boundary = compaction.with_metadata(written.boundary, told)
        self.conversation.append(boundary, *written.following)
        self.conversation.sync()
        self._draft = None
        self.emit(ContextSized(after))

    async def _go_back(self, draft: Draft, summary: str) -> None:
        """Go on from before a prompt, with a summary of what came after it."""
        conversation = self.conversation
        await self.rewinder.rewind(draft.back_to, "summary")
        conversation.append(
            conversation.envelope.compact_summary(
                conversation.leaf, compaction.ATTEMPT + summary, prompt_id=new_uuid()
            )
        )
        conversation.sync()
        self._draft = None
        self.emit(ContextSized(self.size()))

    async def _tokens_after(self, written: compaction.Written, before: int) -> int:
        """As the server counts it; where it cannot, a guess that is as far off as the known one."""
        caller = self.caller()
        count = await caller.provider.count_tokens(written.request)
        if not count.estimated:
            return count.tokens
        request = request_at(self.conversation.view, caller)
        return compaction.guessed_after(written.request, request, before)

    def _receipt(self, draft: Draft) -> Receipt:
        view, caller = self.conversation.view, self.caller()
        kept = self._kept(draft)
        tokens = self.size()
        before = request_at(view, caller)
        if draft.back_to:
            start = view.graph.position[draft.back_to]
            kept = logical_chain(view.graph, walk_from(view.graph, view.graph.parent(start)))
            shorter = request_at(Part(draft.back_to, onwards=False).seen_from(view), caller)
            after = compaction.guessed_after(shorter, before, tokens) + estimate_text(draft.summary)
        else:
            written = compaction.write(self.conversation, caller, draft.summary, kept)
            after = compaction.guessed_after(written.request, before, tokens)
        prompt = last_request(view.graph, view.leaf)
        words = "" if prompt is None else plain_line(text_of(view.graph.records[prompt].data))
        return Receipt(
            summary=draft.summary,
            tokens_before=tokens,
            tokens_after=after,
            summarised=count_messages(view.graph, draft.plan.summarised),
            kept=count_messages(view.graph, kept),
            last_request="" if draft.back_to else cut(words.strip(), 200),
            goes_back=self._said(draft.back_to),
        )

    def _said(self, uuid: str) -> str:
        graph = self.conversation.view.graph
        here = graph.position.get(uuid)
        return "" if here is None else typed_text(graph.records[here].data)
