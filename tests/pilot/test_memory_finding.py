from __future__ import annotations

from pathlib import Path

from tests.pilot.memories import memories


async def test_search_shows_hits_as_one_types_and_goes_to_the_line(tmp_path: Path) -> None:
    async with memories(tmp_path) as shown:
        await shown.press("slash", *"sleep")
        assert [line.split()[:2] for line in shown.lines("hits") if line] == [["›", "testing.md:4"]]
        await shown.press("enter")
        assert shown.mode == "edit" and shown.buffer.name == "testing.md"
        assert shown.editor.cursor_location == (3, 0)
        await shown.press("escape", "slash", *"zebra")
        assert "No document holds “zebra”" in "\n".join(shown.lines("hits"))
        await shown.press("escape")
        assert shown.mode == "list"


async def test_a_search_that_is_typed_and_taken_at_once_counts_as_typed(tmp_path: Path) -> None:
    async with memories(tmp_path) as shown:
        await shown.burst("slash", *"clock", "down", "enter")
        assert shown.buffer.name == "testing.md" and shown.editor.cursor_location == (2, 0)
        assert "/clock" in shown.desk.asked


async def test_words_are_found_and_replaced(tmp_path: Path) -> None:
    text = "Cat cat\ndog cat\ncatalogue Cat\n"
    async with memories(tmp_path, {"MEMORY.md": text}) as shown:
        await shown.press("enter", "ctrl+f", *"cat")
        assert "find (1 of 5)" in shown.said("said")
        await shown.press("enter", "down")
        assert "find (3 of 5)" in shown.said("said")
        await shown.press("up", "ctrl+r", *"cow")
        assert "replace “cat” with (2 of 5)" in shown.said("said")
        await shown.press("enter")
        assert shown.editor.text == "Cat cow\ndog cat\ncatalogue Cat\n"
        await shown.press("ctrl+a")
        assert shown.editor.text == "cow cow\ndog cow\ncowalogue cow\n"
        assert "4 replaced" in shown.notices() and shown.mode == "edit"
        await shown.press("ctrl+z")
        assert shown.editor.text == "Cat cow\ndog cat\ncatalogue Cat\n"


async def test_capitals_make_the_case_count(tmp_path: Path) -> None:
    async with memories(tmp_path, {"MEMORY.md": "Cat cat CAT\n"}) as shown:
        await shown.burst("enter", "ctrl+f", *"Cat", "enter", "escape", "x")
        assert shown.editor.text == "x cat CAT\n"
        await shown.press("ctrl+f", *"zebra", "enter")
        assert "find (none)" in shown.said("said")


async def test_a_question_leaves_the_words_that_were_typed(tmp_path: Path) -> None:
    async with memories(tmp_path, {"MEMORY.md": "one\ntwo\n"}) as shown:
        await shown.press("enter", "x", "ctrl+f", *"tw")
        shown.desk.write_as("other", "MEMORY.md", "theirs\n")
        await shown.settle()
        assert shown.mode == "choice"
        await shown.press("escape", "o")
        assert shown.mode == "find" and shown.screen.line.value == "two"
        await shown.press("ctrl+r", *"TW")
        shown.desk.write_as("other", "MEMORY.md", "theirs again\n")
        await shown.settle()
        await shown.press("escape", "O")
        assert shown.mode == "replace" and shown.screen.line.value == "TWO"
