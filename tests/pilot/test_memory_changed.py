from __future__ import annotations

import asyncio
from pathlib import Path

from textual import events

from tests.pilot.memories import SHOP, Memories, memories

BASE = "one\ntwo\nthree\nfour\nfive\n"


async def test_a_clean_document_follows_the_disk(tmp_path: Path) -> None:
    async with memories(tmp_path, {"MEMORY.md": BASE}) as shown:
        await shown.press("enter", "down", "down", "right")
        shown.desk.write_as("assistant", "MEMORY.md", BASE + "six\n")
        await shown.settle()
        assert shown.editor.text == BASE + "six\n" and shown.editor.cursor_location == (2, 1)
        assert not shown.buffer.is_dirty and "6 / 200" in shown.said("head")


async def clash(
    shown: Memories, mine: str = "x", theirs: str = "one\ntwo\nthree\nfour\nFIVE\n"
) -> None:
    await shown.press("enter", *mine)
    shown.desk.write_as("assistant", "MEMORY.md", theirs)
    await shown.settle()
    assert shown.mode == "choice"
    assert "was changed by another program while you wrote" in shown.said("asked")
    row = str(shown.screen.query_one("ChoiceRow").render())
    assert "1 Keep mine" in row and "2 Take theirs" in row and "3 merge" in row


async def test_mine_is_written_over_theirs(tmp_path: Path) -> None:
    async with memories(tmp_path, {"MEMORY.md": BASE}) as shown:
        await clash(shown)
        await shown.press("1")
        assert shown.desk.texts["MEMORY.md"] == "x" + BASE and not shown.buffer.is_dirty
        assert len(shown.desk.changes["MEMORY.md"]) == 3


async def test_theirs_is_taken_and_mine_kept(tmp_path: Path) -> None:
    async with memories(tmp_path, {"MEMORY.md": BASE}) as shown:
        await clash(shown)
        await shown.press("2")
        assert shown.editor.text == "one\ntwo\nthree\nfour\nFIVE\n"
        assert shown.desk.aside == [("MEMORY.md", "x" + BASE)] and not shown.buffer.is_dirty


async def test_both_are_merged_and_nothing_is_written_before_it_is_saved(tmp_path: Path) -> None:
    async with memories(tmp_path, {"MEMORY.md": BASE}) as shown:
        await clash(shown)
        await shown.press("3")
        both = "xone\ntwo\nthree\nfour\nFIVE\n"
        assert shown.editor.text == both and shown.buffer.is_dirty
        assert shown.desk.texts["MEMORY.md"] == "one\ntwo\nthree\nfour\nFIVE\n"
        await shown.press("ctrl+s")
        assert shown.desk.texts["MEMORY.md"] == both
        await shown.press("ctrl+z")
        assert shown.editor.text == "x" + BASE


async def test_a_merge_with_conflicts_says_so(tmp_path: Path) -> None:
    async with memories(tmp_path, {"MEMORY.md": BASE}) as shown:
        await clash(shown, theirs="ONE\ntwo\nthree\nfour\nfive\n")
        await shown.press("3")
        text = shown.editor.text
        assert text.startswith("<<<<<<< mine\nxone\n=======\nONE\n>>>>>>> theirs\ntwo\n")
        assert "in 1 place:" in shown.notices()


async def test_a_conflict_that_is_put_off_comes_again_when_saving(tmp_path: Path) -> None:
    async with memories(tmp_path, {"MEMORY.md": BASE}) as shown:
        await clash(shown)
        await shown.press("escape", *"yz")
        assert shown.editor.text == "xyz" + BASE and "conflict" in shown.lines()[0]
        await shown.press("ctrl+s")
        assert shown.mode == "choice"
        await shown.press("1")
        assert shown.desk.texts["MEMORY.md"] == "xyz" + BASE


async def test_a_conflict_that_only_saving_finds_is_asked_about(tmp_path: Path) -> None:
    async with memories(tmp_path, {"MEMORY.md": BASE}) as shown:
        await shown.press("enter", "x")
        shown.desk.texts["MEMORY.md"] = "theirs\n"
        await shown.press("ctrl+s", "2")
        assert shown.editor.text == "theirs\n" and shown.desk.aside == [("MEMORY.md", "x" + BASE)]


async def test_the_question_waits_until_the_typing_pauses(tmp_path: Path) -> None:
    async with memories(tmp_path, {"MEMORY.md": BASE}) as shown:
        await shown.press("enter", "x")
        app, clock = shown.seen.app, shown.seen.clock
        sleep = clock.sleep

        async def typing(seconds: float) -> None:
            if len(shown.editor.text) < len(BASE) + 4:
                app.post_message(events.Key("1", "1"))
                await shown.seen.pilot.pause()
            await sleep(seconds)

        clock.sleep = typing
        shown.desk.write_as("other", "MEMORY.md", "theirs\n")
        await shown.settle()
        assert shown.editor.text.startswith("x111") and shown.mode == "choice"


async def test_a_document_that_is_deleted_stays_open_and_is_written_anew(tmp_path: Path) -> None:
    async with memories(tmp_path, {"MEMORY.md": BASE}) as shown:
        await shown.press("enter")
        shown.desk.delete_as_other("MEMORY.md")
        await shown.settle()
        assert "was deleted by another program" in shown.notices()
        assert shown.editor.text == BASE and shown.buffer.is_dirty
        assert "not on disk" in shown.lines()[0]
        await shown.press("ctrl+s")
        assert shown.desk.texts["MEMORY.md"] == BASE and not shown.buffer.is_dirty
        assert "was deleted" not in shown.notices()


