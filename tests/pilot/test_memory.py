from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len
from textual import events

from app.installation import Options
from tests.fakes.provider import calls, reply
from tests.pilot.memories import SHOP, memories
from tests.pilot.stage import window
from widgets.screens.chat import ChatScreen
from widgets.screens.dialogs.help import HelpScreen
from widgets.screens.dialogs.memory_check import CheckScreen
from widgets.screens.memory import MemoryScreen


async def test_f4_opens_the_memory_and_esc_leaves_it(tmp_path: Path) -> None:
    async with window(tmp_path) as seen:
        assert "f4 Memory" in str(seen.screen.query_one("StatusLine").render_line(0).text)
        await seen.pilot.press("f4")
        await seen.app.workers.wait_for_complete()
        assert isinstance(seen.app.screen, MemoryScreen)
        await seen.pilot.press("escape")
        await seen.send("/memory")
        assert isinstance(seen.app.screen, MemoryScreen)


async def test_the_list_says_how_old_how_large_and_by_whom(tmp_path: Path) -> None:
    ages = {"MEMORY.md": 30.0, "testing.md": 2.5 * 86_400}
    async with memories(
        tmp_path,
        ages=ages,
        writers={"testing.md": "dream"},
        orphans=("deploy/steps.md",),
    ) as shown:
        entry, folder, steps, testing = shown.listed()
        assert entry.split() == ["›", "MEMORY.md", "73", "now", "you"]
        assert folder.split() == ["▾", "deploy/"]
        assert steps.split()[:2] == ["!", "steps.md"] and steps.split()[-1] == "orphan"
        assert testing.split() == ["testing.md", "54", "2", "d", "dream"]
        assert "4 / 200 lines, 73 / 25 000 units" in shown.said("head")
        assert "memory  work" in shown.said("head")
        for words in ("enter Open", "h History", "n New", "m Rename", "delete Trash", "/ Search"):
            assert words in shown.said("foot")


async def test_the_preview_follows_the_cursor_of_the_list(tmp_path: Path) -> None:
    async with memories(tmp_path) as shown:
        assert "# Shop" in shown.drawn("preview")
        await shown.press("G")
        assert "# Testing" in shown.drawn("preview")
        await shown.press("p")
        assert not shown.screen.pane.display


async def test_enter_opens_and_what_is_typed_is_saved(tmp_path: Path) -> None:
    async with memories(tmp_path) as shown:
        await shown.press("G", "enter", *"New: ")
        assert shown.editor.text.startswith("New: # Testing")
        assert shown.lines()[3].startswith("›●") and "unsaved" in shown.said("said")
        assert "New: # Testing" in shown.drawn("preview")
        assert shown.desk.texts["testing.md"] == SHOP["testing.md"]
        await shown.press("ctrl+s")
        assert shown.desk.texts["testing.md"] == "New: " + SHOP["testing.md"]
        assert "●" not in shown.lines()[3]


async def test_saving_what_has_not_changed_writes_nothing(tmp_path: Path) -> None:
    async with memories(tmp_path) as shown:
        await shown.press("enter", "ctrl+s")
        assert len(shown.desk.changes["MEMORY.md"]) == 1
        assert "is saved already" in shown.notices()


async def test_keys_that_come_at_once_act_in_their_order(tmp_path: Path) -> None:
    async with memories(tmp_path) as shown:
        await shown.burst("G", "enter", *"ab", "ctrl+s", "escape", "k", "enter", *"cd", "ctrl+s")
        assert shown.desk.texts["testing.md"].startswith("ab# Testing")
        assert shown.desk.texts["deploy/steps.md"].startswith("cd# Deploy")
        await shown.burst("escape", "n", *"x", "enter", *"text", "ctrl+s", "escape", "escape", "h")
        assert shown.desk.texts["x.md"] == "text"
        assert shown.closed == 1 and shown.seen.prompt.text == "h"


