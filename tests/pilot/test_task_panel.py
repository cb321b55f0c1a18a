from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from app.state import facts as f
from tests.fakes.tasks import FAILED, SERVER, busy, changed
from tests.pilot.task_stage import drawn, panel, press, stage, under_cursor
from widgets.tasks.panel import TaskPanel


async def test_the_panel_lists_what_runs_first_and_chooses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(tmp_path, monkeypatch, busy()) as (seen, _):
        await press(seen, "f2")
        shown = drawn(seen)
        kinds = ["npm run dev", "consolidate", "suggestion", "failed", "make docs", "aborted"]
        assert [shown.index(word) for word in kinds] == sorted(map(shown.index, kinds))
        assert "today $0.07 of $0.50 ▓░░░░░░░" in shown
        assert "Suggestion: 40 of 1000 requests left" in shown and "hold at" in shown
        assert panel(seen).chosen == SERVER
        for word in ("running", "completed", "aborted", "failed", "skipped"):
            assert word in shown


async def test_the_panels_keys_move_and_kill_only_what_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(tmp_path, monkeypatch, busy()) as (seen, desk):
        await press(seen, "f2", "down", "k")
        assert desk.killed == ["dream_7"]
        assert "k Kill" in drawn(seen)
        await press(seen, "j", "k")
        assert desk.killed == ["dream_7"]
        assert "k Kill" not in drawn(seen)
        await press(seen, "up", "up", "up")
        chosen = panel(seen).chosen
        assert chosen is not None and chosen.status == "skipped"


async def test_news_leave_the_cursor_on_its_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(tmp_path, monkeypatch, busy()) as (seen, desk):
        await press(seen, "f2", "down")
        seen.controller.emit(f.TaskChanged(replace(SERVER, status="aborted", ended=-1.0)))
        seen.controller.emit(f.TaskChanged(replace(SERVER, id="newer", started=-0.5)))
        await press(seen, "k")
        assert desk.killed == ["dream_7"]


async def test_the_panel_closes_by_its_key_and_by_f2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(tmp_path, monkeypatch, busy()) as (seen, _):
        for key in ("escape", "f2"):
            await press(seen, "f2")
            assert panel(seen).has_class("-shown") and panel(seen).has_focus
            await press(seen, key)
            assert not panel(seen).has_class("-shown") and seen.prompt.has_focus


async def test_the_panel_covers_a_narrow_conversation_and_has_room_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = changed(*(replace(FAILED, id=f"a{i}", ended=float(-i - 100)) for i in range(100)))
    async with stage(tmp_path, monkeypatch, [*many, *busy()], (80, 24)) as (seen, _):
        await press(seen, "f2")
        assert not seen.conversation.display
        assert panel(seen).region.width == 80
        await press(seen, *["down"] * 60)
        assert "› " in drawn(seen) or "›✗" in drawn(seen)
        assert " above, " in drawn(seen)
        assert len(drawn(seen).splitlines()) == panel(seen).content_size.height


async def test_the_panel_looks_at_the_gates_again_only_while_it_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("widgets.tasks.panel.LOOK", 0.001)
    async with stage(tmp_path, monkeypatch, busy()) as (seen, desk):
        await seen.pilot.pause()
        assert desk.looks == 0
        await press(seen, "f2")
        while desk.looks < 4:
            await seen.pilot.pause()
        await press(seen, "f2")
        await seen.pilot.pause()
        before = desk.looks
        for _ in range(10):
            await seen.pilot.pause()
        assert desk.looks == before


async def test_a_click_chooses_a_task_and_a_second_one_opens_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(tmp_path, monkeypatch, busy()) as (seen, _):
        await press(seen, "f2")
        line = next(i for i, text in enumerate(drawn(seen).splitlines()) if "failed" in text)
        await seen.pilot.click(TaskPanel, offset=(10, line))
        assert panel(seen).chosen == FAILED
        await seen.pilot.click(TaskPanel, offset=(10, line), times=2)
        await seen.pilot.pause()
        assert "away summary" in under_cursor(seen)
