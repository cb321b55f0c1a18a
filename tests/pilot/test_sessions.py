from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input, Static

from app.installation import Options
from app.sessions.ownership import Ownership, own
from tests.fakes.sessions import Made, session_id
from tests.pilot.picker import (
    chosen,
    keep,
    lines,
    notices,
    opened,
    picker,
    settled,
    shown,
    three,
    titles,
)
from tests.pilot.stage import window
from widgets.ask.line import LineBox
from widgets.notices import NoticeRows
from widgets.screens.dialogs.help import HelpScreen
from widgets.screens.sessions import SessionScreen
from widgets.sessions.session_list import SessionList


async def test_the_sessions_of_the_folder_newest_first(tmp_path: Path) -> None:
    size = three(tmp_path)[0].stat().st_size
    async with window(tmp_path, size=(120, 30)) as seen:
        await opened(seen)
        assert titles(seen) == ["mend the clock", "Poetry", "clean up"]
        first, second, third = lines(seen)[1:4]
        assert first.startswith("› ✓ mend the clock")
        assert first.split()[-6:] == ["1", "h", "1", str(size), "$1.00", "complete"]
        assert "write a poem" in second and "2 h" in second
        assert "interrupted" in third and "$0.00" in third


async def test_the_prompt_keeps_its_text_and_the_key_is_its_own(tmp_path: Path) -> None:
    async with window(tmp_path) as seen:
        await seen.type("half a thought")
        await seen.pilot.press("ctrl+r")
        assert not isinstance(seen.app.screen, SessionScreen)
        assert seen.prompt.text == "half a thought"


async def test_a_session_is_chosen_and_opened(tmp_path: Path) -> None:
    three(tmp_path)
    async with window(tmp_path) as seen:
        await opened(seen)
        await seen.pilot.press("down", "down", "down", "up", "enter")
        await seen.until(lambda state: state.session.session_id == session_id(2))
        assert "Roses." in seen.shown()
        assert seen.app.screen is seen.screen and seen.prompt.has_focus


async def test_resume_opens_the_list_and_with_an_id_the_session(tmp_path: Path) -> None:
    three(tmp_path)
    async with window(tmp_path) as seen:
        await seen.send("/resume")
        await settled(seen)
        await seen.pilot.press("escape")
        assert seen.app.screen is seen.screen
        await seen.send(f"/resume {session_id(1)}")
        await seen.until(lambda state: state.session.session_id == session_id(1))
        await opened(seen)
        assert "here" in lines(seen)[1]
        await seen.pilot.press("enter")
        assert seen.app.screen is seen.screen
        assert seen.state.session.session_id == session_id(1)


async def test_typing_finds_titles_and_texts(tmp_path: Path) -> None:
    three(tmp_path)
    async with window(tmp_path) as seen:
        await opened(seen)
        await seen.pilot.press(*"needle")
        await shown(seen, lambda: titles(seen) == ["mend the clock"])
        assert "assistant: The needle was bent." in lines(seen)[2]
        await seen.pilot.press("ctrl+u", *"poet")
        await shown(seen, lambda: titles(seen) == ["Poetry"])
        await seen.pilot.press(*"xx")
        await shown(seen, lambda: titles(seen) == [])
        assert "No session here holds “poetxx”." in "\n".join(lines(seen))
        await seen.pilot.press("ctrl+u")
        await shown(seen, lambda: len(titles(seen)) == 3)


async def test_the_next_key_ends_the_search_before_it(tmp_path: Path) -> None:
    three(tmp_path)
    async with window(tmp_path) as seen:
        screen = await opened(seen)
        await seen.pilot.press(*"roses")
        await settled(seen)
        running = [w for w in seen.app.workers if w.group == "search" and not w.is_finished]
        assert running == []
        assert titles(seen) == ["Poetry"]
        assert screen.field.value == "roses"


