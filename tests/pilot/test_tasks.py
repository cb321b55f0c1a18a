from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from app.installation import Options
from app.state import facts as f
from app.state.background import Task
from tests.fakes.provider import calls, reply
from tests.fakes.tasks import ALL, DREAM, FAILED, MECHANISMS, SPEND, busy, changed, counted
from tests.pilot.picker import notices
from tests.pilot.stage import window
from tests.pilot.task_stage import drawn, on_screen, panel, press, screen, stage, under_cursor
from widgets.screens.chat import ChatScreen
from widgets.screens.dialogs.help import HelpScreen
from widgets.tasks.line_pane import LinePane


async def test_enter_opens_the_screen_at_the_task_and_esc_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(tmp_path, monkeypatch, busy()) as (seen, desk):
        await press(seen, "f2", "down", "down", "down", "enter", "f2", "enter")
        assert "away summary" in under_cursor(seen)
        assert "The service is overloaded. Nothing" in on_screen(seen)
        assert desk.looks > 0
        await press(seen, "escape")
        assert isinstance(seen.app.screen, ChatScreen)
        assert panel(seen).has_focus


async def test_the_command_opens_the_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(tmp_path, monkeypatch, []) as (seen, _):
        await seen.send("/tasks")
        assert "Nothing has run in the background." in on_screen(seen)
        await press(seen, "k", "y", "enter", "space", "down", "pageup", "G", "ctrl+c")
        assert isinstance(seen.app.screen, ChatScreen)


async def test_the_keys_of_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with stage(tmp_path, monkeypatch, busy()) as (seen, desk):
        seen.screen.show_tasks()
        await seen.pilot.pause()
        await press(seen, "j")
        assert "dream" in under_cursor(seen)
        assert "wrote testing.md" in on_screen(seen)
        await press(seen, "k")
        assert desk.killed == ["dream_7"]
        for key, words in (("G", "skipped"), ("g", "npm"), ("pagedown", "skipped"), ("up", "abor"),
                           ("home", "npm"), ("end", "skipped"), ("pageup", "npm")):  # fmt: skip
            await press(seen, key)
            assert words in under_cursor(seen), key
        await press(seen, "G", "k")
        assert desk.killed == ["dream_7"]


async def test_the_list_follows_what_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(tmp_path, monkeypatch, busy()) as (seen, _):
        seen.screen.show_tasks(DREAM.id)
        await seen.pilot.pause()
        more = replace(DREAM, lines=(*DREAM.lines, "wrote notes.md"), calls=4)
        seen.controller.emit(f.TaskChanged(more))
        await seen.pilot.pause()
        assert "wrote notes.md" in on_screen(seen)
        seen.controller.emit(f.TaskChanged(replace(more, status="completed", ended=0.0)))
        await seen.pilot.pause()
        assert "dream" in under_cursor(seen) and "completed" in under_cursor(seen)
        assert "k Kill" not in on_screen(seen)


async def test_the_details_are_scrolled_until_esc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = replace(DREAM, lines=tuple(f"step {i}" for i in range(200)))
    async with stage(tmp_path, monkeypatch, changed(*ALL, long), (80, 24)) as (seen, _):
        seen.screen.show_tasks(DREAM.id)
        await seen.pilot.pause()
        await press(seen, "enter")
        assert not screen(seen).query_one("#tasks-list").region
        await press(seen, "G")
        assert "step 199" in on_screen(seen)
        await press(seen, "up", "pageup")
        assert "step 199" not in on_screen(seen)
        await press(seen, "escape")
        assert "dream" in under_cursor(seen)
        assert screen(seen).query_one("#tasks-list").region


async def test_tasks_are_filtered_as_words_are_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(tmp_path, monkeypatch, busy()) as (seen, desk):
        seen.screen.show_tasks()
        await seen.pilot.pause()
        await press(seen, "slash", *"kommand")
        assert "No task holds these words." in on_screen(seen)
        await press(seen, *["backspace"] * 7, *"command", "down")
        assert "make docs" in under_cursor(seen)
        assert "dream" not in on_screen(seen)
        await press(seen, "enter", "up", "k")
        assert desk.killed == ["bash_1"]
        assert "filter: command, 2 of 7" in on_screen(seen)
        await press(seen, "escape")
        assert "dream" in on_screen(seen)
        await press(seen, "slash", *"docs", "escape")
        assert "dream" in on_screen(seen) and "make docs" in under_cursor(seen)
        await press(seen, "escape")
        assert isinstance(seen.app.screen, ChatScreen)


async def test_the_gates_are_walked_and_a_mechanism_is_switched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(tmp_path, monkeypatch, busy()) as (seen, desk):
        seen.screen.show_tasks()
        await seen.pilot.pause()
        await press(seen, "2")
        assert "Away summary" in under_cursor(seen, "#tasks-why")
        await press(seen, "space")
        await press(seen, *["down"] * 9, "space")
        assert "enabled" in under_cursor(seen, "#tasks-why")
        assert desk.switched == ["away_summary.enabled", "suggestion.enabled"]
        await press(seen, "down", "down", "down", "space")
        assert "Turn summary" in under_cursor(seen, "#tasks-why")
        assert len(desk.switched) == 2 and "Turn summary has no switch." in notices(seen)
        await press(seen, "end", "space")
        assert desk.switched[2:] == ["titles"]
        await press(seen, "home", "pagedown", "pageup", "up")
        assert "Away summary" in under_cursor(seen, "#tasks-why")


