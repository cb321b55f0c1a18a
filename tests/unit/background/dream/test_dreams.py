"""Dreams from the gates to the notice, with a scripted model."""

from __future__ import annotations

import asyncio
import dataclasses
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from app.background.dream.lock import FILE, last_consolidation
from app.background_settings import DreamSettings
from app.errors import ReverieError
from app.models.errors import BadRequest
from app.models.rehearsal.markers import DREAM_MARKER
from tests.fakes.background import Desk, told
from tests.fakes.clock import START, settled
from tests.fakes.provider import calls
from tests.unit.background.dream.dreams_kit import (
    CLOCK,
    ENTRY,
    dreaming,
    dreams,
    memory,
    over,
    writes,
)


async def test_a_dream_begins_after_a_turn_and_changes_memory(tmp_path: Path) -> None:
    async with dreaming(tmp_path) as desk:
        one = ENTRY.replace("- [Clock](clock.md)\n", "", 1)
        desk.queue(writes(desk, "MEMORY.md", one), told("I said it once."))
        await desk.turn("look")
        task = await over(desk)
        assert (task.status, task.detail) == ("completed", "1 file changed.")
        assert task.files == ("MEMORY.md",) and task.calls == 2 and task.phase == "prune"
        assert memory(desk) == {"MEMORY.md": one, "clock.md": CLOCK}
        asked = desk.provider.requests[1]
        assert DREAM_MARKER in str(asked.messages[0])
        assert {tool["name"] for tool in asked.tools} == {
            "Read", "Glob", "Grep", "LS", "Inspect", "Write", "Edit", "Delete"
        }  # fmt: skip
        (dream,) = await dreams(desk).dreams()
        assert dream.status == "completed" and len(dream.sessions) == 5
        assert dream.files[0].evidence == ("session 1: said so",)
        spend = {each.mechanism: each.calls for each in desk.state.background.spend}
        assert spend == {"dream": 2}
        assert not dreams(desk).place.stage.exists()


async def test_the_conversation_never_hears_of_it(tmp_path: Path) -> None:
    async with dreaming(tmp_path) as desk:
        desk.queue(writes(desk, "clock.md", f"{CLOCK}More.\n"), told("Dreamt of clocks."))
        await desk.turn("look")
        usage = desk.state.limits.usage
        before = {*dreams(desk).place.sessions.glob("*.jsonl")}
        await over(desk)
        assert desk.state.limits.usage == usage
        said = str([record.data for record in desk.records()])
        assert "Dreamt" not in said and DREAM_MARKER not in said and "Write" not in said
        assert {*dreams(desk).place.sessions.glob("*.jsonl")} == before
        await desk.turn("go on")
        asked = str(desk.provider.requests[-1].messages)
        assert "Dreamt" not in asked and DREAM_MARKER not in asked


@pytest.mark.parametrize(
    ("gate", "arrange"),
    [
        ("enabled", lambda desk: setattr(dreams(desk), "_has_terminal", lambda: False)),
        ("time", lambda desk: touch(desk, START.timestamp() - 3_600)),
        ("sessions", lambda desk: next(dreams(desk).place.sessions.glob("*-*.jsonl")).unlink()),
    ],
)
async def test_each_gate_holds_it_back(
    tmp_path: Path, gate: str, arrange: Callable[[Desk], object]
) -> None:
    async with dreaming(tmp_path, sessions=5) as desk:
        arrange(desk)
        await desk.turn("look")
        for _ in range(5):
            await asyncio.to_thread(int)
            await settled()
        assert desk.tasks("dream") == []
        await dreams(desk).look()
        closed = [each.name for each in dreams(desk).mechanism.gates if not each.holds]
        assert gate in closed


def touch(desk: Desk, moment: float) -> None:
    lock = dreams(desk).place.memory / FILE
    lock.touch()
    os.utime(lock, (moment, moment))


async def test_after_a_dream_a_day_passes(tmp_path: Path) -> None:
    async with dreaming(tmp_path) as desk:
        desk.queue(told("Nothing to do."))
        await desk.turn("look")
        task = await over(desk)
        assert task.detail == "Nothing was worth a change."
        await desk.turn("again")
        assert len(desk.tasks("dream")) == 1
        assert dreams(desk).schedule.refused() == "time"


async def test_a_time_in_the_future_is_believed_for_an_hour(tmp_path: Path) -> None:
    async with dreaming(tmp_path) as desk:
        schedule = dreams(desk).schedule
        dreams(desk).place.memory.mkdir(parents=True, exist_ok=True)
        touch(desk, START.timestamp() + 10_000_000)
        assert schedule.refused() == "time"
        await desk.clock.pass_time(3_599)
        restarted = dataclasses.replace(schedule)
        assert restarted.refused() == schedule.refused() == "time"
        await desk.clock.pass_time(1)
        assert schedule.refused() == ""
        assert len(schedule.touched("")) == 5


async def test_a_folder_with_too_few_sessions_is_not_read_at_every_turn(tmp_path: Path) -> None:
    async with dreaming(tmp_path, sessions=4) as desk:
        await desk.turn("look")
        assert dreams(desk).schedule.refused() == "throttle"
        await desk.clock.pass_time(600)
        assert dreams(desk).schedule.refused() == ""


