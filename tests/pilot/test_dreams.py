from __future__ import annotations

import asyncio
from pathlib import Path
from time import perf_counter

import pytest
from msgspec.structs import replace
from rich.cells import cell_len
from textual import events

from app.background.dream.record import Dream, DreamFile, DreamLog
from app.state import facts as f
from app.storage.documents import Author
from tests.fakes.dreams import COMPLETED, FAILED, HELD, PARTLY, Dreams, night
from tests.fakes.tasks import DREAM
from tests.pilot.dream_stage import at, keys, on_screen, screen, settled, stage
from tests.pilot.picker import notices
from tests.pilot.stage import window
from tests.pilot.task_stage import drawn, press
from widgets.screens.chat import ChatScreen
from widgets.screens.dialogs.help import HelpScreen
from widgets.screens.tasks import TasksScreen

NEXT, BEFORE = "right_square_bracket", "left_square_bracket"
OLDER = night(COMPLETED, 31)


async def test_the_list_is_walked_and_tells_of_each_dream(tmp_path: Path) -> None:
    async with stage(tmp_path, (HELD, OLDER, night(FAILED, 29)), (80, 24)) as (seen, _):
        assert "held" in at(seen) and "1 waits for you" in on_screen(seen)
        assert "It would remove 61 % of what is remembered." in on_screen(seen)
        for key, words in (("down", "completed"), ("j", "failed"), ("down", "failed"),
                           ("home", "held"), ("end", "failed"), ("up", "completed"),
                           ("pageup", "held"), ("pagedown", "failed")):  # fmt: skip
            await keys(seen, key)
            assert words in at(seen), key
        assert "It took longer than 10 minutes." in on_screen(seen)
        assert "unknown price" in on_screen(seen)


async def test_the_changes_are_read_from_the_first_file_on_until_esc(tmp_path: Path) -> None:
    async with stage(tmp_path, (HELD,), (80, 24)) as (seen, _):
        await keys(seen, "enter")
        assert "[x] MEMORY.md  +1 −3" in at(seen)
        assert not screen(seen).list.region
        assert "seen in: the entry names clock.md twice" in on_screen(seen)
        assert "3 − - [Clock](clock.md): rules for time" in on_screen(seen)
        await keys(seen, NEXT, NEXT)
        assert "hunk 2 of 2, line 8" in at(seen)
        await keys(seen, BEFORE)
        assert "hunk 1 of 2, line 3" in at(seen)
        await keys(seen, "end")
        assert "Nothing of use." in at(seen)
        await keys(seen, "pageup", "up", "down", "pagedown", "j")
        assert "Nothing of use." in at(seen)
        await keys(seen, "home")
        assert "dream  held" in at(seen)
        await keys(seen, "tab")
        assert "02:10" in at(seen) and screen(seen).list.region
        await keys(seen, "tab", "escape", "escape")
        assert isinstance(seen.app.screen, ChatScreen)


async def test_what_is_accepted_is_published_and_a_conflict_is_named(tmp_path: Path) -> None:
    async with stage(tmp_path, (HELD, OLDER)) as (seen, desk):
        desk.conflicts.add("clock.md")
        await keys(seen, NEXT, "space")
        assert "[ ] hunk 1 of 2, line 3  refused" in at(seen)
        assert "[-] MEMORY.md" in on_screen(seen)
        assert "accepted: 3 of 4 hunks" in on_screen(seen)
        assert "space Accept" in on_screen(seen)
        await keys(seen, "space", NEXT, "space", "end", "f")
        assert "[ ] old.md  deleted −3" in on_screen(seen)
        await keys(seen, "a")
        assert desk.asked == [
            ("accept", HELD.id, {"MEMORY.md": [0], "clock.md": [0], "old.md": []})
        ]
        said = notices(seen)
        assert "Published: 1 file changed. Refused: 2 hunks." in said and "clock.md" in said
        assert "conflict" in on_screen(seen) and "waits for you" not in on_screen(seen)
        await keys(seen, "a", "d", "space", "f")
        assert len(desk.asked) == 1 and "This dream is completed" in notices(seen)


