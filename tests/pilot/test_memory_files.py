from __future__ import annotations

from pathlib import Path

from tests.pilot.memories import SHOP, memories


async def test_a_new_document_gets_a_name_and_is_written_by_saving(tmp_path: Path) -> None:
    async with memories(tmp_path) as shown:
        await shown.press("n", *"notes", "enter")
        assert shown.mode == "edit" and "notes.md" not in shown.desk.texts
        assert any("notes.md" in line and "not on disk" in line for line in shown.listed())
        await shown.press(*"hello", "ctrl+s")
        assert shown.desk.texts["notes.md"] == "hello"
        await shown.press("escape", "escape")
        assert shown.closed == 1


async def test_a_name_that_is_refused_stays_to_be_mended(tmp_path: Path) -> None:
    async with memories(tmp_path) as shown:
        await shown.press("n", *"../x", "enter")
        assert "cannot be a document's name" in shown.notices()
        assert shown.mode == "name" and shown.screen.line.value == "../x"
        await shown.press("escape")
        assert shown.mode == "list"


async def test_an_empty_folder_teaches_the_next_key(tmp_path: Path) -> None:
    async with memories(tmp_path, {}) as shown:
        assert "Nothing is remembered yet." in shown.listed()[0]
        assert "n New" in "\n".join(shown.listed())
        keys = ("enter", "h", "m", "delete", "u", "down", "G", "ctrl+s", "ctrl+e", "tab", "p", "p")
        await shown.press(*keys)
        assert shown.mode == "list"
        await shown.press("n", "enter", *"# Shop", "ctrl+s")
        assert shown.desk.texts == {"MEMORY.md": "# Shop"}


async def test_a_document_is_renamed_with_its_unsaved_text(tmp_path: Path) -> None:
    async with memories(tmp_path) as shown:
        await shown.press(
            "G", "enter", "x", "escape", "m", "end", *["backspace"] * 3, *"2", "enter"
        )
        assert "testing2.md" in shown.desk.texts and "testing.md" not in shown.desk.texts
        assert "deleted" not in shown.notices()
        assert shown.listed()[-1].startswith("›●  testing2.md")
        await shown.press("ctrl+s")
        assert shown.desk.texts["testing2.md"] == "x" + SHOP["testing.md"]


async def test_the_trash_asks_once_and_gives_back(tmp_path: Path) -> None:
    async with memories(tmp_path) as shown:
        await shown.press("G", "delete")
        row = str(shown.screen.query_one("ChoiceRow").render())
        assert "1 Move to trash" in row and "2 Keep" in row
        await shown.press("2")
        assert "testing.md" in shown.desk.texts
        await shown.press("enter", "x", "escape", "delete", "1")
        assert "testing.md" not in shown.desk.texts
        assert shown.desk.aside == [("testing.md", "x" + SHOP["testing.md"])]
        assert "trash" in shown.listed()[-2] and "testing.md" in shown.listed()[-1]
        await shown.press("G")
        assert "u Restore from trash" in shown.said("foot")
        await shown.press("u")
        assert shown.desk.texts["testing.md"] == SHOP["testing.md"]
        assert "testing.md is back" in shown.notices()


async def test_the_history_shows_changes_and_restores(tmp_path: Path) -> None:
    async with memories(tmp_path, {"MEMORY.md": "one\n"}) as shown:
        shown.desk.write_as("assistant", "MEMORY.md", "one\ntwo\n", "asked to note it")
        shown.desk.write_as("dream", "MEMORY.md", "two\n")
        await shown.settle()
        await shown.press("h")
        newest, middle, oldest = [line for line in shown.lines("versions") if line]
        assert "dream" in newest and "−1" in newest and "now" in newest
        assert "assistant" in middle and "+1" in middle
        await shown.press("down")
        assert "asked to note it" in shown.drawn("diff")
        await shown.press("up")
        assert "you" in oldest
        assert "− one" in shown.drawn("diff") and "What this change did" in shown.drawn("diff")
        await shown.press("G", "d")
        assert "From this version to now" in shown.drawn("diff")
        assert "− one" in shown.drawn("diff") and "+ two" in shown.drawn("diff")
        await shown.press("R")
        assert shown.desk.texts["MEMORY.md"] == "one\n"
        assert len([line for line in shown.lines("versions") if line]) == 4
        await shown.press("escape")
        assert shown.mode == "list"