async def test_a_document_that_is_deleted_and_made_again_is_followed(tmp_path: Path) -> None:
    async with memories(tmp_path, {"MEMORY.md": BASE}) as shown:
        await shown.press("enter")
        shown.desk.delete_as_other("MEMORY.md")
        await shown.settle()
        shown.desk.write_as("other", "MEMORY.md", "again\n")
        await shown.settle()
        assert shown.editor.text == "again\n" and not shown.buffer.is_dirty


async def test_keys_behind_ctrl_s_go_to_the_text_when_there_is_a_conflict(tmp_path: Path) -> None:
    async with memories(tmp_path, {"MEMORY.md": BASE}) as shown:
        await shown.press("enter", "x")
        shown.desk.texts["MEMORY.md"] = "theirs\n"
        await shown.burst("ctrl+s", "1", "2", "escape", "k", "j", "enter", "3")
        assert shown.editor.text == "x123" + BASE and shown.mode == "choice"
        assert shown.desk.texts["MEMORY.md"] == "theirs\n" and shown.desk.aside == []


async def test_a_key_from_before_the_question_goes_to_the_text(tmp_path: Path) -> None:
    async with memories(tmp_path, {"MEMORY.md": BASE}) as shown:
        await shown.press("enter")
        early = [events.Key("1", "1"), events.Paste("2")]
        await shown.press("x")
        shown.desk.write_as("other", "MEMORY.md", "theirs\n")
        await shown.settle()
        assert shown.mode == "choice"
        for event in early:
            shown.seen.app.post_message(event)
            await shown.settle()
        assert shown.editor.text == "x12" + BASE and shown.mode == "choice"
        await shown.press("1")
        assert shown.desk.texts["MEMORY.md"] == "x12" + BASE


async def test_what_is_typed_during_a_merge_comes_behind_it(tmp_path: Path) -> None:
    merges = asyncio.Event()

    async def slow() -> None:
        await merges.wait()

    async with memories(tmp_path, {"MEMORY.md": BASE}) as shown:
        shown.desk.slow = slow
        await clash(shown)
        for event in (*(events.Key(key, key) for key in "3yz"), events.Paste("!")):
            shown.seen.app.post_message(event)
            for _ in range(50):  # the pilot would wait for the key to have acted
                await asyncio.sleep(0)
        assert shown.editor.text == "x" + BASE
        merges.set()
        await shown.settle()
        assert shown.editor.text == "xyz!one\ntwo\nthree\nfour\nFIVE\n"


async def test_a_document_that_cannot_be_read_any_more_is_told_once_and_saved_over(
    tmp_path: Path,
) -> None:
    async with memories(tmp_path, {"MEMORY.md": BASE}) as shown:
        await shown.press("enter", "x")
        shown.desk.unreadable.add("MEMORY.md")
        shown.desk.write_as("other", "MEMORY.md", "\0")
        await shown.settle()
        assert "it holds NULs" in shown.notices() and shown.mode == "edit"
        asked = len(shown.desk.asked)
        shown.desk.announce()
        await shown.settle()
        assert len(shown.desk.asked) == asked
        await shown.press("ctrl+s")
        row = str(shown.screen.query_one("ChoiceRow").render())
        assert "1 Keep mine" in row and "2 Leave it" in row and "merge" not in row
        await shown.press("2")
        assert shown.desk.texts["MEMORY.md"] == "\0" and shown.buffer.is_dirty
        await shown.press("y", "ctrl+s", "1")
        assert shown.desk.texts["MEMORY.md"] == "xy" + BASE and not shown.buffer.is_dirty
        assert "NULs" not in shown.notices()


async def test_an_unchanged_text_over_what_cannot_be_read_can_be_written_back(
    tmp_path: Path,
) -> None:
    async with memories(tmp_path, {"MEMORY.md": BASE}) as shown:
        await shown.press("enter")
        shown.desk.unreadable.add("MEMORY.md")
        shown.desk.write_as("other", "MEMORY.md", "\0")
        await shown.settle()
        await shown.press("ctrl+s", "1")
        assert shown.desk.texts["MEMORY.md"] == BASE


async def test_links_that_follow_a_new_name_are_no_conflict(tmp_path: Path) -> None:
    async with memories(tmp_path) as shown:
        await shown.press("enter", *"Hi ", "escape", "G", "m", "ctrl+u", *"tests", "enter")
        linked = SHOP["MEMORY.md"].replace("testing.md", "tests.md")
        assert shown.desk.texts["MEMORY.md"] == linked and shown.mode == "list"
        await shown.press("g", "enter")
        assert shown.mode == "edit" and shown.editor.text == "Hi " + linked
        assert shown.buffer.theirs is None and shown.buffer.is_dirty
        await shown.press("ctrl+s")
        assert shown.desk.texts["MEMORY.md"] == "Hi " + linked


async def test_a_link_that_was_rewritten_meanwhile_stays_as_it_was_written(
    tmp_path: Path,
) -> None:
    async with memories(tmp_path) as shown:
        await shown.press("enter", "down", "down", "x", "escape", "G", "m", "ctrl+u")
        await shown.press(*"tests", "enter")
        assert "stay as you wrote them" in shown.notices() and shown.mode == "list"
        await shown.press("g", "enter")
        assert shown.mode == "edit" and "x- [Testing](testing.md)" in shown.editor.text


async def test_what_another_did_to_the_entry_is_asked_about_also_when_links_follow(
    tmp_path: Path,
) -> None:
    async with memories(tmp_path) as shown:
        await shown.press("enter", *"Hi ", "escape", "G", "m", "ctrl+u", *"tests")
        shown.desk.texts["MEMORY.md"] += "theirs (testing.md)\n"  # not seen by the watcher yet
        await shown.press("enter")
        await shown.press("g", "enter")
        assert shown.mode == "choice" and "by another program" in shown.said("asked")