async def test_a_whole_dream_is_accepted_from_the_list(tmp_path: Path) -> None:
    async with stage(tmp_path, (HELD,)) as (seen, desk):
        await keys(seen, "space", "f")
        assert "Put the cursor on a hunk or a file" in notices(seen)
        await keys(seen, "a")
        assert desk.asked == [("accept", HELD.id, None)]
        assert "Published: 3 files changed." in notices(seen)


async def test_where_nothing_is_accepted_it_is_asked_once_and_discarded(tmp_path: Path) -> None:
    async with stage(tmp_path, (HELD,)) as (seen, desk):
        await keys(seen, "enter", "space", NEXT, NEXT, NEXT, "f", NEXT, "space")
        assert "accepted: 0 of 4 hunks" in on_screen(seen)
        await keys(seen, "a")
        assert "1 Discard" in on_screen(seen) and "2 Go on looking" in on_screen(seen)
        await keys(seen, "space", "f", "U", "2")
        assert desk.asked == [] and "accepted: 0 of 4 hunks" in on_screen(seen)
        await keys(seen, "a", "1")
        assert desk.asked == [("discard", HELD.id)]
        assert "discarded" in on_screen(seen) and "Discarded: memory stays" in notices(seen)


async def test_a_dream_is_discarded_only_when_that_is_meant(tmp_path: Path) -> None:
    async with stage(tmp_path, (HELD,)) as (seen, desk):
        await keys(seen, "d", "escape", "d", "2", "d", "right", "down", "enter")
        assert desk.asked == []
        await keys(seen, "d", "enter")
        assert desk.asked == [("discard", HELD.id)]


async def test_one_file_is_taken_back_and_then_the_rest(tmp_path: Path) -> None:
    async with stage(tmp_path, (COMPLETED, OLDER)) as (seen, desk):
        await keys(seen, "enter", NEXT, NEXT, NEXT, "u")
        assert desk.asked == [("revert", COMPLETED.id, "clock.md")]
        assert "Taken back: clock.md." in notices(seen)
        assert "clock.md  +1 −1  taken back" in on_screen(seen)
        assert "partly back" in on_screen(seen)
        await keys(seen, "u")
        assert len(desk.asked) == 1 and "Nothing of clock.md" in notices(seen)
        desk.conflicts.add("old.md")
        await keys(seen, "U")
        assert "Take the dream back? 2 files" in on_screen(seen)
        await keys(seen, "1")
        assert desk.asked[1:] == [("revert", COMPLETED.id)]
        assert "Taken back: MEMORY.md. old.md was changed at the same place" in notices(seen)
        desk.conflicts.clear()
        await keys(seen, "U", "1", "U")
        assert "reverted" in on_screen(seen) and "Nothing is to be taken back" in notices(seen)


async def test_u_in_the_list_asks_for_the_whole_dream(tmp_path: Path) -> None:
    async with stage(tmp_path, (PARTLY,)) as (seen, desk):
        await keys(seen, "u", "1")
        assert desk.asked == [("revert", PARTLY.id)]


async def test_keys_that_come_at_once_leave_the_cursor_where_the_last_one_put_it(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path, (HELD, OLDER), (80, 24)) as (seen, _):
        for key, character in (("enter", None), (NEXT, "]"), (NEXT, "]"), ("space", " ")):
            seen.app.post_message(events.Key(key, character))
        await settled(seen)
        assert "[ ] hunk 2 of 2, line 8  refused" in at(seen)


async def test_keys_act_in_the_order_typed(tmp_path: Path) -> None:
    async with stage(tmp_path, (HELD, OLDER)) as (seen, desk):
        await keys(seen, "a", "down", "U", "1", "up", "U", "1")
        assert [each[:2] for each in desk.asked] == [
            ("accept", HELD.id),
            ("revert", OLDER.id),
            ("revert", HELD.id),
        ]


async def test_what_fails_is_said_and_changes_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path, (HELD,)) as (seen, desk):
        desk.trouble = "The disk is full."
        await keys(seen, "a")
        assert "The disk is full. Nothing was changed." in notices(seen)
        assert "held" in at(seen)
        desk.trouble = ""
        await keys(seen, "a")
        assert "completed" in at(seen)


