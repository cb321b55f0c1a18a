"""Dreams that are killed, run over a limit, or are decided upon twice."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from app.background.dream.lock import FILE, acquire, last_consolidation
from app.background.dream.publish import publish
from app.background.dream.record import Dream
from app.background_settings import DreamSettings
from app.errors import ReverieError, StorageError
from tests.fakes.background import told
from tests.fakes.clock import settled
from tests.unit.background.dream.dreams_kit import (
    CLOCK,
    dreaming,
    dreams,
    memory,
    over,
    writes,
)


async def test_killing_changes_nothing_and_gives_the_time_back(tmp_path: Path) -> None:
    async with dreaming(tmp_path) as desk:
        gate = asyncio.Event()
        desk.queue(writes(desk, "clock.md", "x"), [gate, *told("never")])
        await desk.turn("look")
        await desk.provider.waiting.wait()
        (task,) = desk.tasks("dream")
        desk.background.kill(task.id)
        task = await over(desk)
        assert task.status == "aborted"
        assert memory(desk)["clock.md"] == CLOCK
        assert last_consolidation(dreams(desk).place.memory) is None
        assert not (dreams(desk).place.memory / FILE).exists()
        assert not dreams(desk).place.stage.exists()


async def test_a_kill_while_it_is_published_comes_too_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with dreaming(tmp_path) as desk:
        begun, go_on = asyncio.Event(), threading.Event()
        loop = asyncio.get_running_loop()

        def slow(*arguments: Any) -> Dream:
            loop.call_soon_threadsafe(begun.set)
            go_on.wait()
            return publish(*arguments)

        monkeypatch.setattr("app.background.dream.dreamer.publish", slow)
        desk.queue(writes(desk, "clock.md", f"{CLOCK}More.\n"), told("Done."))
        await dreams(desk).begin()
        await begun.wait()
        for _ in range(2):
            desk.background.kill(desk.tasks("dream")[0].id)
            await settled()
        go_on.set()
        task = await over(desk)
        (dream,) = await dreams(desk).dreams()
        assert (dream.status, dream.touched) == ("completed", ("clock.md",))
        assert memory(desk)["clock.md"] == f"{CLOCK}More.\n"
        assert last_consolidation(dreams(desk).place.memory) is not None
        assert task.detail.startswith("1 file changed")


async def test_a_kill_while_the_lock_is_taken_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with dreaming(tmp_path) as desk:
        begun, go_on = asyncio.Event(), threading.Event()
        loop = asyncio.get_running_loop()

        def slow(*arguments: Any) -> Any:
            held = acquire(*arguments)
            loop.call_soon_threadsafe(begun.set)
            go_on.wait()
            return held

        monkeypatch.setattr("app.background.dream.dreamer.acquire", slow)
        await dreams(desk).begin()
        await begun.wait()
        desk.background.kill(desk.tasks("dream")[0].id)
        await settled()
        go_on.set()
        task = await over(desk)
        assert task.status == "aborted" and desk.provider.requests == []
        assert not (dreams(desk).place.memory / FILE).exists()


async def test_a_call_that_is_cut_before_its_answer_is_in_the_ledger(tmp_path: Path) -> None:
    async with dreaming(tmp_path) as desk:
        desk.queue([asyncio.Event(), *told("never")])
        await dreams(desk).begin()
        await desk.provider.waiting.wait()
        desk.background.kill(desk.tasks("dream")[0].id)
        task = await over(desk)
        assert task.calls == 1 and task.usage.input > 1_000
        spend = {each.mechanism: each.calls for each in desk.state.background.spend}
        assert spend == {"dream": 1}


async def test_what_is_decided_twice_at_once_happens_once(tmp_path: Path) -> None:
    async with dreaming(tmp_path, dream=DreamSettings(review=True)) as desk:
        desk.queue(writes(desk, "clock.md", f"{CLOCK}More.\n"), told("Done."))
        await dreams(desk).begin()
        await over(desk)
        (dream,) = await dreams(desk).dreams()
        both = await asyncio.gather(
            dreams(desk).accept(dream.id), dreams(desk).discard(dream.id), return_exceptions=True
        )
        assert sum(isinstance(each, ReverieError) for each in both) == 1
        (after,) = await dreams(desk).dreams()
        assert (after.status == "completed") is ("More" in memory(desk)["clock.md"])


async def test_time_tokens_and_cost_are_bounded(tmp_path: Path) -> None:
    async with dreaming(tmp_path) as desk:
        desk.queue([asyncio.Event(), *told("never")])
        await desk.turn("look")
        await desk.provider.waiting.wait()
        await desk.clock.pass_time(601)
        task = await over(desk)
        assert task.status == "failed" and "10 minutes" in task.detail
    async with dreaming(tmp_path, dream=DreamSettings(budget_usd=0.0)) as desk:
        desk.queue(writes(desk, "clock.md", "x"), told("never"))
        await dreams(desk).begin()
        task = await over(desk)
        assert task.status == "failed" and "more than $0.00" in task.detail
        assert memory(desk)["clock.md"] == CLOCK


async def test_thirty_calls_are_the_most(tmp_path: Path) -> None:
    async with dreaming(tmp_path) as desk:
        desk.queue(*(writes(desk, "clock.md", f"{CLOCK}{n}\n") for n in range(31)))
        await dreams(desk).begin()
        task = await over(desk)
        assert task.status == "failed" and task.calls == 30
        assert memory(desk)["clock.md"] == CLOCK


async def test_a_second_dream_of_the_same_memory_is_skipped(tmp_path: Path) -> None:
    async with dreaming(tmp_path) as desk:
        gate = asyncio.Event()
        desk.queue([gate, *told("Done.")])
        await dreams(desk).begin()
        await desk.provider.waiting.wait()
        await dreams(desk).begin()
        assert len(desk.tasks("dream")) == 1
        assert any("runs already" in each.text for each in desk.state.notices)
        gate.set()
        await over(desk)


async def test_what_cannot_be_published_is_not_dreamt_in_vain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> Any:
        raise StorageError("The disk is full.")

    async with dreaming(tmp_path) as desk:
        desk.queue(writes(desk, "clock.md", f"{CLOCK}More.\n"), told("Done."))
        with monkeypatch.context() as patched:
            patched.setattr("app.background.dream.dreamer.publish", refuse)
            await dreams(desk).begin()
            task = await over(desk)
        assert task.status == "failed" and "disk is full" in task.detail
        (dream,) = await dreams(desk).dreams()
        assert (dream.status, dream.reason) == ("held", "It could not be published.")
        assert (await dreams(desk).accept(dream.id)).touched == ("clock.md",)