async def test_keys_behind_a_dialog_s_key_belong_to_the_dialog(tmp_path: Path) -> None:
    async with memories(tmp_path) as shown:
        await shown.burst("f1", "escape", "G", "enter", "x")
        assert shown.seen.app.screen is shown.screen
        assert shown.editor.text.startswith("x# Testing")


async def test_several_documents_stay_open_with_what_was_typed(tmp_path: Path) -> None:
    async with memories(tmp_path) as shown:
        await shown.press("enter", *"mine ", "escape", "G", "enter", *"too ", "escape")
        assert shown.lines()[0].startswith(" ●") and shown.lines()[3].startswith("›●")
        await shown.press("g", "enter")
        assert shown.editor.text.startswith("mine # Shop")
        await shown.press("ctrl+z")
        assert shown.editor.text == SHOP["MEMORY.md"]
        await shown.press("ctrl+y")
        assert shown.editor.text.startswith("mine # Shop")


async def test_leaving_with_unsaved_text_asks(tmp_path: Path) -> None:
    async with memories(tmp_path) as shown:
        await shown.press("enter", "x", "escape", "escape")
        assert "Not saved: MEMORY.md" in shown.said("asked") and shown.closed == 0
        row = str(shown.screen.query_one("ChoiceRow").render())
        assert "1 Save all" in row and "2 Leave without saving" in row and "3 Stay" in row
        await shown.press("3")
        assert shown.mode == "list" and shown.editor.text.startswith("x#")
        await shown.press("escape", "1")
        assert shown.closed == 1 and shown.desk.texts["MEMORY.md"].startswith("x#")
        assert shown.desk.aside == []


async def test_a_text_that_is_left_unsaved_is_kept_in_the_history(tmp_path: Path) -> None:
    async with memories(tmp_path) as shown:
        await shown.press("enter", "x", "escape", "escape", "2")
        assert shown.closed == 1
        assert shown.desk.aside == [("MEMORY.md", "x" + SHOP["MEMORY.md"])]
        assert shown.desk.texts == SHOP and not shown.desk.is_open


async def test_leaving_the_app_asks_too_and_an_end_without_asking_keeps_the_text(
    tmp_path: Path,
) -> None:
    async with memories(tmp_path) as shown:
        await shown.press("enter", "x", "ctrl+q")
        assert "Not saved: MEMORY.md" in shown.said("asked")
        await shown.press("escape")
        assert shown.mode == "edit"
    assert shown.desk.aside == [("MEMORY.md", "x" + SHOP["MEMORY.md"])]


async def test_a_text_that_can_be_kept_nowhere_is_not_left(tmp_path: Path) -> None:
    async with memories(tmp_path) as shown:
        shown.desk.refuses = "The folder is read-only."
        await shown.press("enter", "x", "ctrl+s")
        assert "The folder is read-only." in shown.notices()
        assert shown.lines()[0].startswith("›●")
        await shown.press("escape", "escape", "2")
        assert shown.closed == 0 and shown.editor.text.startswith("x#")
        await shown.press("escape", "1")
        assert shown.closed == 0
        shown.desk.refuses = ""


async def test_the_health_check_leads_to_the_place(tmp_path: Path) -> None:
    async with memories(tmp_path) as shown:
        rows = [("12 lines are loaded", "", 0), ("a dead link to [gone.md]", "testing.md", 4)]
        shown.desk.sections = [("Loaded", rows[:1]), ("Dead links", rows[1:])]
        await shown.press("c")
        assert isinstance(shown.seen.app.screen, CheckScreen)
        await shown.press("enter")
        assert shown.buffer.name == "testing.md" and shown.editor.cursor_location == (3, 0)


async def test_the_gauge_follows_the_unsaved_entry(tmp_path: Path) -> None:
    text = "\n".join(f"line {n}" for n in range(199)) + "\n"
    async with memories(tmp_path, {"MEMORY.md": text}) as shown:
        assert "199 / 200 lines" in shown.said("head") and "left out" not in shown.said("head")
        await shown.press("enter", "enter", "enter")
        assert "201 / 200 lines" in shown.said("head")
        assert "left out from line 201 on" in shown.said("head")
        await shown.press("ctrl+z", "ctrl+z")
        assert "left out" not in shown.said("head")