async def test_what_was_read_before_a_dream_was_published_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(tmp_path, (HELD,)) as (seen, desk):
        waits, real = asyncio.Event(), desk.dreams
        is_first = True

        async def slow() -> list[Dream]:
            nonlocal is_first
            found, was_first, is_first = await real(), is_first, False
            if was_first:
                await waits.wait()
            return found

        monkeypatch.setattr(desk, "dreams", slow)
        screen(seen).read_again()
        await seen.pilot.pause()
        made = await desk.accept(HELD.id)
        await screen(seen).replace(made)
        waits.set()
        await settled(seen)
        assert "completed" in at(seen)


async def test_a_dream_that_ends_meanwhile_comes_into_the_list(tmp_path: Path) -> None:
    async with stage(tmp_path, ()) as (seen, desk):
        assert "/dream begins one now." in on_screen(seen)
        await keys(seen, "a", "d", "u", "U", "y", "space", "f", "enter", "tab", "down", NEXT, "end")
        desk.kept = [HELD]
        seen.controller.emit(f.TaskChanged(replace(DREAM, status="completed", ended=0.0)))
        await settled(seen)
        assert "held" in at(seen) and "[x] MEMORY.md" in on_screen(seen)
        desk.kept = [COMPLETED]
        screen(seen).read_again()
        await settled(seen)
        assert "completed" in at(seen)


async def test_the_changes_are_copied_as_text(tmp_path: Path) -> None:
    async with stage(tmp_path, (HELD, night(FAILED, 29))) as (seen, _):
        await keys(seen, "y")
        copied = seen.app.clipboard
        assert "− - [Clock](clock.md): rules for time\n" in copied
        assert "seen in: nothing links to it\n" in copied
        await keys(seen, "down", "y")
        assert seen.app.clipboard == copied and "There is nothing to copy." in notices(seen)


async def test_the_help_lists_the_keys_in_force(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    settings = tmp_path / "config" / "settings.toml"
    settings.write_text('[keys]\n"dreams.accept" = "p"\n"dreams.yes" = "y"\n')
    async with stage(tmp_path, (HELD, OLDER)) as (seen, desk):
        assert "p Publish" in on_screen(seen)
        await keys(seen, "d")
        assert "y Discard" in on_screen(seen)
        await keys(seen, "escape", "f1")
        assert isinstance(seen.app.screen, HelpScreen)
        await keys(seen, "escape", "a", "p")
        assert [each[0] for each in desk.asked] == ["accept"]


async def test_the_mouse_chooses_and_opens(tmp_path: Path) -> None:
    async with stage(tmp_path, (HELD, OLDER)) as (seen, _):
        await seen.pilot.click("#dreams-list", offset=(5, 1))
        await settled(seen)
        assert "completed" in at(seen)
        await seen.pilot.click("#dreams-diff", offset=(5, 12))
        await settled(seen)
        assert screen(seen)._is_reading


async def test_the_commands_and_the_panel_open_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with window(tmp_path) as seen:
        real, fake = seen.controller.desks.background.dreams, Dreams((HELD,))
        begun: list[str] = []

        async def begin() -> None:
            begun.append("dream")

        monkeypatch.setattr(real, "dreams", fake.dreams)
        monkeypatch.setattr(real, "begin", begin)
        await seen.send("/dream")
        assert begun == ["dream"]
        await seen.send("/dreams")
        await settled(seen)
        assert "held" in at(seen)
        await keys(seen, "ctrl+c")
        assert isinstance(seen.app.screen, ChatScreen)
        over = replace(DREAM, status="completed", ended=0.0)
        seen.controller.emit(f.TaskChanged(over))
        await press(seen, "f2")
        assert "enter Changes" in drawn(seen)
        await keys(seen, "enter")
        assert "held" in at(seen)
        await keys(seen, "escape", "escape")
        seen.screen.show_tasks(over.id)
        for key in ("enter", "d"):
            await keys(seen, key)
            assert "held" in at(seen)
            await keys(seen, "escape")
            assert isinstance(seen.app.screen, TasksScreen)


def hostile() -> Dream:
    file = DreamFile(
        "日本語\x1b[31m.md",
        "a\r\nb\x07\n" + "漢" * 200,
        "a\nb\u202e\n" + "👍🏽 " * 90,
        evidence=("\x1b]0;x\x07 line\nbreak" + "語" * 90,),
    )
    return replace(
        HELD,
        files=(file, DreamFile("empty.md", None, "")),
        reason="\x1b[2J" + "語" * 99,
        started="soon",
        said="\x9b1m" * 9,
    )


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 12), (20, 5), (300, 100)])
async def test_any_text_is_shown_as_data_at_any_size(tmp_path: Path, size: tuple[int, int]) -> None:
    async with stage(tmp_path, (hostile(), OLDER), size) as (seen, _):
        await keys(seen, "enter", NEXT, NEXT, NEXT)
        shown = on_screen(seen)
        assert not {"\x1b", "\x07", "\x9b", "\u202e", "\r"} & set(shown)
        here = screen(seen)
        width = here.diff.scrollable_content_region.width
        for row in here._rows if width > 30 else ():
            assert sum(cell_len(text) for text, _ in row.cells) <= width
        assert shown.splitlines()[-1].strip()
        await keys(seen, "d", "escape", "space", "end", "f", "y", "escape", "escape")
        assert isinstance(seen.app.screen, ChatScreen)


