"""The sub-agent of a dream: the agent loop with tools of its own and nobody to ask."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from app.agent.briefing import NothingToSay
from app.agent.caller import Caller, Measure
from app.agent.conversation import Conversation
from app.agent.gate import Decision, Gate
from app.agent.loop import AgentLoop
from app.agent.policy import Mode, Policy, Verdict
from app.agent.rules import Rules
from app.agent.tool_runner import ToolRunner
from app.agent.tools.base import Tool, ToolContext
from app.agent.tools.registry import api_form
from app.agent.tools.shell_background import ShellTasks
from app.background.dream.boundary import Boundary
from app.background.dream.place import Place
from app.background.dream.prompt import role, task
from app.clock import Clock
from app.errors import ReverieError
from app.models.errors import ModelError
from app.plain_text import cut, plain_line
from app.sessions.envelope import Envelope, new_uuid
from app.sessions.graph import GraphView, MessageGraph
from app.sessions.journal import Journal
from app.sessions.prompts import blocks_of, content_of
from app.sessions.records import JsonObject, Record
from app.state.facts import Fact, RecordsAppended
from app.storage.names import ENTRY

if TYPE_CHECKING:
    from app.background.dream.dreamer import Progress

LONGEST_LINE: Final = 200
"""Characters of a line of progress."""
_LOOKS: Final = frozenset({"Grep", "Inspect"})
_CHANGES: Final = frozenset({"Write", "Edit", "Delete"})


class Failed(ReverieError):
    """The sub-agent did not come to an end; nothing was changed."""


class SubAgent:
    """One run. Its conversation leaves nothing behind, and nobody else hears of it."""

    def __init__(
        self,
        place: Place,
        boundary: Boundary,
        clock: Clock,
        caller: Caller,
        measure: Measure,
        progress: Progress,
        most_calls: int,
    ) -> None:
        self.calls = 0
        """Model calls."""
        self.evidence: defaultdict[str, list[str]] = defaultdict(list)
        """By document, where the sub-agent says that it saw what it wrote."""
        self._place = place
        self._boundary = boundary
        self._progress = progress
        tools = boundary.tools()
        folder, session_id = place.project, new_uuid()
        conversation = Conversation(
            Envelope(session_id, clock, cwd=lambda: str(folder), branch=lambda: ""),
            Journal(session_id, None),
            GraphView(MessageGraph(), 0, None),
            self._hear,
            lambda _error: None,
        )
        context = ToolContext(
            root=folder,
            clock=clock,
            scratch=place.dreams / "scratch",
            background=ShellTasks(),
            hidden=boundary.hidden,
        )
        gate = _BoundaryGate(boundary.verdict, folder)
        runner = ToolRunner(tools, context, gate, clock, self._hear)
        self._loop = AgentLoop(
            conversation,
            _caller(caller, folder, tools),
            runner,
            clock,
            self._hear,
            measure=measure,
            mode=lambda: "default",
            tell=lambda sentence, _severity: progress.say(sentence),
            briefing=NothingToSay(),
            max_turns=most_calls,
            shows_partials=False,
            counts_unanswered=True,
        )

    async def run(self, sessions: Sequence[str]) -> str:
        """Work until there is nothing more to do; returns the last words.

        Raises `ModelError`, and `Failed` when it was declined or came to no end.
        """
        prompt = task(self._boundary.stage, self._boundary.sessions, sessions)
        result = await self._loop.run_turn(prompt, source="system")
        self.calls = result.calls
        if isinstance(result.error, ModelError):
            raise result.error
        if result.outcome != "completed":
            raise Failed(result.detail or "It came to no end.", kept="Nothing was changed.")
        return cut(plain_line(" ".join(result.text.split())), 1_000)

    def _hear(self, fact: Fact) -> None:
        if isinstance(fact, RecordsAppended):
            for record in fact.records:
                if record.type == "assistant":
                    self._said(record)

    def _said(self, record: Record) -> None:
        for block in blocks_of(content_of(record.data)):
            if block.get("type") == "text":
                words = " ".join(str(block.get("text") or "").split())
                if words:
                    self._progress.say(cut(words, LONGEST_LINE))
            elif block.get("type") == "tool_use":
                self._called(str(block.get("name")), block.get("input"))

    def _called(self, name: str, arguments: object) -> None:
        fields = cast("JsonObject", arguments) if isinstance(arguments, dict) else {}
        tool = self._loop.runner.tools.get(name)
        title = tool.title(fields) if tool is not None else ""
        title = title.replace(f"{self._boundary.stage}/", "")
        self._progress.say(cut(f"{name}  {title}", LONGEST_LINE))
        if name in _LOOKS:
            self._progress.enter("gather")
        if name not in _CHANGES:
            return
        document = self._boundary.document(fields)
        is_pruning = name == "Delete" or document == ENTRY
        self._progress.enter("prune" if is_pruning else "consolidate")
        if not document:
            return
        self._progress.touched(document)
        seen = fields.get("evidence")
        if isinstance(seen, str) and seen.strip():
            self.evidence[document].append(cut(plain_line(" ".join(seen.split())), 500))


class _BoundaryGate(Gate):
    """The tools are the boundary: what they take is allowed, and nobody is asked."""

    def __init__(self, verdict: Callable[[str, Mapping[str, Any]], str], folder: Path) -> None:
        policy = Policy(root=folder, home=Path("/"), mode=Mode("default"), rules=Rules())
        super().__init__(
            policy, lambda _fact: None, cwd=lambda: folder, can_ask=False, save_rule=lambda _: None
        )
        self._verdict = verdict

    def judge(self, tool: str, arguments: Mapping[str, Any]) -> Verdict:
        reason = self._verdict(tool, arguments)
        return Verdict("deny" if reason else "allow", reason)

    async def decide(
        self, tool: str, title: str, arguments: Mapping[str, Any], asking: Callable[[], None]
    ) -> Decision:
        verdict = self.judge(tool, arguments)
        return Decision(verdict.verdict == "allow", f"Refused: {verdict.reason}.")


def _caller(caller: Caller, project: Path, tools: Sequence[Tool]) -> Caller:
    return Caller(
        caller.provider,
        caller.model,
        caller.max_tokens,
        role(project),
        tuple(api_form(tool) for tool in tools),
        retry=caller.retry,
    )