async def test_what_is_typed_before_the_list_is_there_counts(tmp_path: Path) -> None:
    three(tmp_path)
    async with window(tmp_path) as seen:
        await seen.pilot.press("ctrl+r")
        while not isinstance(seen.app.screen, SessionScreen):
            await seen.pilot.pause()
        screen = picker(seen)
        screen.workers.cancel_all()
        screen._reading = True
        screen.field.value = "poet"
        await seen.pilot.pause()
        assert "reading" in "\n".join(lines(seen))
        screen._list()
        await shown(seen, lambda: titles(seen) == ["Poetry"])


async def test_the_scope_widens(tmp_path: Path) -> None:
    three(tmp_path)
    keep(tmp_path, Made(4).talk("elsewhere"), 0.5, "other")
    async with window(tmp_path) as seen:
        await opened(seen)
        await seen.pilot.press("tab")
        await settled(seen)
        assert "[work trees]" in str(picker(seen).query_one("#sessions-head", Static).content)
        assert len(titles(seen)) == 3
        await seen.pilot.press("tab")
        await settled(seen)
        assert titles(seen)[0] == "elsewhere"
        await seen.pilot.press("tab")
        await settled(seen)
        assert len(titles(seen)) == 3


async def test_a_session_gets_another_name(tmp_path: Path) -> None:
    file, *_ = three(tmp_path)
    async with window(tmp_path) as seen:
        screen = await opened(seen)
        await seen.pilot.press("ctrl+t")
        line = screen.query_one(LineBox).query_one(Input)
        assert line.value == "mend the clock"
        line.value = "Clockwork"
        line.cursor_position = 5
        await seen.pilot.press(*["ctrl+d"] * 4, "enter")
        await settled(seen)
        assert file.read_text().splitlines()[-1] == (
            f'{{"type":"custom-title","customTitle":"Clock","sessionId":"{file.stem}"}}'
        )
        assert chosen(seen) == "Clock" and screen.field.has_focus
        await seen.pilot.press("ctrl+t", "escape")
        await seen.pilot.pause()
        assert not screen.query(LineBox) and seen.app.screen is screen


async def test_the_session_on_screen_gets_another_name(tmp_path: Path) -> None:
    file, *_ = three(tmp_path)
    async with window(tmp_path) as seen:
        await seen.send(f"/resume {session_id(1)}")
        await seen.until(lambda state: state.session.session_id == session_id(1))
        screen = await opened(seen)
        await seen.pilot.press("ctrl+t")
        screen.query_one(LineBox).query_one(Input).value = "Now"
        await seen.pilot.press("enter")
        await settled(seen)
        assert seen.state.session.title == "Now"
        assert file.read_text().count("custom-title") == 1


async def test_what_another_process_has_open_is_left_alone(tmp_path: Path) -> None:
    file, *_ = three(tmp_path)
    before = file.read_bytes()
    owner = own(file)
    assert isinstance(owner, Ownership)
    async with window(tmp_path) as seen:
        screen = await opened(seen)
        assert "open" in lines(seen)[1]
        await seen.pilot.press("ctrl+d")
        await settled(seen)
        assert "is open in this window" in notices(seen)
        await seen.pilot.press("ctrl+t")
        screen.query_one(LineBox).query_one(Input).value = "x"
        await seen.pilot.press("enter")
        await settled(seen)
        assert file.read_bytes() == before
    owner.release()


async def test_the_trash_gives_back_what_it_got(tmp_path: Path) -> None:
    file, other, _ = three(tmp_path)
    before = file.read_bytes()
    async with window(tmp_path) as seen:
        screen = await opened(seen)
        await seen.pilot.press("ctrl+d")
        await settled(seen)
        assert not file.exists() and titles(seen) == ["Poetry", "clean up"]
        assert "“mend the clock” is in the trash.  ctrl+z Undo" in notices(seen)
        assert screen.query_one(NoticeRows).display
        await seen.pilot.press("ctrl+d")
        await settled(seen)
        assert not other.exists()
        await seen.pilot.press("ctrl+z", "ctrl+z", "ctrl+z")
        await settled(seen)
        assert file.read_bytes() == before and other.exists()
        assert len(titles(seen)) == 3


