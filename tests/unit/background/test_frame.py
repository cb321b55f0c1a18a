"""Jobs, the ledger, and forked requests."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.background.conversation_look import look
from app.background.forked_call import ANSWER_TOKENS, forked_request
from app.background.ledger import Ledger
from app.background.registry import KEPT, Job, Stale, TaskRegistry
from app.background_settings import SuggestionSettings
from app.errors import ReverieError, StorageError
from app.models.errors import BadRequest
from app.models.provider import ModelRequest, Usage
from app.sessions.graph import GraphView
from app.state.background import Spend, Task
from app.state.facts import Fact, HeadMoved, TaskChanged, TaskForgotten
from tests.fakes.background import background, told
from tests.fakes.clock import START, FakeClock, settled
from tests.fakes.provider import calls
from tests.fakes.stage import until
from tests.unit.widgets.test_feed import Writer


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
        assert spend == {"recap": 3}  # the one that was stopped is counted by an estimate


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


@pytest.mark.parametrize(
    "line",
    [
        '{"at":"2026-11-02","mechanism":"recap","session":"","model":"","usage":{},"cost_usd":1.7e308}',
        '{"at":"2026-11-02","mechanism":"recap","session":"","model":"","usage":{},"cost_usd":-5}',
        '{"at":"zzz","mechanism":"recap","session":"","model":"","usage":{},"cost_usd":0}',
        '{"at":"2026-11-02","mechanism":"recap","session":"","model":"","usage":{"input":-1},"cost_usd":0}',
        '{"at":"2026-11-02","mechanism":"recap","session":"","model":"","usage":{"input":1e30},"cost_usd":0}',
        "[]", "\x00", "null",
    ],
)  # fmt: skip
def test_a_damaged_line_of_the_ledger_counts_nothing(tmp_path: Path, line: str) -> None:
    ledger = Ledger(tmp_path)
    ledger.add("recap", "s", "m", Usage(1), 0.5, START)
    with (tmp_path / "background" / "ledger.jsonl").open("a") as file:
        file.write(f"{line}\n")
    assert [(each.calls, each.cost_usd) for each in Ledger(tmp_path).spend()] == [(1, 0.5)]


def test_a_pipe_a_link_or_a_folder_in_the_ledgers_place_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "background"
    folder.mkdir()
    file = folder / "ledger.jsonl"
    for make in (lambda: os.mkfifo(file), lambda: file.symlink_to("/dev/zero"), file.mkdir):
        make()
        with pytest.raises(StorageError, match="cannot be read"):
            Ledger(tmp_path).spend()
        file.rmdir() if file.is_dir() and not file.is_symlink() else file.unlink()


def test_a_ledger_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    for _ in range(3):
        ledger.add("recap", "s", "m", Usage(1), 0.5, START)
    assert ledger.spend()[0].calls == 3
    file = tmp_path / "background" / "ledger.jsonl"
    copy = file.read_bytes().split(b"\n")[0] + b"\n"
    file.unlink()
    file.write_bytes(copy)
    assert ledger.spend()[0].calls == 1


async def test_a_ledger_that_cannot_be_read_spends_nothing_of_a_budget(tmp_path: Path) -> None:
    (tmp_path / "data" / "background" / "ledger.jsonl").mkdir(parents=True)
    async with background(tmp_path, budget=5.0, suggestion=SuggestionSettings()) as desk:
        for _ in range(3):
            await desk.turn("look")
        assert len(desk.provider.requests) == 3
        assert desk.gate("suggestion", "budget").detail == "the ledger cannot be read"
        assert len([n for n in desk.state.notices if "ledger" in n.text]) == 1


async def test_one_recap_at_a_time_and_none_for_another_session(tmp_path: Path) -> None:
    async with background(tmp_path) as desk:
        await desk.turn("look")
        first = desk.state.session.session_id
        gate = asyncio.Event()
        desk.queue([gate, *told("LATE")])
        asking = asyncio.create_task(desk.background.recap())
        await settled()
        assert (await desk.background.recap()).status == "aborted"
        assert len(desk.provider.requests) == 2
        await desk.controller.new_session()
        gate.set()
        assert (await asking).status == "aborted"
        file = tmp_path / "data" / "background" / "ledger.jsonl"
        assert json.loads(file.read_text().splitlines()[-1])["session"] == first
        assert desk.state.limits.cost_usd == 0.0


async def test_a_shell_line_is_no_turn(tmp_path: Path) -> None:
    async with background(tmp_path, suggestion=SuggestionSettings()) as desk:
        await desk.turn("look")
        desk.queue(told("run the tests again"))
        await desk.turn("and mend it", "Summary: it is mended.")
        before = desk.state.live.last
        await desk.controller.submit("!true")
        await until(desk.controller.store, lambda s: s.live.last is not before)
        await settled()
        assert len(desk.provider.requests) == 3
        assert desk.state.summary is not None and desk.state.summary.detail == "it is mended"


async def test_another_branch_has_no_known_cache(tmp_path: Path) -> None:
    async with background(tmp_path) as desk:
        await desk.turn("look")
        view = desk.state.session.view
        await desk.turn("more")
        assert desk.gate("away_summary", "cache").holds
        desk.controller.emit(HeadMoved(view))
        assert not desk.gate("away_summary", "cache").holds


async def test_a_titles_call_is_a_task_within_the_budget(tmp_path: Path) -> None:
    async with background(tmp_path, titles=True, budget=0.0005) as desk:
        desk.queue(told("A clock to mend", Usage(1_000, 1_000)))
        await desk.turn("look")
        (task,) = desk.tasks("title")
        assert (task.detail, task.calls, desk.state.session.title) == (
            "A clock to mend", 1, "A clock to mend"
        )  # fmt: skip
        await desk.controller.new_session()
        await desk.turn("another")
        assert len(desk.provider.requests) == 3 and desk.held_by("title") == "budget"


async def test_a_switch_of_the_machines_owner_stays(tmp_path: Path) -> None:
    async with background(tmp_path, suggestion=SuggestionSettings()) as desk:
        controller = desk.controller
        managed = tmp_path / "managed.toml"
        places = replace(controller.here.places, managed=managed)
        controller.here = replace(controller.here, places=places)
        managed.write_text("[suggestion]\nenabled = false\n")
        controller.keep_setting("suggestion.enabled", True)
        assert controller.loaded.settings.suggestion.enabled is False
        assert any("managed" in notice.text for notice in desk.state.notices)


def test_a_recap_behind_the_last_message_is_seen() -> None:
    writer = Writer()
    for number in range(4):
        writer.user(f"step {number}")
        writer.assistant({"type": "text", "text": "done"}, number=number)
    leaf = writer.view.leaf
    writer.add("system", subtype="away_summary", content="Meanwhile.")
    view = writer.view
    assert look(view).ends_in_recap and look(view).turns == 0
    opened = GraphView(view.graph, view.length, leaf)
    assert look(opened).ends_in_recap and look(opened).turns == 0
