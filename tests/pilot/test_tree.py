from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.cells import cell_len

from app.tree_desk import TreeChoice
from tests.fakes.sessions import Made, session_id
from tests.pilot.trees import shop, tree
from tests.unit.sessions.families import forked
from widgets.screens.compare import CompareScreen
from widgets.screens.dialogs.help import HelpScreen


async def test_it_opens_at_the_last_prompt_of_the_branch_in_use(tmp_path: Path) -> None:
    async with tree(tmp_path, shop()) as shown:
        assert shown.texts() == ["● one", "├─○ side", "│ ○ side two", "● main"]
        assert shown.node.text == "main" and "← here" in shown.lines()[3]
        assert "$1.00" in shown.lines()[3]
        assert "The shop" in shown.said("head") and "2 branches   4 prompts" in shown.said("head")
        row = shown.lines()[1]
        assert "09:00" in row and "1 tool" in row and "+2 −1" in row and "$" in row
        assert "main" in shown.preview() and "The main answer." in shown.preview()
        assert "enter Switch" in shown.said("foot") and "f1 Help" in shown.said("foot")


async def test_the_preview_follows_the_cursor(tmp_path: Path) -> None:
    async with tree(tmp_path, shop()) as shown:
        await shown.press("up", "up")
        text = shown.preview()
        assert "side" in text and "1 tool" in text and "+2 −1" in text
        assert "/w/a.py" in text and "+ new" in text and "− old" in text and "Changed it." in text


@pytest.mark.parametrize(
    ("key", "action"), [("enter", "switch"), ("r", "rewind"), ("f", "files"), ("n", "fork")]
)
async def test_what_is_to_be_done_comes_out(tmp_path: Path, key: str, action: str) -> None:
    async with tree(tmp_path, shop()) as shown:
        await shown.press("k")
        node = shown.node
        await shown.press(key)
        assert node.text == "side two"
        assert shown.chosen == [TreeChoice(action, session_id(1), node.uuid)]  # pyright: ignore[reportArgumentType] - one of the four


async def test_to_switch_to_where_one_is_changes_nothing(tmp_path: Path) -> None:
    async with tree(tmp_path, shop()) as shown:
        await shown.press("enter")
        assert shown.chosen == [None] and "You are on this branch already." in shown.notices()


async def test_a_fork_and_its_prompts_are_there(tmp_path: Path) -> None:
    fork = forked(shop(), 2).talk("elsewhere").titled("Another way")
    async with tree(tmp_path, shop(), fork) as shown:
        assert [line[1:].split("   ")[0] for line in shown.lines()[4:6]] == [
            "╰┄○ fork 00000002  Another way", "  ○ elsewhere",
        ]  # fmt: skip
        await shown.press("G")
        assert shown.node.text == "elsewhere" and "in session 00000002" in shown.preview()
        await shown.press("up", "n")
        [choice] = shown.chosen
        assert choice is not None and (choice.session_id, bool(choice.uuid)) == (
            session_id(2),
            True,
        )


async def test_the_first_line_of_a_fork_opens_its_session(tmp_path: Path) -> None:
    async with tree(tmp_path, shop(), forked(shop(), 2).talk("elsewhere")) as shown:
        await shown.press("G", "up", "r")
        assert "Only a prompt" in shown.notices()
        await shown.press("enter")
        assert shown.chosen == [TreeChoice("switch", session_id(2), "")]


async def test_keys_move_and_find_the_way_back(tmp_path: Path) -> None:
    async with tree(tmp_path, shop()) as shown:
        await shown.press("home")
        assert shown.node.text == "one"
        await shown.press("down", "j", "j", "j")
        assert shown.node.text == "main"
        await shown.press("pageup")
        assert shown.node.text == "one"
        await shown.press("pagedown", "left_square_bracket")
        assert shown.node.text == "one"
        await shown.press("h", "g", "0")
        assert shown.node.text == "main"
        await shown.press("escape")
        assert shown.chosen == [None]