async def test_a_change_of_size_keeps_the_cursor_on_its_hunk(tmp_path: Path) -> None:
    async with stage(tmp_path, (HELD, OLDER)) as (seen, _):
        await keys(seen, *[NEXT] * 3)
        await seen.pilot.resize_terminal(60, 20)
        await settled(seen)
        assert "hunk 1 of 1, line 3" in at(seen)


async def test_many_dreams_and_a_long_document_stay_quick(tmp_path: Path) -> None:
    before = "".join(f"line {i} of a long document, as it was\n" for i in range(4_000))
    after = "".join(
        f"line {i} of a long document, as it {'is' if i % 3 == 0 else 'was'}\n"
        for i in range(4_000)
    )
    long = replace(HELD, files=(DreamFile("long.md", before, after),))
    assert len(before) > 100_000
    many = [night(replace(COMPLETED, reason=f"{i}"), 1 + i % 31) for i in range(200)]
    many = [replace(dream, id=f"2025-{i:03}") for i, dream in enumerate(many)]
    async with stage(tmp_path, (long, *many)) as (seen, desk):
        began = perf_counter()
        await keys(seen, "enter", *["down"] * 20, NEXT, "space", "end")
        assert perf_counter() - began < 5
        assert "accepted: 1333 of 1334 hunks" in on_screen(seen)
        assert "more hunks not drawn; a copy has all." in on_screen(seen)
        await keys(seen, "f", "f", "f", "a", "1", "escape", "end")
        assert desk.asked == [("discard", HELD.id)]
        assert "completed" in at(seen)


async def test_the_real_desk_publishes_and_takes_back_byte_for_byte(tmp_path: Path) -> None:
    async with window(tmp_path, size=(120, 40)) as seen:
        desk = seen.controller.desks.background.dreams
        for file in HELD.files:
            text = file.before
            desk._documents.update(file.name, lambda _, text=text: text, Author("you"))
        DreamLog(desk.place.dreams).save(HELD)

        def memory() -> dict[str, str]:
            root = desk.place.memory
            return {each.name: each.read_text() for each in root.glob("*.md")}

        before = memory()
        await seen.send("/dreams")
        await settled(seen)
        await keys(seen, NEXT, "space", "a")
        assert "Published: 3 files changed. Refused: 1 hunk." in notices(seen)
        now = memory()
        assert "rules for time" in now["MEMORY.md"] and "Old" not in now["MEMORY.md"]
        assert "old.md" not in now and "monotonic" in now["clock.md"]
        await keys(seen, "end", "u")
        assert memory()["old.md"] == before["old.md"]
        await keys(seen, "U", "1")
        assert memory() == before
        assert "reverted" in on_screen(seen)
