"""Eight simulated hours of turns, errors, limits and a person who comes and goes."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from app.background_settings import SuggestionSettings
from app.models.errors import ConnectionFailed, RateLimited, ServerFault
from app.models.provider import Limit, LimitsSeen, ModelRequest, StreamEvent, Usage
from app.models.rehearsal.markers import RECAP_MARKER, SUGGESTION_MARKER
from tests.fakes.background import CACHED, Desk, background, told
from tests.fakes.clock import settled
from tests.fakes.stage import until

HOURS = 8 * 3_600
FAULTS = (
    RateLimited("Too many requests.", status=429, retry_after=120.0),
    ConnectionFailed("The server cannot be reached."),
    ServerFault("It broke.", status=500),
)


class Server:
    """Answers turns and background calls, and keeps its own count of the latter."""

    name = "anthropic"
    supports_tools = True

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.desk: Desk | None = None
        self.used: Counter[str] = Counter()
        self.tokens = 0
        self.outside: list[str] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        asked = str(request.messages[-1])
        kind = (
            "away_summary"
            if RECAP_MARKER in asked
            else "suggestion"
            if SUGGESTION_MARKER in asked
            else ""
        )
        if kind:
            self._judge(kind, request)
            if self.dice.random() < 0.1:
                raise self.dice.choice(FAULTS)
            if self.dice.random() < 0.3:  # an answer that may come too late
                await self.desk.clock.sleep(self.dice.uniform(1, 40))  # pyright: ignore[reportOptionalMemberAccess] - set before the first call
            text = (
                "Mended the cart; next is its clock." if kind != "suggestion" else "run the tests"
            )
            usage = Usage(20, 10, 900)
        else:
            if self.dice.random() < 0.05:
                raise RateLimited("Slow down.", status=429, retry_after=3_600.0)
            if self.dice.random() < 0.2:
                await self.desk.clock.sleep(self.dice.uniform(5, 90))  # pyright: ignore[reportOptionalMemberAccess] - as above
            text, usage = "I looked at it and went on with the rest. Then there is more.", CACHED
        if self.dice.random() < 0.1:
            now = self.desk.clock.now()  # pyright: ignore[reportOptionalMemberAccess] - as above
            yield LimitsSeen((Limit("requests", 100, 2, now + timedelta(minutes=20)),))
        elif self.dice.random() < 0.3:
            yield LimitsSeen((Limit("requests", 100, 90, None),))
        for event in told(text, usage):
            yield event
        if kind:
            self.used[kind] += 1
            self.tokens += usage.whole_input + usage.output

    def _judge(self, kind: str, request: ModelRequest) -> None:
        state = self.desk.state  # pyright: ignore[reportOptionalMemberAccess] - as above
        if state.live.turn_id is not None or state.suggestion.has_draft:
            self.outside.append(f"{kind} while the person or a turn is busy")
        if kind == "away_summary" and not state.away.is_away:
            self.outside.append("a recap while the person is here")
        if request.tool_choice != {"type": "none"}:
            self.outside.append("a call with tools")

    async def count_tokens(self, request: ModelRequest) -> Any:
        raise NotImplementedError

    async def models(self) -> tuple[()]:
        return ()

    async def close(self) -> None:
        pass


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_eight_hours_leave_nothing_behind(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    server = Server(dice)
    async with background(tmp_path, suggestion=SuggestionSettings(), provider=server) as desk:
        server.desk = desk
        while desk.clock.elapsed < HOURS:
            match dice.randrange(7):
                case 0 | 1 | 2:
                    if not desk.controller.is_busy:
                        before = desk.state.live.last
                        await desk.controller.submit(f"step at {desk.clock.elapsed:.0f}")
                        await _ended(desk, before)
                case 3:
                    desk.background.focus(
                        is_here=not desk.state.away.is_away or dice.random() < 0.5
                    )
                case 4:
                    desk.background.drafted(has_draft=dice.random() < 0.5)
                case 5:
                    desk.background.pressed()
                case _:
                    await desk.clock.pass_time(dice.uniform(10, 900))
            await desk.clock.pass_time(dice.uniform(0, 60))
        await desk.clock.pass_time(100)
        desk.background.look()
        assert server.outside == []
        assert sum(server.used.values()) > 10
        spend: Counter[str] = Counter()
        for each in desk.state.background.spend:
            spend[each.mechanism] += each.calls
        counted = sum(
            each.usage.whole_input + each.usage.output for each in desk.state.background.spend
        )
        measured = {kind: spend[kind] for kind in server.used}
        # A call that is stopped between its first and last event is counted by what it had cost.
        assert all(measured[kind] >= server.used[kind] for kind in server.used)
        assert counted >= server.tokens
        running = [task for task in desk.state.tasks.values() if task.status == "running"]
        assert running == []
        recaps = len(desk.recaps())
        completed = len([t for t in desk.tasks("away_summary") if t.status == "completed"])
        assert recaps >= completed or len(desk.state.tasks) >= 100
    await settled()
    left = {task.get_name() for task in asyncio.all_tasks()} - {asyncio.current_task().get_name()}  # pyright: ignore[reportOptionalMemberAccess] - a test is a task
    assert not any(name.startswith("job ") for name in left)


async def _ended(desk: Desk, before: object) -> None:
    """Let the turn end, however long its reply takes."""
    while True:
        state = desk.state
        if state.live.turn_id is None and state.live.last is not before:
            return
        waiting = asyncio.create_task(
            until(
                desk.controller.store,
                lambda s: s.live.turn_id is None and s.live.last is not before,
            )
        )
        for _ in range(200):
            await settled()
            if waiting.done():
                return
            await asyncio.to_thread(int)  # the file history is written by a thread
            await desk.clock.pass_time(5)
        waiting.cancel()
