"""Runs the tool calls of one reply: read-only ones together, the others one by one.

Whatever happens, every call gets exactly one result (spec/sessions.md, Graph).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from app.agent.gate import Decision, Gate
from app.agent.tools.base import (
    CALL,
    Tool,
    ToolContext,
    ToolFailure,
    ToolInterrupted,
    ToolResult,
)
from app.clock import Clock
from app.sessions.prompts import INTERRUPTED_RESULT
from app.state.facts import Fact, ToolAsked, ToolProgressed, ToolQueued, ToolStarted

_log = logging.getLogger(__name__)

CUT_RESULT = (
    "This call was cut off because the reply reached its length limit, and it was not run. "
    "Do not send the same call again as it was: do the work in smaller parts."
)
NOT_FINISHED = ToolResult(INTERRUPTED_RESULT, is_error=True)
DENIED_DETAILS = "User rejected tool use"


@dataclass(frozen=True, slots=True)
class Call:
    """One `tool_use` block, and the record that holds it."""

    id: str
    name: str
    arguments: dict[str, Any]
    record_uuid: str
    cut: bool = False
    """Cut by the length limit: it gets an error result and is never run (cases/B40)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a call, ready to be written."""

    call: Call
    result: ToolResult
    denied: bool = False

    @property
    def block(self) -> dict[str, Any]:
        """The result in the API's form."""
        block: dict[str, Any] = {
            "tool_use_id": self.call.id,
            "type": "tool_result",
            "content": self.result.content,
        }
        if self.result.is_error:
            block["is_error"] = True
        return block


class PersonInterrupted(Exception):
    """The person answered a permission request with "no" and stopped the turn."""


class ToolRunner:
    """Carries out calls for one session. `deliver` gets each answer as soon as there is one."""

    def __init__(
        self,
        tools: Sequence[Tool],
        context: ToolContext,
        gate: Gate,
        clock: Clock,
        emit: Callable[[Fact], None],
    ) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self.context = context
        self.gate = gate
        self.denials: list[dict[str, Any]] = []
        """Calls that were refused, as print mode reports them."""
        self._partial: dict[str, ToolResult] = {}
        """What interrupted calls had done by then."""
        self._clock = clock
        self._emit = emit

    async def run(self, calls: Sequence[Call], deliver: Callable[[Answer], None]) -> None:
        """Run all calls. On cancellation, or when the person interrupts, the open ones end as such.

        Raises `PersonInterrupted` after the last answer was delivered.
        """
        answered: set[str] = set()

        def answer(result: Answer) -> None:
            answered.add(result.call.id)
            deliver(result)

        for call in calls:
            self._emit(ToolQueued(call.id, call.name))
        try:
            for together, group in groupby(calls, self._is_read_only):
                members = list(group)
                if together:
                    await self._run_together(members, answer)
                else:
                    for call in members:
                        answer(await self._run_one(call))
        finally:
            for call in calls:
                if call.id not in answered:
                    answer(Answer(call, self._partial.pop(call.id, NOT_FINISHED)))

    async def _run_together(self, calls: Sequence[Call], answer: Callable[[Answer], None]) -> None:
        tasks = [asyncio.create_task(self._run_one(call)) for call in calls]
        try:
            for task in asyncio.as_completed(tasks):
                answer(await task)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _is_read_only(self, call: Call) -> bool:
        tool = self.tools.get(call.name)
        return tool is not None and tool.read_only and not call.cut

    async def _run_one(self, call: Call) -> Answer:
        if call.cut:
            return Answer(call, ToolResult(CUT_RESULT, is_error=True))
        tool = self.tools.get(call.name)
        if tool is None:
            names = ", ".join(self.tools) or "none"
            text = f"There is no tool called {call.name}. Available: {names}."
            return Answer(call, ToolResult(text, is_error=True))
        title = tool.title(call.arguments)
        decision = await self.gate.decide(
            call.name, title, call.arguments, lambda: self._emit(ToolAsked(call.id))
        )
        if not decision.allowed:
            return self._denied(call, decision)
        self._emit(ToolStarted(call.id, self._clock.monotonic()))
        return Answer(call, await self._carry_out(tool, call))

    def _denied(self, call: Call, decision: Decision) -> Answer:
        self.denials.append(
            {"tool_name": call.name, "tool_use_id": call.id, "tool_input": call.arguments}
        )
        if decision.interrupts:
            raise PersonInterrupted
        details = DENIED_DETAILS if decision.by_person else decision.message
        result = ToolResult(decision.message, is_error=True, details=details)
        return Answer(call, result, denied=True)

    async def _carry_out(self, tool: Tool, call: Call) -> ToolResult:
        def progress(output: str) -> None:
            self._emit(ToolProgressed(call.id, output))

        CALL.set(call.record_uuid)
        try:
            return await tool.run(call.arguments, self.context, progress)
        except ToolInterrupted as cut:
            self._partial[call.id] = cut.partial
            raise
        except ToolFailure as failure:
            return ToolResult(str(failure), is_error=True, details=f"Error: {failure}")
        except Exception as error:  # noqa: BLE001 - a boundary: one tool's fault must not end the session
            _log.exception("the tool %s failed", tool.name)
            text = f"The tool {tool.name} failed by a fault of its own: {error!r}"
            return ToolResult(text, is_error=True, details=text)