async def test_the_name_of_a_document_that_is_not_written_yet_is_taken(tmp_path: Path) -> None:
    async with memories(tmp_path) as shown:
        await shown.press("n", *"zed", "enter", *"precious", "escape")
        await shown.press("g", "enter", "escape", "m", "ctrl+u", *"zed.md", "enter")
        assert "There is a document zed.md already" in shown.notices() and shown.mode == "name"
        assert set(shown.desk.texts) == set(SHOP)
        await shown.press("escape", "n", *"ZED", "enter")
        assert shown.mode == "name"
        await shown.press("escape", "G", "enter")
        assert shown.buffer.name == "zed.md" and shown.editor.text == "precious"


async def test_another_name_takes_the_place_of_the_one_that_is_proposed(tmp_path: Path) -> None:
    async with memories(tmp_path, {}) as shown:
        await shown.press("n")
        assert shown.screen.line.value == "MEMORY.md"
        await shown.press(*"notes", "enter")
        assert shown.buffer.name == "notes.md"


async def test_a_document_comes_back_as_it_was_trashed_not_as_it_was_typed(
    tmp_path: Path,
) -> None:
    async with memories(tmp_path) as shown:
        await shown.press("G", "enter", "x", "escape", "delete", "1", "G", "u")
        assert shown.desk.texts["testing.md"] == SHOP["testing.md"]
        await shown.press("h")
        assert any("set_aside" in line for line in shown.lines("versions"))


async def test_trashing_with_keys_that_come_at_once_goes_on(tmp_path: Path) -> None:
    async with memories(tmp_path) as shown:
        await shown.burst("G", "enter", "x", "escape", "delete", "1", "g", "enter", "y")
        assert shown.desk.trashed == ["testing.md"]
        assert shown.buffer.name == "MEMORY.md" and shown.editor.text.startswith("y# Shop")


async def test_a_version_is_restored_and_shown_over_an_unsaved_text(tmp_path: Path) -> None:
    async with memories(tmp_path, {"MEMORY.md": "one\n"}) as shown:
        shown.desk.write_as("dream", "MEMORY.md", "two\n")
        await shown.settle()
        await shown.press("enter", "x", "escape", "h", "G", "R")
        assert shown.desk.texts["MEMORY.md"] == "one\n" and shown.mode == "history"
        assert shown.desk.aside == [("MEMORY.md", "xtwo\n")]
        assert "your unsaved one stay in the history" in shown.notices()
        assert shown.editor.text == "one\n" and not shown.buffer.is_dirty


async def test_the_version_on_disk_is_shown_over_an_unsaved_text_and_not_written(
    tmp_path: Path,
) -> None:
    async with memories(tmp_path, {"MEMORY.md": "one\n"}) as shown:
        await shown.press("enter", "x", "escape", "h", "R")
        assert shown.editor.text == "one\n" and not shown.buffer.is_dirty
        assert shown.desk.aside == [("MEMORY.md", "xone\n")]
        assert [past.what for past, _ in shown.desk.changes["MEMORY.md"]] == [
            "set_aside",
            "created",
        ]
        assert "Your text is in the history" in shown.notices()


async def test_restoring_what_is_there_writes_nothing(tmp_path: Path) -> None:
    async with memories(tmp_path, {"MEMORY.md": "one\n"}) as shown:
        await shown.press("h", "R")
        assert "already: nothing was written" in shown.notices()
        assert len(shown.desk.changes["MEMORY.md"]) == 1 and shown.desk.aside == []
