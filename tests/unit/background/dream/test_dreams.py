"""Dreams from the gates to the notice, with a scripted model."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from app.background.dream.lock import FILE, last_consolidation
from app.background_settings import DreamSettings
from app.dream_desk import DreamDesk
from app.errors import ReverieError
from app.models.errors import BadRequest
from app.models.rehearsal.markers import DREAM_MARKER
from app.sessions.envelope import new_uuid
from app.storage.documents import Author
from tests.fakes.background import Desk, background, told
from tests.fakes.clock import START, settled
from tests.fakes.provider import Step, calls

ENTRY = "# Shop\n- [Clock](clock.md)\n- [Clock](clock.md)\n"
CLOCK = "# Clock\nThe clock is monotonic.\n"


def dreams(desk: Desk) -> DreamDesk:
    return desk.background.dreams


def memory(desk: Desk) -> dict[str, str]:
    root = dreams(desk).place.memory
    return {str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*.md"))}


def other_sessions(desk: Desk, count: int) -> None:
    folder = dreams(desk).place.sessions
    folder.mkdir(parents=True, exist_ok=True)
    for _ in range(count):
        file = folder / f"{new_uuid()}.jsonl"
        file.write_text("{}\n")
        os.utime(file, (START.timestamp(), START.timestamp()))


@asynccontextmanager
async def dreaming(tmp_path: Path, sessions: int = 5, **settings: Any) -> AsyncIterator[Desk]:
    dream = settings.pop("dream", DreamSettings())
    async with background(tmp_path, dream=dream, **settings) as desk:
        dreams(desk)._has_terminal = lambda: True
        for name, text in (("MEMORY.md", ENTRY), ("clock.md", CLOCK)):
            dreams(desk)._documents.update(name, lambda _text, text=text: text, Author("you"))
        other_sessions(desk, sessions)
        yield desk


def writes(desk: Desk, name: str, text: str, evidence: str = "session 1: said so") -> list[Step]:
    """A reply that reads a document and writes it anew."""
    path = str(dreams(desk).place.stage / name)
    arguments = {"file_path": path, "content": text, "evidence": evidence}
    read = ("Read", {"file_path": path}, f"toolu_{new_uuid()[:8]}")
    return list(calls(read, ("Write", arguments, f"toolu_{new_uuid()[:8]}")))


async def over(desk: Desk) -> Any:
    """Let the dream that runs end."""
    while not desk.tasks("dream"):
        await asyncio.to_thread(int)
        await settled()
    task = desk.tasks("dream")[-1]
    await desk.background._registry.ended(task.id)
    await settled()
    return desk.tasks("dream")[-1]


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
        assert schedule.refused() == "time"
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
