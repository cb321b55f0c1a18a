"""Jobs, the ledger, and forked requests."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from app.background.forked_call import ANSWER_TOKENS, forked_request
from app.background.ledger import Ledger
from app.background.registry import KEPT, Job, Stale, TaskRegistry
from app.errors import ReverieError
from app.models.errors import BadRequest
from app.models.provider import ModelRequest, Usage
from app.state.background import Spend, Task
from app.state.facts import Fact, TaskChanged, TaskForgotten
from tests.fakes.background import background, told
from tests.fakes.clock import START, FakeClock, settled
from tests.fakes.provider import calls
from tests.fakes.stage import until


class Board:
    """The tasks as the store would have them."""

    def __init__(self) -> None:
        self.tasks: dict[str, Task] = {}
        self.faults: list[BaseException] = []
        self.registry = TaskRegistry(self.emit, FakeClock(), self.faults.append)

    def emit(self, fact: Fact) -> None:
        if isinstance(fact, TaskChanged):
            self.tasks[fact.task.id] = fact.task
        elif isinstance(fact, TaskForgotten):
            del self.tasks[fact.id]


async def test_a_job_tells_how_it_goes_and_ends() -> None:
    board = Board()

    async def work(job: Job) -> str:
        job.enter("reading")
        job.say("one\x1b[31m")
        job.touched("a.md")
        job.touched("a.md")
        job.measured(Usage(10, 5), 0.25)
        job.measured(Usage(1, 1), None)
        return "two files"

    name = board.registry.start("dream", "tidy up", work, "s1")
    await board.registry.ended(name)
    task = board.tasks[name]
    assert (task.status, task.detail, task.phase, task.files) == (
        "completed", "two files", "reading", ("a.md",)
    )  # fmt: skip
    assert (task.calls, task.usage, task.cost_usd) == (2, Usage(11, 6), None)
    assert "\x1b" not in task.lines[0] and task.ended is not None and task.session_id == "s1"


@pytest.mark.parametrize(
    ("error", "status"),
    [(Stale("late"), "aborted"), (ReverieError("It broke."), "failed"), (KeyError("x"), "failed")],
)
async def test_a_job_that_fails_says_so(error: Exception, status: str) -> None:
    board = Board()

    async def work(_job: Job) -> str:
        raise error

    name = board.registry.start("dream", "tidy up", work)
    await board.registry.ended(name)
    await settled()
    assert board.tasks[name].status == status
    assert board.faults == ([error] if isinstance(error, KeyError) else [])


async def test_killing_and_closing_end_jobs_for_good() -> None:
    board = Board()

    async def work(_job: Job) -> str:
        await asyncio.Event().wait()
        return "never"

    first, second = (board.registry.start("dream", "wait", work) for _ in range(2))
    await settled()
    board.registry.kill(first)
    board.registry.kill("unheard of")
    await board.registry.ended(first)
    await settled()
    assert (board.tasks[first].status, board.tasks[second].status) == ("aborted", "running")
    await board.registry.close()
    await settled()
    assert board.tasks[second].status == "aborted"


async def test_old_jobs_leave_the_list() -> None:
    board = Board()

    async def work(_job: Job) -> str:
        return ""

    for _ in range(KEPT + 5):
        await board.registry.ended(board.registry.start("title", "name", work))
    await settled()
    assert len(board.tasks) == KEPT


def test_the_ledger_adds_up_by_day_and_mechanism(tmp_path: Path) -> None:
    mine, other = Ledger(tmp_path), Ledger(tmp_path)
    mine.add("recap", "s1", "m", Usage(1, 2, 3, 4), 0.5, START)
    other.add("recap", "s2", "m", Usage(1, 2, 3, 4), 0.25, START)
    mine.add("dream", "s1", "m", Usage(1), None, START)
    mine.add("dream", "s1", "m", Usage(1), 1.0, START)
    day = START.astimezone().date().isoformat()
    expected = (
        Spend(day, "dream", 2, Usage(2), None),
        Spend(day, "recap", 2, Usage(2, 4, 6, 8), 0.75),
    )
    assert mine.spend() == other.spend() == expected == Ledger(tmp_path).spend()
    file = tmp_path / "background" / "ledger.jsonl"
    assert file.stat().st_mode & 0o777 == 0o600
    with file.open("ab") as torn:
        torn.write(b'{"at": "2026')
    mine.add("recap", "s1", "m", Usage(), 0.0, START)
    assert Ledger(tmp_path).spend()[1].calls == 3


def messages_in(request: ModelRequest) -> list[bytes]:
    return [json.dumps(message).encode() for message in request.messages]


async def test_a_forked_request_begins_with_the_last_one_byte_for_byte(tmp_path: Path) -> None:
    async with background(tmp_path) as desk:
        desk.queue(told("Now it is done."))
        await desk.turn("look", calls(("Read", {"file_path": "none"}, "toolu_1")))
        loop: Any = desk.background._scene.loop()
        last = loop.last_request
        assert last is desk.provider.requests[-1]
        forked = forked_request(loop.conversation.view, loop.caller, last, "What now?")
        assert (forked.system, forked.tools, forked.model) == (last.system, last.tools, last.model)
        assert forked.thinking == last.thinking and forked.tool_choice == {"type": "none"}
        before = messages_in(last)
        assert messages_in(forked)[: len(before)] == before
        more = forked.messages[len(before) :]
        assert [message["role"] for message in more] == ["assistant", "user"]
        assert "cache_control" not in str(more)
        assert forked.max_tokens == ANSWER_TOKENS


async def test_without_a_request_before_it_is_put_together_anew(tmp_path: Path) -> None:
    async with background(tmp_path) as desk:
        await desk.turn("look")
        loop: Any = desk.background._scene.loop()
        view = loop.conversation.view
        for last in (None, ModelRequest("another-model", ())):
            forked = forked_request(view, loop.caller, last, "What now?")
            assert forked.model == loop.caller.model
            assert "cache_control" not in str(forked.messages)
            assert forked.messages[-1]["content"][-1]["text"] == "What now?"
        other = ModelRequest(
            loop.caller.model, ({"role": "user", "content": []},), loop.caller.system
        )
        forked = forked_request(view, loop.caller, other, "What now?")
        assert "cache_control" not in str(forked.messages)


async def test_recaps_are_typed_and_leave_no_record(tmp_path: Path) -> None:
    async with background(tmp_path) as desk:
        assert (await desk.background.recap()).status == "no_turn"
        await desk.turn("look")
        before = len(desk.records())
        desk.queue(told("I looked. Next is the clock."))
        found = await desk.background.recap()
        assert (found.status, found.text) == ("ok", "I looked. Next is the clock.")
        assert len(desk.records()) == before
        desk.queue([BadRequest("No.", status=400)])
        assert (await desk.background.recap()).status == "api_error"
        desk.queue(told(" "))
        assert (await desk.background.recap()).status == "failed"
        desk.queue([asyncio.Event(), *told("late")])
        asking = asyncio.create_task(desk.background.recap())
        await settled()
        assert desk.background.stop_recap()
        assert (await asking).status == "aborted"
        assert [task.status for task in desk.tasks("recap")] == [
            "failed", "completed", "failed", "failed", "aborted"
        ]  # fmt: skip
        spend = {each.mechanism: each.calls for each in desk.state.background.spend}
        assert spend == {"recap": 2}


async def test_a_pending_permission_blocks_at_once(tmp_path: Path) -> None:
    async with background(tmp_path) as desk:
        desk.queue(told("done"))
        script = calls(("Bash", {"command": "touch x"}, "toolu_1"))
        desk.provider.scripts.insert(0, list(script))
        await desk.controller.submit("go")
        await until(desk.controller.store, lambda state: state.permission.requests)
        summary = desk.state.summary
        assert summary is not None
        assert (summary.category, summary.needs_action) == ("blocked", True)
        assert "touch x" in summary.detail
        (request,) = desk.state.permission.requests
        desk.controller.answer_permission(request.id, "no")
        await until(desk.controller.store, lambda state: state.live.turn_id is None)
        await settled()
        assert desk.state.summary is not None and not desk.state.summary.needs_action
