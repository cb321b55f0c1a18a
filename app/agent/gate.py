"""The gate before every tool call: rules first, the person where they leave it open."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.agent.permission import judge, suggest_rule
from app.agent.policy import Mode, Policy, Verdict
from app.agent.rules import Rule, parse_rule
from app.sessions.envelope import new_uuid
from app.state.facts import Fact, PermissionAsked, PermissionSettled
from app.state.model import PermissionAnswer, PermissionRequest


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a call may run; `message` goes to the model when it may not."""

    allowed: bool
    message: str = ""
    interrupts: bool = False
    by_person: bool = False


class Gate:
    """Judges calls for one session and keeps what the person allowed in it."""

    def __init__(
        self,
        policy: Policy,
        emit: Callable[[Fact], None],
        *,
        cwd: Callable[[], Path],
        can_ask: bool,
        save_rule: Callable[[str], None],
    ) -> None:
        """`cwd` is where the shell stands now; `save_rule` keeps an "always" for later sessions."""
        self.policy = policy
        self._emit = emit
        self._cwd = cwd
        self._can_ask = can_ask
        self._save_rule = save_rule
        self._waiting: dict[str, asyncio.Future[tuple[PermissionAnswer, str]]] = {}
        self._asking = asyncio.Lock()
        self._repeats: set[str] = set()
        self._granted: list[Rule] = []

    def take_rules(self, policy: Policy, mode: str) -> None:
        """Judge later calls by other settings; what was allowed for the session stays allowed."""
        rules = replace(policy.rules, allow=(*policy.rules.allow, *self._granted))
        self.policy = replace(policy, mode=Mode(mode), rules=rules)

    def set_mode(self, mode: str) -> None:
        """Judge later calls in this mode."""
        self.policy = replace(self.policy, mode=Mode(mode))

    def judge(self, tool: str, arguments: Mapping[str, Any]) -> Verdict:
        """What the rules say of a call, without asking anybody; it may look through folders."""
        return judge(tool, arguments, replace(self.policy, cwd=self._cwd()))

    async def decide(
        self, tool: str, title: str, arguments: Mapping[str, Any], asking: Callable[[], None]
    ) -> Decision:
        """Let a call through or not; `asking` is told when the person is asked.

        One question at a time: what "session" or "always" allows answers the ones behind it.
        """
        verdict = await asyncio.to_thread(self.judge, tool, arguments)
        if verdict.verdict == "allow" or self._is_repeat(verdict, tool, arguments):
            return Decision(True)
        if verdict.verdict == "deny":
            return Decision(False, f"Permission denied: {verdict.reason}")
        if not self._can_ask:
            reason = verdict.reason
            return Decision(False, f"Permission denied: nobody can be asked here ({reason}).")
        async with self._asking:
            verdict = await asyncio.to_thread(self.judge, tool, arguments)
            if verdict.verdict == "allow" or self._is_repeat(verdict, tool, arguments):
                return Decision(True)
            asking()
            return await self._ask(tool, title, arguments, verdict)

    async def _ask(
        self, tool: str, title: str, arguments: Mapping[str, Any], verdict: Verdict
    ) -> Decision:
        rule = suggest_rule(tool, arguments)
        request = PermissionRequest(new_uuid(), tool, title, arguments, verdict.reason, rule)
        future: asyncio.Future[tuple[PermissionAnswer, str]] = (
            asyncio.get_running_loop().create_future()
        )
        self._waiting[request.id] = future
        self._emit(PermissionAsked(request))
        try:
            answer, words = await future
        finally:
            del self._waiting[request.id]
            self._emit(PermissionSettled(request.id))
        if answer in {"session", "always"}:
            self._remember(tool, arguments, rule)
        if answer == "always" and rule is not None:
            self._save_rule(rule)
        if answer in {"once", "session", "always"}:
            return Decision(True, by_person=True)
        reason = f" They said: {words}" if words else ""
        sentence = f"The person did not allow this call, and it was not run.{reason}"
        return Decision(False, sentence, interrupts=answer == "interrupt", by_person=True)

    def _remember(self, tool: str, arguments: Mapping[str, Any], rule: str | None) -> None:
        if rule is not None:
            self._granted.append(parse_rule(rule))
            rules = self.policy.rules
            allowed = replace(rules, allow=(*rules.allow, self._granted[-1]))
            self.policy = replace(self.policy, rules=allowed)
        else:
            self._repeats.add(_exactly(tool, arguments))

    def _is_repeat(self, verdict: Verdict, tool: str, arguments: Mapping[str, Any]) -> bool:
        return verdict.verdict == "ask" and _exactly(tool, arguments) in self._repeats

    def answer(self, request_id: str, answer: PermissionAnswer, words: str = "") -> bool:
        """The person's word; False when nothing waits for it any more."""
        future = self._waiting.get(request_id)
        if future is None or future.done():
            return False
        future.set_result((answer, words))
        return True


def _exactly(tool: str, arguments: Mapping[str, Any]) -> str:
    """The same call with the same arguments, for calls that no safe rule describes."""
    return f"{tool} {json.dumps(dict(arguments), sort_keys=True)}"
