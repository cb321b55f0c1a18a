from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.sessions import search
from app.sessions.records import Record
from tests.fakes.sessions import Made, session_id
from tests.pilot.picker import (
    burst,
    chosen,
    keep,
    notices,
    opened,
    settled,
    shown,
    three,
    titles,
)
from tests.pilot.stage import window
from widgets.ask.line import LineBox


async def test_keys_that_come_at_once_act_in_their_order(tmp_path: Path) -> None:
    first, second, third = three(tmp_path)
    async with window(tmp_path) as seen:
        await opened(seen)
        await burst(seen, "down", "ctrl+d")
        assert (first.exists(), second.exists(), third.exists()) == (True, False, True)
        await burst(seen, "ctrl+z", "down", "down", "up", "ctrl+d", "up", "ctrl+d")
        assert (first.exists(), second.exists(), third.exists()) == (False, False, True)
        await burst(seen, "ctrl+z", "ctrl+z", "ctrl+x")
        assert [file.name for file in (tmp_path / "work").iterdir()] == ["mend the clock.md"]


async def test_what_is_typed_in_front_of_a_key_counts_first(tmp_path: Path) -> None:
    first, second, third = three(tmp_path)
    async with window(tmp_path) as seen:
        await opened(seen)
        await burst(seen, *"poet", "ctrl+d")
        assert (first.exists(), second.exists(), third.exists()) == (True, False, True)
        await burst(seen, "ctrl+u", *"zebra", "ctrl+d")
        assert first.exists() and third.exists()
        await burst(seen, "ctrl+u", *"clean", "enter", "ctrl+d")
        await seen.until(lambda state: state.session.session_id == session_id(3))
        assert third.exists()


async def test_a_title_that_is_typed_at_once_is_whole(tmp_path: Path) -> None:
    three(tmp_path)
    async with window(tmp_path) as seen:
        screen = await opened(seen)
        await burst(seen, "down", "ctrl+t")
        await burst(seen, "ctrl+u", *"one", "left", "left", "backspace", *"Tw", "enter", "escape")
        assert set(titles(seen)) == {"mend the clock", "Twne", "clean up"}
        assert chosen(seen) == "Twne"
        await burst(seen, "ctrl+t", "ctrl+u", *"abc", "enter")
        assert set(titles(seen)) == {"mend the clock", "abc", "clean up"}
        assert not screen.query(LineBox) and screen.field.value == ""


async def test_the_cursor_stays_on_the_best_hit_until_it_is_moved(tmp_path: Path) -> None:
    keep(tmp_path, Made(1).talk("one", "A clock."), 1)
    keep(tmp_path, Made(2).talk("two", "A clock."), 2)
    keep(tmp_path, Made(3).talk("the clock", "A clock."), 3)
    async with window(tmp_path) as seen:
        await opened(seen)
        await seen.pilot.press("down", *"clock")
        await shown(seen, lambda: len(titles(seen)) == 3)
        assert titles(seen) == ["the clock", "one", "two"]
        assert chosen(seen) == "the clock"
        await seen.pilot.press("down", "ctrl+d")
        await shown(seen, lambda: titles(seen) == ["the clock", "two"])
        assert chosen(seen) == "two"


async def test_what_comes_back_is_chosen_and_no_longer_said_to_be_gone(tmp_path: Path) -> None:
    three(tmp_path)
    async with window(tmp_path) as seen:
        await opened(seen)
        await seen.pilot.press("down", "ctrl+d")
        await settled(seen)
        await seen.pilot.press("ctrl+home")
        await seen.pilot.press("ctrl+z")
        await settled(seen)
        assert chosen(seen) == "Poetry"
        assert "in the trash" not in notices(seen)


async def test_an_export_without_room_is_told_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    three(tmp_path)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    async with window(tmp_path) as seen:
        await opened(seen)
        monkeypatch.setattr(os, "fsync", full)
        await seen.pilot.press("ctrl+x")
        await settled(seen)
        monkeypatch.undo()
        assert "No space left on device" in notices(seen)
        assert list((tmp_path / "work").iterdir()) == []


async def test_a_title_of_wide_letters_gives_a_name_that_fits(tmp_path: Path) -> None:
    keep(tmp_path, Made(1).talk("hi").titled("\U00020000" * 80))
    async with window(tmp_path) as seen:
        await opened(seen)
        await burst(seen, "ctrl+x", "ctrl+x")
        names = sorted(file.name for file in (tmp_path / "work").iterdir())
        assert names == ["\U00020000" * 60 + end for end in (" 2.md", ".md")]


async def test_what_holds_no_message_is_not_exported(tmp_path: Path) -> None:
    file = keep(tmp_path, Made(1).talk("hi"))
    file.write_text("garbage\n")
    async with window(tmp_path) as seen:
        await opened(seen)
        await seen.pilot.press("ctrl+x")
        await settled(seen)
        assert "holds no message" in notices(seen) and "Exported" not in notices(seen)
        assert list((tmp_path / "work").iterdir()) == []


async def test_half_a_character_in_a_title_ends_nothing(tmp_path: Path) -> None:
    made = Made(1).talk("hi")
    made.lines.append('{"type":"custom-title","customTitle":"\\ud800 lone"}')
    keep(tmp_path, made)
    async with window(tmp_path) as seen:
        await opened(seen)
        assert titles(seen) == ["\ufffd lone"]
        await burst(seen, *"lone")
        assert titles(seen) == ["\ufffd lone"]


async def test_a_transcript_that_cannot_be_searched_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    three(tmp_path)
    seen_texts = search.seen_texts

    def deep(record: Record) -> object:
        if record.session_id == session_id(1):
            raise RecursionError
        return seen_texts(record)

    monkeypatch.setattr(search, "seen_texts", deep)
    async with window(tmp_path) as seen:
        await opened(seen)
        await burst(seen, *"needle")
        await burst(seen, "ctrl+u", *"roses")
        assert titles(seen) == ["Poetry"]
        assert notices(seen).count(f"could be searched: {session_id(1)}.") == 1