async def test_branches_fold(tmp_path: Path) -> None:
    async with tree(tmp_path, shop()) as shown:
        await shown.press("up", "left")
        assert shown.texts() == ["● one", "├─○ side", "● main"]
        assert shown.node.text == "side" and "▸ 1 more" in shown.lines()[1]
        await shown.press("right")
        assert len(shown.texts()) == 4
        await shown.press("z")
        assert len(shown.texts()) == 3
        await shown.press("z", "g", "space")
        assert len(shown.texts()) == 3 and shown.node.text == "one"
        await shown.press("space")
        assert len(shown.texts()) == 4


async def test_search_finds_what_is_folded_and_leaves_the_cursor_there(tmp_path: Path) -> None:
    async with tree(tmp_path, shop()) as shown:
        await shown.press("z", "slash", *"SIDE")
        assert shown.node.text == "side" and "2 hits" in shown.said("head")
        await shown.press("down")
        assert shown.node.text == "side two" and len(shown.texts()) == 4
        await shown.press("down")
        assert shown.node.text == "side"
        await shown.press("up", "escape")
        assert shown.node.text == "side two" and "hits" not in shown.said("head")
        await shown.press("slash", *"zebra", "enter")
        assert shown.node.text == "side two"
        assert shown.chosen == []


async def test_the_number_of_spaces_sought_makes_no_difference(tmp_path: Path) -> None:
    made = Made(1).talk("a b").talk("c").talk("a  b").talk("a b again")
    async with tree(tmp_path, made) as shown:
        await shown.press("g", "slash", "a", "space", "space", "b")
        assert "3 hits" in shown.said("head") and shown.node.text == "a b"
        await shown.press("down")
        assert shown.node.text == "a  b"
        await shown.press("down")
        assert shown.node.text == "a b again"


async def test_keys_that_come_at_once_act_in_their_order(tmp_path: Path) -> None:
    async with tree(tmp_path, shop()) as shown:
        await shown.burst("g", "slash", *"two", "escape", "l", *"odd", "enter", "up")
        assert shown.desk.family.labels == {f"{session_id(1)[:8]}-u7": "odd"}
        assert shown.node.text == "side"
        await shown.burst("slash", *"main", "enter", "up", "n")
        [choice] = shown.chosen
        assert choice == TreeChoice("fork", session_id(1), f"{session_id(1)[:8]}-u7")


async def test_keys_that_come_before_the_tree_is_there_count(tmp_path: Path) -> None:
    async with tree(tmp_path, shop(), is_settled=False) as shown:
        await shown.burst("g", "down", "r")
        assert shown.chosen == [TreeChoice("rewind", session_id(1), f"{session_id(1)[:8]}-u3")]


async def test_the_filter_goes_round(tmp_path: Path) -> None:
    made = shop()
    made.add("system", subtype="rewind", content="Rewound.", rewind={})
    async with tree(tmp_path, made) as shown:
        assert shown.texts()[-1] == "↺ Rewound."
        assert "↺ rewound" in shown.said("said")
        await shown.press("full_stop")
        assert "prompts only: 4" in shown.said("head") and shown.texts()[-1] == "● main"
        await shown.press("full_stop")
        assert shown.texts() == ["○ side"] and "with files: 1" in shown.said("head")
        await shown.press("full_stop")
        assert "No node here is labelled." in "\n".join(shown.lines())
        await shown.press("full_stop")
        assert len(shown.texts()) == 5


async def test_a_label_is_a_record_and_the_last_one_counts(tmp_path: Path) -> None:
    async with tree(tmp_path, shop()) as shown:
        await shown.press("up", "l", *"keep this", "enter")
        assert "[keep this]" in shown.lines()[2]
        file = next((tmp_path / "data").rglob(f"{session_id(1)}.jsonl"))
        line = json.loads(file.read_text().splitlines()[-1])
        uuid = f"{session_id(1)[:8]}-u7"
        assert line == {
            "type": "label", "label": "keep this", "messageUuid": uuid, "sessionId": session_id(1),
        }  # fmt: skip
        await shown.press("slash", *"keep", "enter")
        assert shown.node.text == "side two"
        await shown.press("l", *["backspace"] * 9, "enter")
        assert "[" not in shown.lines()[2]
        await shown.press("l", *"not this", "escape")
        assert "[" not in shown.lines()[2] and shown.chosen == []


