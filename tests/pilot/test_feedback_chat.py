"""Feedback as the chat shows it: its key, its command, its counter, its switch."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.agent.tools.send_feedback import SEND_FEEDBACK
from app.background.feedback.drafts import MOST_BYTES
from tests.fakes.provider import calls, reply
from tests.pilot import task_stage
from tests.pilot.feedback_stage import Review, box_of, draft, review
from tests.pilot.stage import window
from widgets.screens.chat import ChatScreen
from widgets.status_line import StatusLine


def status(seen: Review) -> str:
    return seen.seen.screen.query_one(StatusLine).render_line(0).text


@pytest.mark.parametrize("width", [120, 80])
async def test_the_counter_is_shown_and_the_key_and_the_command_open_the_screen(
    tmp_path: Path, width: int
) -> None:
    async with review(tmp_path, draft(), size=(width, 24), opened=False) as seen:
        assert "feedback: 1" in status(seen)
        assert width < 100 or "f5 Feedback" in status(seen)
        for keys in (("f5",), ("f5", "f5", "f5")):
            await seen.keys(*keys)
            assert "Fault 1" in seen.at()
            await seen.keys("ctrl+c")
        await seen.seen.send("/feedback")
        await seen.settled()
        assert "Fault 1" in seen.at()
        await seen.keys("d", "escape")
        assert "feedback:" not in status(seen)


async def test_a_text_behind_the_command_is_a_draft_that_is_chosen(tmp_path: Path) -> None:
    newer = draft(1, created="2026-11-02T12:00:00.000Z")
    async with review(tmp_path, newer, opened=False) as seen:
        await seen.seen.send("/feedback [b]It broke[/b] twice")
        await seen.settled()
        assert "feedback: 2" in status(seen) and "“[b]It broke[/b] twice”" in seen.at()
        (found,) = (each for each in seen.box.listing().drafts if each.id != "fb-1")
        assert (found.title, found.body) == ("[b]It broke[/b] twice", "")
        assert found.session_id == seen.seen.state.session.session_id
        await seen.keys("escape")
        assert not seen.seen.prompt.text


async def test_a_text_that_is_too_long_goes_back_to_the_prompt(tmp_path: Path) -> None:
    text = "word " * (MOST_BYTES // 5 + 1)
    async with review(tmp_path, opened=False) as seen:
        seen.seen.prompt.insert(f"/feedback {text.strip()}")
        await seen.seen.pilot.press("enter")
        await seen.settled()
        assert isinstance(seen.seen.app.screen, ChatScreen) and seen.ids() == []
        assert f"the limit is {MOST_BYTES}" in seen.said()
        assert seen.seen.prompt.whole_text.split() == ["/feedback", *text.split()]


async def test_a_draft_that_had_to_leave_is_told_in_the_panel(tmp_path: Path) -> None:
    drafts = [draft(number, title=f"[b]Fault {number}") for number in range(1, 11)]
    async with review(tmp_path, *drafts, size=(120, 40), opened=False) as seen:
        await seen.seen.send("/feedback one more")
        await seen.keys("escape", "f2")
        shown = task_stage.drawn(seen.seen)
        assert "✓ feedback" in shown and "removed, only 10 are kept: “[b]F" in shown
        (task,) = seen.seen.state.tasks.values()
        assert task.detail.startswith("removed, only 10 are kept: “[b]Fault 1”; for a while in /")
        assert len(seen.ids()) == 10 and "fb-1" not in seen.ids()


async def test_a_draft_that_is_too_old_leaves_and_that_is_told(tmp_path: Path) -> None:
    async with review(tmp_path, draft(), opened=False) as seen:
        seen.box.add(draft(2, created="2026-09-01T00:00:00.000Z"))
        os.utime(seen.box.folder / "fb-2.json", (0, 0))
        await seen.keys("f5")
        assert seen.ids() == ["fb-1"]
        (task,) = seen.seen.state.tasks.values()
        assert task.detail.startswith("removed, older than 30 days: “Fault 2”; for a while in /")


async def test_a_draft_of_the_model_is_counted_at_once(tmp_path: Path) -> None:
    report = {"title": "Odd [b]", "body": "It was odd.", "category": "bug"}
    script = [calls((SEND_FEEDBACK, report, "t1")), reply("Going on.")]
    async with window(tmp_path, *script, size=(120, 30)) as seen:
        await seen.send("go")
        await seen.idle()
        found = Review(seen, box_of(tmp_path))
        await found.until(lambda feedback: feedback.drafts)
        assert "feedback: 1" in status(found)
        await found.keys("f5")
        assert "“Odd [b]”" in found.at() and "It was odd." in found.shown()


async def test_the_switch_takes_the_tool_from_the_open_session(tmp_path: Path) -> None:
    async with window(tmp_path, reply("a"), reply("b"), reply("c"), size=(120, 50)) as seen:

        async def offered() -> bool:
            await seen.send("go")
            await seen.idle()
            await seen.pilot.pause()
            return SEND_FEEDBACK in str(seen.provider.requests[-1].tools)

        assert await offered()
        await seen.send("/tasks")
        await task_stage.press(seen, "2", "end")
        assert "Feedback drafts  ready" in task_stage.on_screen(seen)
        await task_stage.press(seen, "space")
        assert "Feedback drafts  off" in task_stage.on_screen(seen)
        settings = (tmp_path / "config" / "settings.toml").read_text()
        assert 'drafts = "off"' in settings
        await task_stage.press(seen, "escape")
        assert not await offered()
        await seen.send("/tasks")
        await task_stage.press(seen, "2", "end", "space")
        assert "Feedback drafts  ready" in task_stage.on_screen(seen)
        assert 'drafts = "on"' in (tmp_path / "config" / "settings.toml").read_text()