async def test_an_export_overwrites_nothing(tmp_path: Path) -> None:
    keep(tmp_path, Made(1).talk("hi", "Hello.").titled("../a/b: [c]\x1b"))
    async with window(tmp_path) as seen:
        await opened(seen)
        await seen.pilot.press("ctrl+x")
        await settled(seen)
        await seen.pilot.press("ctrl+x")
        await settled(seen)
        names = sorted(file.name for file in (tmp_path / "work").iterdir())
        assert names == ["a b c 2.md", "a b c.md"]
        assert "Hello." in (tmp_path / "work" / "a b c.md").read_text()
        assert "Exported to" in notices(seen)


async def test_text_from_files_is_never_markup(tmp_path: Path) -> None:
    hostile = "[red]x[/] \x1b[2J \u202e y"
    keep(tmp_path, Made(1).talk(hostile, f"needle {hostile}").titled(hostile))
    async with window(tmp_path, size=(120, 30)) as seen:
        await opened(seen)
        await seen.pilot.press(*"needle")
        await settled(seen)
        text = "\n".join(lines(seen))
        assert "[red]x[/]" in text and "\x1b" not in text and "\u202e" not in text


@pytest.mark.parametrize("size", [(20, 5), (40, 10), (80, 24), (120, 40)])
async def test_every_line_fits_its_terminal(tmp_path: Path, size: tuple[int, int]) -> None:
    for number in range(1, 60):
        keep(tmp_path, Made(number).talk(f"日本語 {number} " * 9, "answer"), number)
    async with window(tmp_path, size=size) as seen:
        screen = await opened(seen)
        await seen.pilot.press(*["pagedown"] * 3, "ctrl+end")
        assert chosen(seen).startswith("日本語 59")
        rows = screen.query_one(SessionList)
        for y in range(rows.size.height):
            assert rows.render_line(y).cell_length == rows.size.width
        if size[1] >= 10:
            assert any("日本語 59"[:6] in line for line in lines(seen))
        await seen.pilot.press("ctrl+home")
        assert chosen(seen).startswith("日本語 1 ")


async def test_an_empty_list_says_so(tmp_path: Path) -> None:
    async with window(tmp_path) as seen:
        await opened(seen)
        assert "No session here yet." in "\n".join(lines(seen))
        await seen.pilot.press("enter", "ctrl+t", "ctrl+x", "ctrl+d", "ctrl+z", "down")
        assert isinstance(seen.app.screen, SessionScreen)


async def test_what_cannot_be_read_is_not_opened(tmp_path: Path) -> None:
    file = keep(tmp_path, Made(1).talk("hi"))
    file.write_text("garbage\n")
    async with window(tmp_path) as seen:
        await opened(seen)
        await seen.pilot.press("enter")
        assert isinstance(seen.app.screen, SessionScreen)
        assert "cannot be read" in notices(seen)


async def test_help_names_the_keys(tmp_path: Path) -> None:
    async with window(tmp_path) as seen:
        await opened(seen)
        await seen.pilot.press("f1")
        screen = seen.app.screen
        assert isinstance(screen, HelpScreen)
        text = str(screen._text())
        assert "ctrl+d" in text and "Trash" in text
        await seen.pilot.press("escape", "escape", "f1")
        assert isinstance(seen.app.screen, HelpScreen)
        assert "ctrl+r" in str(seen.app.screen._text()) and "/resume" in str(
            seen.app.screen._text()
        )


async def test_resume_without_an_id_shows_the_list_first(tmp_path: Path) -> None:
    three(tmp_path)
    async with window(tmp_path, options=Options(pick=True, fork=True)) as seen:
        await settled(seen)
        await seen.pilot.press("down", "enter")
        await seen.until(lambda state: state.session.title.startswith("Poetry"))
        assert seen.state.session.session_id != session_id(2), "the branch that was asked for"
        first = seen.state.session.session_id
        await seen.send(f"/resume {session_id(1)}")
        await seen.until(lambda state: state.session.session_id != first)
        assert seen.state.session.session_id == session_id(1), "only the first was to be one"