async def test_two_nodes_are_compared(tmp_path: Path) -> None:
    def files_at(_session: str, uuid: str) -> dict[str, bytes | None]:
        old = uuid.endswith("u6")  # the last record of the turn of `side`
        return {"/w/a.py": b"one\ntwo\n" if old else b"one\nthree\n", "/w/same": b"x"}

    async with tree(tmp_path, shop(), files_at=files_at) as shown:
        await shown.press("g", "down", "c")
        assert "esc lets go" in shown.said("said") and shown.lines()[1].startswith("✓")
        await shown.press("escape")
        assert "esc lets go" not in shown.said("said")
        await shown.press("c", "G", "c")
        screen = shown.seen.app.screen
        assert isinstance(screen, CompareScreen)
        rows = range(screen.pane.size.height)
        text = "\n".join(screen.pane.render_line(y).text.rstrip() for y in rows)
        for words in ("Both go back to:", "one", "first, 1 node", "side", "second, 1 node", "main"):
            assert words in text
        assert "1 file:" in text and "/w/a.py" in text and "− two" in text and "+ three" in text
        await shown.press("G", "k", "pagedown", "escape")
        assert shown.seen.app.screen is shown.screen


async def test_files_that_are_not_known_are_not_compared(tmp_path: Path) -> None:
    async with tree(tmp_path, shop()) as shown:
        await shown.press("g", "c", "G", "c")
        screen = shown.seen.app.screen
        assert isinstance(screen, CompareScreen)
        rows = range(screen.pane.size.height)
        text = "\n".join(screen.pane.render_line(y).text for y in rows)
        assert "The files are not known after both" in text
        assert "The first is where they part." in text


async def test_a_branch_is_exported_whole(tmp_path: Path) -> None:
    async with tree(tmp_path, shop()) as shown:
        await shown.press("g", "down", "x")
        text = (tmp_path / "work" / "The shop.md").read_text()
        assert "side two" in text and "Changed it." in text and "The main answer." not in text
        assert "Exported to" in shown.notices()
        await shown.press("G", "x")
        assert "The main answer." in (tmp_path / "work" / "The shop 2.md").read_text()


async def test_the_id_is_copied_and_the_rewind_undone(tmp_path: Path) -> None:
    async with tree(tmp_path, shop()) as shown:
        await shown.press("y")
        assert shown.seen.app.clipboard == shown.node.own
        await shown.press("u")
        assert shown.undone == 1 and shown.chosen == []


async def test_prompts_whose_files_are_gone_are_marked(tmp_path: Path) -> None:
    known = frozenset({f"{session_id(1)[:8]}-u1"})
    async with tree(tmp_path, shop(), restorable=lambda: known) as shown:
        assert [line.endswith("✗") for line in shown.lines()[:4]] == [False, True, True, True]
        assert "✗ files can no longer be restored" in shown.said("said")
        assert "can no longer be restored" in shown.preview()
    async with tree(tmp_path, shop(), restorable=lambda: None) as shown:
        assert "✗" not in "\n".join([*shown.lines(), shown.said("said"), shown.preview()])


async def test_files_that_shell_commands_changed_count(tmp_path: Path) -> None:
    uuids = [f"{session_id(1)[:8]}-u{number}" for number in (1, 3)]
    async with tree(tmp_path, shop(), shell_files=lambda: dict.fromkeys(uuids, 3)) as shown:
        one, side = shown.lines()[:2]
        assert "3 files" in one and "+2 −1" in side and "files" not in side
        await shown.press("g", "full_stop", "full_stop")
        assert shown.texts() == ["● one", "○ side"]
        assert "3 files by shell" in shown.preview()


