"""Ghost text, the card of what happened meanwhile, and who hears of the focus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from textual import events

from app.background_settings import SuggestionSettings
from app.sessions.outline import RECAP
from app.state import facts as f
from app.state.background import TurnSummary
from tests.fakes.background import told
from tests.fakes.provider import reply
from tests.pilot.stage import Window, window
from widgets.conversation.blocks import AwayBlock
from widgets.driver import EnterAwareParser
from widgets.terminal_title import title_of

TEXT = "run the tests again"
SHOWN = "the cart is mended; next is its clock"


async def offered(seen: Window, text: str = TEXT) -> None:
    seen.controller.emit(f.SuggestionOffered(text))
    await seen.pilot.pause()
    assert seen.prompt.ghost == text


@pytest.mark.parametrize("key", ["tab", "right"])
async def test_a_ghost_is_taken_and_can_be_changed(tmp_path: Path, key: str) -> None:
    async with window(tmp_path, reply("done")) as seen:
        await offered(seen)
        assert seen.prompt.text == ""
        await seen.pilot.press(key, "!")
        assert (seen.prompt.text, seen.prompt.ghost) == (f"{TEXT}!", "")
        assert seen.state.suggestion.text == "" and not seen.provider.requests


@pytest.mark.parametrize("key", ["x", "escape", "backspace", "up", "ctrl+a", "enter"])
async def test_any_other_key_hides_it_and_does_what_it_does(tmp_path: Path, key: str) -> None:
    async with window(tmp_path) as seen:
        await offered(seen)
        seen.pass_time(10)
        await seen.pilot.press(key)
        assert seen.prompt.ghost == "" and seen.state.suggestion.text == ""
        assert seen.prompt.text == ("x" if key == "x" else "")
        assert not seen.provider.requests


async def test_a_paste_hides_it(tmp_path: Path) -> None:
    async with window(tmp_path) as seen:
        await offered(seen)
        seen.prompt.post_message(events.Paste("pasted"))
        await seen.pilot.pause()
        assert (seen.prompt.text, seen.prompt.ghost) == ("pasted", "")


@pytest.mark.parametrize(("seconds", "sends"), [(0.6, True), (0.1, False)])
async def test_enter_sends_it_only_where_it_may_and_was_seen(
    tmp_path: Path, seconds: float, sends: bool
) -> None:
    async with window(tmp_path, reply("done")) as seen:
        loaded: Any = seen.controller.loaded
        settings = msgspec.structs.replace(
            loaded.settings, suggestion=SuggestionSettings(enabled=False, enter_sends=True)
        )
        object.__setattr__(loaded, "settings", settings)
        await offered(seen)
        seen.pass_time(seconds)
        await seen.pilot.press("enter")
        if sends:
            await seen.idle()
            assert TEXT in str(seen.provider.requests[0].messages)
        assert seen.prompt.text == "" and len(seen.provider.requests) == sends


async def test_what_cannot_be_seen_whole_is_not_offered(tmp_path: Path) -> None:
    async with window(tmp_path, size=(60, 24)) as seen:
        text = "reconfigure the parser so that it accepts long options and push to main"
        seen.controller.emit(f.SuggestionOffered(text))
        await seen.pilot.pause()
        assert seen.prompt.ghost == "" and "reconfigure" not in seen.prompt.render_line(0).text
        await seen.pilot.press("right", "tab")
        assert seen.prompt.text == ""


async def test_a_ghost_is_not_in_the_draft_and_not_over_a_draft(tmp_path: Path) -> None:
    async with window(tmp_path) as seen:
        await offered(seen)
        assert seen.prompt.whole_text == ""
        await seen.type("my own")
        seen.controller.emit(f.SuggestionOffered(TEXT))
        await seen.pilot.pause()
        assert seen.prompt.ghost == ""
        await seen.pilot.press("tab")
        assert seen.prompt.text == "my own"


async def test_markup_and_wide_signs_in_a_ghost_are_text(tmp_path: Path) -> None:
    async with window(tmp_path) as seen:
        await offered(seen, "修复 [bold]同样[/] 的时钟")
        assert "[bold]" in seen.prompt.render_line(0).text


async def recap(seen: Window) -> None:
    conversation = seen.controller._need_runtime().conversation
    turns = [{"prompt": "look", "category": "completed", "detail": "tests [red]pass[/]"}]
    payload = {"content": SHOWN, "isMeta": False, "turns": turns}
    conversation.append(conversation.envelope.system(conversation.leaf, RECAP, payload))
    await seen.pilot.pause()


def card(seen: Window) -> AwayBlock:
    blocks = [block for block in seen.conversation.blocks if isinstance(block, AwayBlock)]
    return blocks[-1]


async def test_the_card_is_opened_dismissed_and_read(tmp_path: Path) -> None:
    async with window(tmp_path, reply("I looked."), reply("more")) as seen:
        await seen.send("look")
        await seen.idle()
        await recap(seen)
        assert "while you were away" in seen.shown() and SHOWN in seen.shown()
        await seen.pilot.press("tab", "enter")
        assert "look · tests [red]pass[/]" in seen.shown()
        await seen.pilot.press("x")
        assert card(seen).fold == "folded" and "╭ while" not in seen.shown()
        await seen.pilot.press("enter")
        assert "╭ while you were away" in seen.shown()
        await seen.pilot.press("escape")
        await seen.send("go on")
        await seen.idle()
        assert card(seen).fold == "folded"


async def test_recaps_are_turned_off_from_the_card(tmp_path: Path) -> None:
    async with window(tmp_path, reply("I looked."), background=True) as seen:
        await seen.send("look")
        await seen.idle()
        await recap(seen)
        await seen.pilot.press("tab", "o")
        assert seen.controller.loaded.settings.away_summary.enabled is False
        assert any("No recaps" in notice.text for notice in seen.state.notices)
        assert "enabled = false" in seen.controller.here.places.settings.read_text()


async def test_the_focus_of_the_terminal_is_heard(tmp_path: Path) -> None:
    async with window(tmp_path) as seen:
        seen.app.post_message(events.AppBlur())
        await seen.pilot.pause()
        assert (seen.state.away.is_away, seen.state.away.watch) == (True, "focus")
        seen.app.post_message(events.AppFocus())
        await seen.pilot.pause()
        assert not seen.state.away.is_away
        assert seen.prompt.has_focus


async def test_keys_are_the_focus_where_there_is_none(tmp_path: Path) -> None:
    async with window(tmp_path, reply("I looked."), background=True) as seen:
        await seen.send("look")
        await seen.idle()
        await seen.until(lambda state: state.away.is_away)
        assert seen.state.away.watch == "keys"
        await seen.pilot.press("x")
        assert not seen.state.away.is_away


@pytest.mark.parametrize(
    ("answer", "tells"),
    [("\x1b[?1004;1$y", True), ("\x1b[?1004;3$y", True), ("\x1b[?1004;0$y", False)],
)  # fmt: skip
def test_a_terminal_that_knows_the_mode_tells_its_focus(answer: str, tells: bool) -> None:
    parser = EnterAwareParser()
    events_seen = [*parser.feed(f"a{answer}b")]
    assert any(isinstance(event, events.AppFocus) for event in events_seen) is tells
    keys = [event.character for event in events_seen if isinstance(event, events.Key)]
    assert keys == ["a", "b"]


async def test_a_recap_can_be_asked_for_and_stopped(tmp_path: Path) -> None:
    async with window(tmp_path, reply("I looked."), told(SHOWN)) as seen:
        await seen.send("look")
        await seen.idle()
        await seen.send("/recap")
        await seen.until(lambda state: any(SHOWN in each.text for each in state.notices))
        assert len(seen.provider.requests) == 2


async def test_the_title_says_how_it_stands(tmp_path: Path) -> None:
    async with window(tmp_path, reply("Which one?")) as seen:
        written: list[str] = []
        seen.app.write_terminal = written.append  # pyright: ignore[reportAttributeAccessIssue] - a spy
        await seen.send("look at\x1b]0;evil\x07 this")
        await seen.idle()
        assert title_of(seen.state).startswith("? ")
        assert all("\x1b]0" not in each and each.count("\x1b") == 1 for each in written)


@pytest.mark.parametrize(
    ("how", "is_away", "sequence"),
    [
        ("bell", True, "\a"),
        ("desktop", True, "\x1b]9;reverie: asks: which one?\a"),
        ("bell", False, None),
        ("off", True, None),
    ],
)
async def test_one_is_called_only_when_away_and_needed(
    tmp_path: Path, how: str, is_away: bool, sequence: str | None
) -> None:
    async with window(tmp_path) as seen:
        seen.controller.keep_setting("post_turn.notify", how)
        written: list[str] = []
        seen.app.write_terminal = written.append  # pyright: ignore[reportAttributeAccessIssue] - a spy
        seen.controller.emit(f.FocusChanged(is_away))
        for _ in range(2):
            seen.controller.emit(f.TurnSummarised(None))
            seen.controller.emit(f.TurnSummarised(TurnSummary("waiting", "asks: which one?", True)))
            await seen.pilot.pause()
            await seen.pilot.pause()
        calls = [each for each in written if not each.startswith("\x1b]2;")]
        assert calls == ([] if sequence is None else [sequence] * 2)