async def test_the_own_editor_gets_the_text_and_gives_it_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[str] = []

    async def edit(_self: ChatScreen, text: str) -> str | None:
        given.append(text)
        return text.replace("Testing", "Tests\x1b[2J")

    monkeypatch.setattr(ChatScreen, "edit_in_editor", edit)
    async with memories(tmp_path) as shown:
        await shown.press("G", "ctrl+e")
        assert given == [SHOP["testing.md"]]
        assert shown.editor.text == SHOP["testing.md"].replace("Testing", "Tests␛[2J")
        assert shown.buffer.is_dirty and shown.desk.texts == SHOP
        await shown.press("ctrl+z")
        assert shown.editor.text == SHOP["testing.md"]


async def test_line_ends_and_marks_are_kept_to_the_byte(tmp_path: Path) -> None:
    data = Path(__file__).parents[1] / "data" / "cases" / "B27-editor-crlf-bom"
    names = ("bom.md", "crlf.md", "mixed.md")

    def read(folder: str) -> dict[str, str]:
        files = ((name, data / folder / name) for name in names)
        return {name: file.read_bytes().decode("utf-8") for name, file in files}

    async with memories(tmp_path, read("in")) as shown:
        for place in range(3):
            await shown.press("g", *["down"] * place, "enter", "ctrl+f", *"beta")
            await shown.press("ctrl+r", *"BETA", "enter", "escape", "ctrl+s", "escape")
        assert shown.desk.texts == read("want")


async def test_pasted_control_characters_are_shown_and_never_kept(tmp_path: Path) -> None:
    async with memories(tmp_path, {"MEMORY.md": "a\r\nb\r\n"}) as shown:
        await shown.press("enter")
        shown.seen.app.post_message(events.Paste("x\x1b[2Jy\r\nz\x85\u202e"))
        await shown.settle()
        await shown.press("enter", "ctrl+s")
        text = shown.desk.texts["MEMORY.md"]
        assert text == "x␛[2Jy\r\nz\r\n<202e>\r\na\r\nb\r\n"
        assert "\x1b" not in shown.editor.text and "\x85" not in shown.editor.text


async def test_text_and_names_are_never_markup_nor_commands(tmp_path: Path) -> None:
    hostile = "[red]x[/] \x1b[2J \u202e \x07 y\x0bz"
    async with memories(tmp_path, {"MEMORY.md": hostile, "[b]n\x1b.md": hostile}) as shown:
        shown.desk.sections = [(hostile, [(hostile, "MEMORY.md", 1)])]
        await shown.press("enter", "escape", "G", "h")
        text = "\n".join((*shown.lines(), *shown.lines("versions"), shown.drawn("diff")))
        await shown.press("escape", "slash", *"red")
        text += "\n".join((*shown.lines("hits"), shown.said("said")))
        await shown.press("escape", "delete")
        text += shown.said("asked")
        await shown.press("escape", "g", "enter")
        text += shown.drawn("preview") + "".join(
            shown.editor.render_line(y).text for y in range(shown.editor.size.height)
        )
        assert "[red]x[/]" in text and "[b]n" in text
        for character in "\x1b\u202e\x07\x0b":
            assert character not in text
        await shown.press("escape", "escape")
        assert shown.closed == 1
        assert shown.desk.texts["MEMORY.md"] == hostile


async def test_help_names_the_keys_of_every_mode(tmp_path: Path) -> None:
    async with memories(tmp_path) as shown:
        await shown.press("enter", "f1")
        screen = shown.seen.app.screen
        assert isinstance(screen, HelpScreen)
        text = str(screen._text())
        for words in (
            "In the editor",
            "ctrl+s",
            "ctrl+end",
            "Replace all",
            "Diff against now",
            "Undo",
        ):
            assert words in text


