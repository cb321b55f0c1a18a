"""Away summaries: when one is made, when not, and that none is ever late."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from app.background.away import delay
from app.background_settings import AwaySettings
from app.models.cache_clock import CacheClock
from app.models.errors import ConnectionFailed, RateLimited
from app.models.provider import Limit, Usage
from app.models.rehearsal.markers import RECAP_MARKER
from app.state import facts as f
from app.state.model import QueuedMessage
from tests.fakes.background import Desk, background, told
from tests.fakes.clock import START, settled
from tests.fakes.provider import Step
from tests.fakes.stage import until

RECAP = "Found the race in the cart; next is the same clock in session.py."


async def three_turns(desk: Desk) -> None:
    for number in range(3):
        await desk.turn(f"step {number}", f"I looked at part {number} and went on. Then more.")
    await desk.come_back()


@pytest.mark.parametrize(
    ("delay_ms", "remaining", "seconds"),
    [
        (180_000, None, 180.0),
        (180_000, 300.0, 180.0),
        (180_000, 100.0, 80.0),
        (1_000, None, 30.0),
        (1_000, 20.0, 16.0),
        (3_600_000, 3_600.0, 2_880.0),
        (180_000, 0.0, 0.0),
    ],
)
def test_the_delay_follows_the_cache(
    delay_ms: int, remaining: float | None, seconds: float
) -> None:
    cache = CacheClock()
    if remaining is not None:
        cache = CacheClock(START, timedelta(seconds=remaining))
    assert delay(delay_ms, cache, START) == pytest.approx(seconds)


async def test_one_recap_is_ready_for_the_return(tmp_path: Path) -> None:
    async with background(tmp_path) as desk:
        await three_turns(desk)
        desk.queue(told(RECAP))
        await desk.leave(179)
        assert desk.recaps() == []
        await desk.clock.pass_time(1)
        assert desk.recaps() == [RECAP]
        assert RECAP_MARKER in str(desk.provider.requests[-1].messages[-1])
        (task,) = desk.tasks("away_summary")
        assert (task.status, task.calls, task.detail) == ("completed", 1, RECAP)
        await desk.clock.pass_time(10_000)
        await desk.come_back()
        await desk.leave(10_000)
        assert len(desk.provider.requests) == 4
        assert desk.held_by("away_summary") == "turns"


async def test_a_recap_changes_nothing_that_a_request_carries(tmp_path: Path) -> None:
    async with background(tmp_path) as desk:
        await three_turns(desk)
        desk.queue(told(RECAP))
        await desk.leave(200)
        await desk.come_back()
        await desk.turn("go on")
        assert RECAP not in str(desk.provider.requests[-1].messages)
        assert RECAP_MARKER not in str(desk.provider.requests[-1].messages)


async def test_two_more_turns_are_needed_after_a_recap(tmp_path: Path) -> None:
    async with background(tmp_path) as desk:
        await three_turns(desk)
        desk.queue(told(RECAP))
        await desk.leave(200)
        await desk.come_back()
        await desk.turn("one more", "I looked at it. Then more.")
        assert desk.gate("away_summary", "turns").detail == "1 more turn needed (1 of 2)"
        await desk.turn("and another", "I looked at that too. Then more.")
        desk.queue(told("Second."))
        await desk.leave(200)
        assert desk.recaps() == [RECAP, "Second."]


async def test_coming_back_stops_the_call(tmp_path: Path) -> None:
    async with background(tmp_path) as desk:
        await three_turns(desk)
        gate = asyncio.Event()
        script: list[Step] = [gate, *told(RECAP)]
        desk.queue(script)
        await desk.leave(200)
        (task,) = desk.tasks("away_summary")
        assert task.status == "running"
        await desk.come_back()
        (task,) = desk.tasks("away_summary")
        assert task.status == "aborted"
        gate.set()
        await settled()
        assert desk.recaps() == []


async def test_a_new_turn_stops_the_call(tmp_path: Path) -> None:
    async with background(tmp_path) as desk:
        await three_turns(desk)
        gate = asyncio.Event()
        desk.queue([gate, *told(RECAP)])
        await desk.leave(200)
        await desk.turn("meanwhile")
        gate.set()
        await settled()
        assert desk.recaps() == []
        assert desk.tasks("away_summary")[0].status == "aborted"


async def test_b30_a_late_recap_shows_in_no_other_session(tmp_path: Path) -> None:
    async with background(tmp_path) as desk:
        await three_turns(desk)
        first = desk.state.session.session_id
        gate = asyncio.Event()
        desk.queue([gate, *told("MARKER-A")])
        await desk.leave(200)
        await desk.controller.new_session()
        gate.set()
        await settled()
        assert desk.state.session.session_id != first
        assert desk.state.tasks["away_summary_1"].status == "aborted"
        await desk.come_back()
        here = desk.controller.here
        for file in here.places.project(here.folder).glob("*.jsonl"):
            assert b"MARKER-A" not in file.read_bytes()


async def test_b30_quick_changes_of_the_focus_make_one_request(tmp_path: Path) -> None:
    async with background(tmp_path) as desk:
        await three_turns(desk)
        before = len(desk.provider.requests)
        for _ in range(10):
            await desk.leave(3)
            await desk.come_back()
        assert len(desk.provider.requests) == before
        desk.queue(told(RECAP))
        await desk.leave(200)
        assert len(desk.provider.requests) == before + 1


async def test_nothing_is_asked_while_a_turn_runs(tmp_path: Path) -> None:
    async with background(tmp_path) as desk:
        await three_turns(desk)
        gate = asyncio.Event()
        desk.queue([gate, *told("done")])
        await desk.controller.submit("a long one")
        await desk.provider.waiting.wait()
        await desk.leave(100)
        assert len(desk.provider.requests) == 4
        assert desk.gate("away_summary", "nothing pending").detail == "a turn runs"
        desk.queue(told(RECAP))
        gate.set()
        await until(desk.controller.store, lambda state: state.live.turn_id is None)
        await settled()
        await desk.clock.pass_time(200)
        assert desk.recaps() == [RECAP]


@pytest.mark.parametrize(
    ("gate", "words"),
    [
        ("empty prompt", "draft in the prompt"),
        ("cache", "has run out"),
        ("rate limit", "3 of 100 requests left"),
        ("nothing pending", "a message is queued"),
    ],
)
async def test_each_gate_holds_it_back_by_name(tmp_path: Path, gate: str, words: str) -> None:
    async with background(tmp_path) as desk:
        await three_turns(desk)
        if gate == "empty prompt":
            desk.background.drafted(has_draft=True)
        elif gate == "cache":
            await desk.clock.pass_time(301)
        elif gate == "rate limit":
            reset = START + timedelta(hours=1)
            limit = Limit("requests", 100, 3, reset)
            desk.controller.emit(f.LimitsReported((limit,)))
            assert desk.gate("away_summary", gate).opens_at == reset.timestamp()
        else:
            desk.controller.emit(f.MessageQueued(QueuedMessage("q", "later")))
        await desk.leave(200)
        assert desk.held_by("away_summary") == gate
        assert desk.gate("away_summary", gate).detail == words
        assert len(desk.provider.requests) == 3


async def test_the_cache_of_a_server_that_tells_nothing_is_unknown(tmp_path: Path) -> None:
    async with background(tmp_path) as desk:
        for number in range(3):
            await desk.turn(f"step {number}", told("Part. Then more.", Usage(10, 5)))
        await desk.leave(1_000)
        assert desk.gate("away_summary", "cache").detail == "its age is not known"
        assert len(desk.provider.requests) == 3


async def test_a_failure_is_one_line_and_then_silence(tmp_path: Path) -> None:
    async with background(tmp_path) as desk:
        await three_turns(desk)
        desk.queue([RateLimited("Too many requests.", status=429, retry_after=60.0)])
        await desk.leave(200)
        (task,) = desk.tasks("away_summary")
        assert task.status == "failed" and "Too many requests" in task.detail
        mechanism = desk.mechanism("away_summary")
        assert mechanism.trouble == "Too many requests"
        assert desk.held_by("away_summary") == "server"
        assert desk.state.notices == ()
        await desk.come_back()
        await desk.clock.pass_time(60)
        assert desk.gate("away_summary", "server").holds


async def test_offline_is_said_once(tmp_path: Path) -> None:
    async with background(tmp_path) as desk:
        await three_turns(desk)
        desk.queue([ConnectionFailed("The server cannot be reached.")])
        await desk.leave(200)
        await desk.come_back()
        await desk.turn("again", "Part. Then more.")
        await desk.leave(200)
        assert len(desk.tasks("away_summary")) == 1


async def test_switched_off_by_the_environment(tmp_path: Path) -> None:
    off = {"REVERIE_ENABLE_AWAY_SUMMARY": "0"}
    async with background(tmp_path, environment=off) as desk:
        await three_turns(desk)
        await desk.leave(1_000)
        words = "switched off by REVERIE_ENABLE_AWAY_SUMMARY"
        assert desk.gate("away_summary", "enabled").detail == words
    on = {"REVERIE_ENABLE_AWAY_SUMMARY": "1"}
    async with background(tmp_path, environment=on, away=AwaySettings(enabled=False)) as desk:
        assert desk.gate("away_summary", "enabled").holds


async def test_the_turns_own_words_need_no_call(tmp_path: Path) -> None:
    async with background(tmp_path) as desk:
        for number in range(3):
            await desk.turn(f"step {number}", f"Summary: part {number} is mended and tested.")
        await desk.come_back()
        await desk.leave(200)
        assert len(desk.provider.requests) == 3
        (text,) = desk.recaps()
        assert "step 2" in text and "Part 2 is mended" in text
        assert desk.tasks("away_summary")[0].calls == 0


@pytest.mark.parametrize(("choice", "calls"), [("always", 1), ("never", 0)])
async def test_whether_a_model_may_be_asked(tmp_path: Path, choice: str, calls: int) -> None:
    away = AwaySettings(model=choice)  # pyright: ignore[reportArgumentType] - both are values of it
    async with background(tmp_path, away=away) as desk:
        await three_turns(desk)
        desk.queue(*[told(RECAP)] * calls)
        await desk.leave(200)
        assert len(desk.provider.requests) == 3 + calls
        assert desk.recaps() == [RECAP] * calls


async def test_idle_keys_stand_in_where_the_terminal_tells_nothing(tmp_path: Path) -> None:
    async with background(tmp_path) as desk:
        for number in range(3):
            await desk.turn(f"step {number}", f"I looked at part {number}. Then more.")
        assert desk.state.away.watch == "keys"
        await desk.clock.pass_time(50)
        desk.background.pressed()
        await desk.clock.pass_time(150)
        assert not desk.state.away.is_away
        desk.queue(told(RECAP))
        await desk.clock.pass_time(40)
        assert desk.state.away.is_away and desk.recaps() == [RECAP]
        desk.background.pressed()
        assert not desk.state.away.is_away


async def test_no_answer_and_too_much_of_it(tmp_path: Path) -> None:
    async with background(tmp_path) as desk:
        await three_turns(desk)
        desk.queue(told(" \n"))
        await desk.leave(200)
        assert desk.recaps() == []
        await desk.come_back()
        desk.queue(told("One thing. Two things. Three things. " + "word " * 60))
        await desk.leave(200)
        assert desk.recaps() == ["One thing. Two things."]