async def test_the_keys_scroll_the_preview(tmp_path: Path) -> None:
    made = Made(1).talk("one", "line\n\n" * 80).talk("two", "word\n\n" * 80)
    async with tree(tmp_path, made) as shown:
        await shown.press("tab", "down", "down", "j")
        assert shown.node.text == "two" and shown.screen.pane.scroll_y == 3
        await shown.press("G")
        assert shown.screen.pane.scroll_y == shown.screen.pane.max_scroll_y
        await shown.press("g", "pagedown", "escape", "k")
        assert shown.node.text == "one" and shown.chosen == []


async def test_a_narrow_terminal_shows_one_of_the_two(tmp_path: Path) -> None:
    async with tree(tmp_path, shop(), size=(80, 24)) as shown:
        assert shown.screen.list.display and not shown.screen.pane.display
        await shown.press("tab")
        assert not shown.screen.list.display and "The main answer." in shown.preview()
        await shown.press("tab")
        assert shown.screen.list.display and not shown.screen.pane.display
        await shown.press("p", "p", "k")
        assert shown.node.text == "side two"


async def test_an_empty_session_says_what_will_be_here(tmp_path: Path) -> None:
    async with tree(tmp_path) as shown:
        text = "\n".join(shown.lines())
        assert "Every prompt becomes a line here" in text and "esc Back" in text
        keys = (
            "down",
            "G",
            "left",
            "space",
            "z",
            "slash",
            "l",
            "c",
            "x",
            "y",
            "r",
            "h",
            "tab",
            "tab",
        )
        await shown.press(*keys, "full_stop", "left_square_bracket", "enter")
        assert shown.chosen == []


async def test_text_is_never_markup(tmp_path: Path) -> None:
    hostile = "[red]x[/] \x1b[2J \u202e y"
    made = Made(1).talk(hostile, f"[b]{hostile}").titled(hostile)
    async with tree(tmp_path, made, forked(made, 2).talk(hostile).titled(hostile)) as shown:
        await shown.press("l", *"[b]", "enter")
        text = "\n".join([*shown.lines(), shown.preview(), shown.said("head"), shown.said("said")])
        assert "[red]x[/]" in text and "[[b]]" in text
        assert "\x1b" not in text and "\u202e" not in text


@pytest.mark.parametrize("size", [(20, 5), (40, 10), (80, 24), (120, 40), (200, 50)])
async def test_every_line_fits_its_terminal(tmp_path: Path, size: tuple[int, int]) -> None:
    made = Made(1)
    for number in range(40):
        made.talk(f"日本語 👍🏽 {number} " * 9)
        if number % 3 == 0:
            start = made.leaf
            made.talk("aside")
            made.leaf = start if number % 2 else made.leaf
    async with tree(tmp_path, made, size=size) as shown:
        rows = shown.screen.list
        await shown.press("G", "pageup", "tab", "tab")
        for y in range(rows.size.height):
            strip = rows.render_line(y)
            assert strip.cell_length == rows.size.width
            room = rows.scrollable_content_region.width
            cells = shown.screen._cells(min(y, 39), room)
            assert sum(cell_len(text) for text, _ in cells) <= max(room, 4)
        for name in ("head", "said", "foot"):
            assert cell_len(shown.said(name)) <= size[0]


async def test_a_prompt_shows_its_first_sixty_characters(tmp_path: Path) -> None:
    text = "please have a look at why the import of the catalogue is slow, then mend it" * 2
    for size in ((80, 24), (120, 30), (160, 40)):
        async with tree(tmp_path, Made(1).talk(text).talk(text), size=size) as shown:
            first, last = shown.lines()[:2]
            assert text[:60] in first and "09:00" in first
            assert text[:60] in last and "← here" in last


async def test_help_names_the_keys(tmp_path: Path) -> None:
    async with tree(tmp_path, shop()) as shown:
        await shown.press("f1")
        screen = shown.seen.app.screen
        assert isinstance(screen, HelpScreen)
        text = str(screen._text())
        assert "Fork point before" in text and "Undo rewind" in text
        await shown.press("escape", "k")
        assert shown.node.text == "side two"