async def test_a_narrow_terminal_shows_one_part(tmp_path: Path) -> None:
    async with memories(tmp_path, size=(80, 24)) as shown:
        screen = shown.screen
        assert screen.list.display and not screen.pane.display
        await shown.press("p")
        assert screen.pane.display and not screen.list.display
        await shown.press("escape", "enter")
        assert not screen.list.display and not screen.pane.display
        assert shown.editor.size.width >= 78
        await shown.press("escape")
        assert screen.list.display and shown.closed == 0


@pytest.mark.parametrize("size", [(20, 5), (40, 10), (80, 24), (120, 40)])
async def test_every_line_fits_its_terminal(tmp_path: Path, size: tuple[int, int]) -> None:
    texts = {f"ü日本語{n}/{'long' * n}.md": "日本語 👍🏽 " * 40 for n in range(9)}
    async with memories(tmp_path, texts, size=size, orphans=tuple(texts)) as shown:
        rows = shown.screen.list
        for y in range(rows.size.height):
            assert rows.render_line(y).cell_length == rows.size.width
        for index in range(len(shown.screen._rows)):
            cells = shown.screen._cells(index, max(rows.size.width, 12))
            assert sum(cell_len(text) for text, _ in cells) <= max(rows.size.width, 12)
        for mode in ((), ("slash", *"日"), ("escape", "down", "h"), ("escape", "enter")):
            await shown.press(*mode)
            assert shown.closed == 0
            if size[0] >= 80:
                for name in ("head", "foot"):
                    lines = shown.said(name).split("\n")
                    assert all(cell_len(line) <= size[0] for line in lines), (mode, name)


async def test_x_on_a_note_of_the_model_strikes_it(tmp_path: Path) -> None:
    note = {"command": "create", "path": "/memories/fact.md", "file_text": "# Fact\n"}
    script = [calls(("memory", note, "t1")), reply("noted", 2)]
    async with window(tmp_path, *script, options=Options(allowed=("memory",))) as seen:
        await seen.send("go")
        await seen.idle()
        folder = seen.controller.here.places.memory(seen.controller.here.folder)
        assert (folder / "fact.md").exists()
        await seen.pilot.press("tab", "k", "x")
        await seen.until(
            lambda state: "memory_struck" in str(state.session.view.graph.records[-2].data)
        )
        assert "Struck from memory: fact.md" in seen.shown()
        assert not (folder / "fact.md").exists()


async def test_a_click_in_the_text_goes_to_it(tmp_path: Path) -> None:
    async with memories(tmp_path) as shown:
        await shown.press("enter", "escape")
        await shown.click(shown.editor, (3, 2))
        assert shown.mode == "edit" and shown.editor.cursor_location == (2, 2)
        await shown.press("g")
        assert shown.editor.text.split("\n")[2].startswith("- g[Testing]")
        await shown.press("ctrl+f", *"dep")
        await shown.click(shown.editor, (1, 0))
        await shown.press("h")
        assert shown.mode == "edit" and shown.editor.text.startswith("h# Shop")


async def test_a_click_on_the_list_leaves_the_text(tmp_path: Path) -> None:
    async with memories(tmp_path) as shown:
        await shown.press("enter")
        await shown.click(shown.screen.list, (6, 3))
        assert shown.mode == "list" and shown.listed()[3].startswith("›")
        await shown.press("k", "enter", "x")
        assert shown.buffer.name == "deploy/steps.md" and shown.editor.text.startswith("x# Dep")


async def test_a_click_answers_no_question(tmp_path: Path) -> None:
    async with memories(tmp_path) as shown:
        await shown.press("enter", "x", "ctrl+q")
        await shown.click(shown.editor, (3, 2))
        await shown.click(shown.screen.list, (6, 3))
        assert shown.mode == "choice"
        await shown.press("3", "y")
        assert "y" in shown.editor.text and shown.mode == "edit"


async def test_what_is_left_out_of_the_entry_is_said_at_80_columns(tmp_path: Path) -> None:
    async with memories(tmp_path, {"MEMORY.md": "a line\n" * 240}, size=(80, 24)) as shown:
        assert "240 / 200 lines" in shown.said("head")
        assert "left out from line 201 on" in shown.said("head")