async def test_the_cursor_stays_on_its_gate_when_a_line_comes_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(tmp_path, monkeypatch, busy()) as (seen, desk):
        seen.screen.show_tasks()
        await seen.pilot.pause()
        await press(seen, "2", *["down"] * 8)
        troubled = replace(MECHANISMS[0], trouble="the server does not answer")
        seen.controller.emit(f.MechanismsSeen((troubled, *MECHANISMS[1:])))
        await press(seen, "space")
        assert "silent: the server does not answer" in on_screen(seen)
        assert desk.switched == ["suggestion.enabled"]


async def test_the_real_switch_is_kept_and_shown(tmp_path: Path) -> None:
    async with window(tmp_path, size=(100, 50)) as seen:
        await seen.send("/tasks")
        await press(seen, "2")
        assert "Away summary  off" in on_screen(seen)
        await press(seen, "space")
        await seen.until(lambda state: state.background.mechanisms[0].is_on)
        assert "space Switch off" in on_screen(seen)
        assert "enabled = true" in (tmp_path / "config" / "settings.toml").read_text()


async def test_the_parts_go_round_and_the_spend_scrolls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(tmp_path, monkeypatch, busy(), (80, 24)) as (seen, _):
        seen.screen.show_tasks()
        await seen.pilot.pause()
        keys = ("tab", "tab", "tab", "shift+tab", "1", "3")
        parts = ("[2 Why not]", "[3 Spend]", "[1 Tasks]", "[3 Spend]", "[1 Tasks]", "[3 Spend]")
        for key, part in zip(keys, parts, strict=True):
            await press(seen, key)
            assert part in on_screen(seen)
        assert "Mon  2 Nov" in on_screen(seen)
        await press(seen, "end")
        assert "total" in on_screen(seen)
        pane = screen(seen).query_one("#tasks-spend", LinePane)
        bottom = pane.scroll_offset.y
        await press(seen, "up", "j", "pageup")
        assert pane.scroll_offset.y < bottom
        await press(seen, "k", "space")
        seen.controller.emit(counted(*SPEND[:1]))
        await seen.pilot.pause()
        assert "No call was made" in on_screen(seen)


async def test_the_details_are_copied_as_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(tmp_path, monkeypatch, busy()) as (seen, _):
        seen.screen.show_tasks(FAILED.id)
        await seen.pilot.pause()
        await press(seen, "y")
        assert "error     The service is overloaded. Nothing was lost.\n" in seen.app.clipboard
        await press(seen, "2", "y")
        assert "nothing pending  a background command runs: npm run dev\n" in seen.app.clipboard
        assert "Suggestion" not in seen.app.clipboard
        await press(seen, "3", "y")
        assert seen.app.clipboard.endswith("$0.65")


async def test_the_help_lists_the_keys_in_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config").mkdir()
    settings = tmp_path / "config" / "settings.toml"
    settings.write_text('[keys]\n"tasks.kill" = "x"\n"tasks.spend" = "9"\n')
    async with stage(tmp_path, monkeypatch, busy()) as (seen, desk):
        await press(seen, "f2", "x")
        assert desk.killed == ["bash_1"] and "x Kill" in drawn(seen)
        await press(seen, "enter", "x", "k", "9")
        assert desk.killed == ["bash_1", "bash_1"]
        assert "[9 Spend]" in on_screen(seen)
        await press(seen, "f1")
        assert isinstance(seen.app.screen, HelpScreen)
        words = str(seen.app.screen._text())
        shown = [line.split() for line in words.splitlines()]
        assert ["x", "Kill"] in shown and ["9", "Spend"] in shown
        for line in ("Switch on or off", "In the tasks", "While you filter", "Keep filter"):
            assert line in words
        await press(seen, "escape")
        assert "[9 Spend]" in on_screen(seen)


async def test_keys_that_come_at_once_act_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(tmp_path, monkeypatch, busy()) as (seen, desk):
        seen.screen.show_tasks()
        await seen.pilot.pause()
        await seen.pilot.press("j", "k", "slash", *"docs", "enter", "y", "escape", "g", "k")
        await seen.pilot.pause()
        assert desk.killed == ["dream_7", "bash_1"]
        assert "make docs" in seen.app.clipboard


@pytest.mark.parametrize("size", [(40, 12), (20, 5), (300, 100)])
async def test_any_size_shows_what_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    wide = Task(
        "w", "dream", "日本語" * 90, "running", -9.0, detail="👍🏽" * 90, lines=("漢" * 200,)
    )
    async with stage(tmp_path, monkeypatch, [*busy(), *changed(wide)], size) as (seen, _):
        await press(seen, "f2", "down", "enter")
        keys = ("enter", "2", "3", "1", "slash")
        for key, words in zip(keys, (*["esc Back"] * 4, "Keep filter"), strict=True):
            await press(seen, key)
            assert words in on_screen(seen).splitlines()[-1]
        await press(seen, "escape", "escape", "f2")
        assert isinstance(seen.app.screen, ChatScreen)


async def test_a_background_command_is_killed_from_the_screen(tmp_path: Path) -> None:
    use = ("Bash", {"command": "sleep 600", "run_in_background": True}, "t1")
    bypass = Options(mode="bypassPermissions")
    async with window(tmp_path, calls(use), reply("Started.", 2), options=bypass) as seen:
        await seen.send("go")
        await seen.idle()
        await seen.send("/tasks")
        await seen.pilot.press("k")
        await seen.until(lambda state: all(t.status == "aborted" for t in state.tasks.values()))
        assert "aborted" in under_cursor(seen)