async def test_a_failure_changes_nothing_and_gives_the_time_back(tmp_path: Path) -> None:
    async with dreaming(tmp_path) as desk:
        touch(desk, START.timestamp() - 90_000)
        desk.queue(writes(desk, "clock.md", "x"), [BadRequest("No such thing.", status=400)])
        await desk.turn("look")
        task = await over(desk)
        assert task.status == "failed" and "No such thing" in task.detail
        assert memory(desk)["clock.md"] == CLOCK
        assert last_consolidation(dreams(desk).place.memory) == START.timestamp() - 90_000
        (dream,) = await dreams(desk).dreams()
        assert dream.status == "failed"


async def test_a_failed_one_is_not_tried_again_at_once(tmp_path: Path) -> None:
    async with dreaming(tmp_path) as desk:
        desk.queue(writes(desk, "clock.md", "x"), [BadRequest("No such thing.", status=400)])
        await desk.turn("look")
        await over(desk)
        await desk.clock.pass_time(6 * 3_600 - 10)
        schedule = dreams(desk).schedule
        assert schedule.refused() == "throttle"
        await dreams(desk).look()
        words = {each.name: each.detail for each in dreams(desk).mechanism.gates}
        assert "has failed" in words["throttle"] and "No such thing" in words["server"]
        await desk.clock.pass_time(10)
        assert schedule.refused() == ""


async def test_no_dream_begins_by_itself_past_the_days_budget(tmp_path: Path) -> None:
    async with dreaming(tmp_path, budget=0.0) as desk:
        await desk.turn("look")
        for _ in range(5):
            await asyncio.to_thread(int)
            await settled()
        assert desk.tasks("dream") == []
        closed = [each.name for each in dreams(desk).mechanism.gates if not each.holds]
        assert "budget" in closed


async def test_switched_off_is_off_for_the_command_too(tmp_path: Path) -> None:
    async with dreaming(tmp_path, dream=DreamSettings(enabled=False)) as desk:
        await dreams(desk).begin()
        assert desk.tasks("dream") == []
        assert "switched off" in desk.state.notices[-1].text


async def test_review_holds_it_until_the_person_has_seen_it(tmp_path: Path) -> None:
    async with dreaming(tmp_path, dream=DreamSettings(review=True)) as desk:
        desk.queue(
            writes(desk, "clock.md", f"{CLOCK}More.\n"),
            writes(desk, "MEMORY.md", ENTRY.replace("# Shop", "# The shop")),
            told("Done."),
        )
        await desk.turn("look")
        task = await over(desk)
        assert task.detail.startswith("held: ")
        assert memory(desk)["clock.md"] == CLOCK
        (dream,) = await dreams(desk).dreams()
        made = await dreams(desk).accept(dream.id, {"clock.md": {0}})
        assert made.touched == ("clock.md",)
        assert memory(desk) == {"MEMORY.md": ENTRY, "clock.md": f"{CLOCK}More.\n"}
        with pytest.raises(ReverieError, match="not held"):
            await dreams(desk).discard(dream.id)
        back, left = await dreams(desk).revert(dream.id)
        assert (back.status, left) == ("reverted", [])
        assert memory(desk)["clock.md"] == CLOCK


async def test_mass_deletion_is_held_whatever_the_settings_say(tmp_path: Path) -> None:
    async with dreaming(tmp_path) as desk:
        desk.queue(writes(desk, "MEMORY.md", "#\n"), writes(desk, "clock.md", "#\n"), told("Done."))
        await desk.turn("look")
        task = await over(desk)
        assert "More than half" in task.detail
        assert memory(desk) == {"MEMORY.md": ENTRY, "clock.md": CLOCK}
        (dream,) = await dreams(desk).dreams()
        assert (await dreams(desk).discard(dream.id)).status == "discarded"


async def test_what_is_beyond_the_boundary_is_refused(tmp_path: Path) -> None:
    async with dreaming(tmp_path) as desk:
        outside = tmp_path / "work" / "note.md"
        desk.queue(
            calls(
                ("Write", {"file_path": str(outside), "content": "x"}, "toolu_1"),
                ("Bash", {"command": "rm -rf ."}, "toolu_2"),
                ("Inspect", {"command": "cat /etc/passwd"}, "toolu_3"),
                ("Read", {"file_path": "/etc/passwd"}, "toolu_4"),
                ("memory", {"command": "view", "path": "/memories"}, "toolu_5"),
            ),
            told("I could not."),
        )
        await desk.turn("look")
        await over(desk)
        assert not outside.exists()
        results = desk.provider.requests[-1].messages[-1]["content"]
        assert len(results) == 5 and all(result["is_error"] for result in results)
        assert "root:" not in str(results)


async def test_the_next_session_is_told_once(tmp_path: Path) -> None:
    async with dreaming(tmp_path) as desk:
        desk.queue(writes(desk, "clock.md", f"{CLOCK}More.\n"), told("Done."))
        await dreams(desk).begin()
        await over(desk)
        assert not any("Memory changed" in each.text for each in desk.state.notices)
        for _ in range(2):
            await desk.controller.new_session()
            for _ in range(5):
                await asyncio.to_thread(int)
                await settled()
        told_of = [each.text for each in desk.state.notices if "Memory changed" in each.text]
        assert len(told_of) == 1 and "1 file, by dream, " in told_of[0]
