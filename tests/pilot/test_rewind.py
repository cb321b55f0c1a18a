"""Going back in the window: the tree, the dialog, what it does, and its undo."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import OptionList, Static

from app.checkpoints import apply
from app.installation import Options
from tests.fakes.provider import calls, reply
from tests.pilot.stage import Window, window
from widgets.ask.choices import ChoiceRow
from widgets.screens.dialogs.diff import DiffScreen
from widgets.screens.dialogs.rewind import RewindDialog
from widgets.screens.tree import TreeScreen

FREE = Options(mode="bypassPermissions")


@asynccontextmanager
async def worked(tmp_path: Path, *more: Any) -> AsyncIterator[Window]:
    """Two turns: `a.txt` is made, then changed and another one made."""
    scripts = [
        calls(("Write", {"file_path": "a.txt", "content": "v1\n"}, "t1")),
        reply("First.", 2),
        calls(
            ("Write", {"file_path": "a.txt", "content": "v2\n"}, "t2"),
            ("Bash", {"command": "echo made > by-shell.txt; git push 2>/dev/null"}, "t3"),
        ),
        reply("Second.", 4),
        *more,
    ]
    async with window(tmp_path, *scripts, options=FREE) as shown:
        for text in ("write it", "change it"):
            await shown.send(text)
            await shown.until(lambda state: state.live.last and state.live.turn_id is None)
            await finished(shown)
        yield shown


async def finished(shown: Window) -> None:
    while shown.controller.is_busy:
        await shown.pilot.pause()


async def press(shown: Window, *keys: str) -> None:
    for key in keys:
        await shown.pilot.press(key)
        await shown.pilot.pause()


async def tree(shown: Window) -> None:
    """Open the tree and wait until nothing is read any more."""
    await press(shown, "f3")
    while not isinstance(shown.app.screen, TreeScreen):
        await shown.pilot.pause()
    await shown.app.workers.wait_for_complete()
    await shown.pilot.pause()


async def dialog(shown: Window, *keys: str) -> RewindDialog:
    """The dialog for the node that these keys lead to from the last prompt."""
    await tree(shown)
    await press(shown, *keys, "r")
    while not isinstance(shown.app.screen, RewindDialog):
        await shown.pilot.pause()
    await shown.pilot.pause()
    return shown.app.screen


def said(screen: RewindDialog, name: str) -> str:
    return str(screen.query_one(f"#rewind-{name}", Static).content)


def listed(screen: RewindDialog) -> list[str]:
    options = screen.query_one(OptionList)
    return [str(options.get_option_at_index(i).prompt) for i in range(options.option_count)]


def files(shown: Window) -> dict[str, str]:
    root = shown.controller.here.folder
    return {file.name: file.read_text() for file in root.iterdir() if file.is_file()}


async def until_files(shown: Window, wanted: dict[str, str]) -> None:
    for _ in range(200):
        await shown.pilot.pause()
        if files(shown) == wanted:
            return
    assert files(shown) == wanted


async def test_both_go_back_and_u_undoes_it(tmp_path: Path) -> None:
    async with worked(tmp_path) as shown:
        before = files(shown)
        assert before == {"a.txt": "v2\n", "by-shell.txt": "made\n"}
        box = await dialog(shown)
        assert "1 prompt leaves the current branch" in said(box, "states")
        assert "files       stay as they are" in said(box, "states")
        assert "memory      not touched" in said(box, "states")
        assert "1 shell command ran since, among them git push" in said(box, "notes")
        assert "pushes, databases, HTTP calls" in said(box, "notes")
        await press(shown, "3")
        await until_files(shown, {"a.txt": "v1\n", "by-shell.txt": "made\n"})
        assert shown.prompt.text == "change it"
        assert "First." in str(shown.conversation.blocks)
        assert "Second." not in str(shown.conversation.blocks)

        await tree(shown)
        await press(shown, "u")
        await until_files(shown, before)
        await press(shown, "escape")
        assert "Second." in str(shown.conversation.blocks)


async def test_what_a_command_made_goes_when_it_is_chosen(tmp_path: Path) -> None:
    async with worked(tmp_path) as shown:
        box = await dialog(shown)
        await press(shown, "right")
        assert "1 file  +1 −1" in said(box, "states")
        assert any("a.txt" in line and "ours" in line for line in listed(box))
        assert any("by-shell.txt" in line and "kept" in line for line in listed(box))
        assert "left as the shell left it: by-shell.txt" in said(box, "notes")
        await press(shown, "s")
        assert "2 files" in said(box, "states")
        await press(shown, "enter")
        await until_files(shown, {"a.txt": "v1\n"})
        assert "Second." in str(shown.conversation.blocks), "the conversation stays"
        assert "Files went back to before “change it”; 2 files" in str(shown.conversation.blocks)


async def test_a_hand_edit_is_kept_unless_one_says_so(tmp_path: Path) -> None:
    async with worked(tmp_path) as shown:
        mine = shown.controller.here.folder / "a.txt"
        mine.write_text("mine\n")
        box = await dialog(shown)
        await press(shown, "right")
        assert any("conflict: changed by someone else, kept" in line for line in listed(box))
        await press(shown, "d")
        assert isinstance(shown.app.screen, DiffScreen)
        await press(shown, "escape", "enter")
        await finished(shown)
        assert mine.read_text() == "mine\n"

        await dialog(shown)
        await press(shown, "right", "o", "enter")
        await until_files(shown, {"a.txt": "v1\n", "by-shell.txt": "made\n"})
        await tree(shown)
        await press(shown, "u")
        await until_files(shown, {"a.txt": "mine\n", "by-shell.txt": "made\n"})


async def test_esc_leaves_everything_as_it_is(tmp_path: Path) -> None:
    async with worked(tmp_path) as shown:
        before = files(shown), shown.state.session.view
        await dialog(shown)
        await press(shown, "right", "escape")
        assert (files(shown), shown.state.session.view) == before


async def test_to_before_the_first_prompt_and_on_from_there(tmp_path: Path) -> None:
    async with worked(tmp_path, reply("Afresh.", 9)) as shown:
        await dialog(shown, "up")
        await press(shown, "1")
        await shown.pilot.pause()
        assert shown.state.session.view.leaf is None
        assert shown.prompt.text == "write it"
        await press(shown, "enter")
        await finished(shown)
        sent = shown.provider.requests[-1].messages
        assert [message["role"] for message in sent] == ["user"]


async def test_twice_esc_in_an_empty_prompt_opens_the_tree(tmp_path: Path) -> None:
    async with worked(tmp_path) as shown:
        await press(shown, "escape")
        shown.pass_time(5)
        await press(shown, "escape")
        assert not isinstance(shown.app.screen, TreeScreen)
        shown.pass_time(5)
        await press(shown, "escape", "x", "backspace", "escape")
        assert not isinstance(shown.app.screen, TreeScreen)
        shown.pass_time(5)
        await press(shown, "escape", "escape")
        assert isinstance(shown.app.screen, TreeScreen)


async def test_another_branch_is_gone_on_with_and_files_stay(tmp_path: Path) -> None:
    async with worked(tmp_path, reply("Other way.", 7)) as shown:
        await dialog(shown)
        await press(shown, "1")
        shown.prompt.take("")
        await shown.send("another way")
        await finished(shown)
        before = files(shown)
        await tree(shown)
        await press(shown, "slash", *"change", "enter", "enter")
        await shown.pilot.pause()
        assert "Second." in str(shown.conversation.blocks)
        assert "Other way." not in str(shown.conversation.blocks)
        assert files(shown) == before


async def test_a_fork_begins_with_everything_up_to_the_node(tmp_path: Path) -> None:
    async with worked(tmp_path, reply("In the fork.", 8)) as shown:
        old = shown.state.session.session_id
        await tree(shown)
        await press(shown, "up", "n")
        await shown.until(lambda state: state.session.session_id != old)
        assert "First." in str(shown.conversation.blocks)
        assert "Second." not in str(shown.conversation.blocks)
        await shown.send("go on")
        await finished(shown)
        assert "First." in str(shown.provider.requests[-1].messages)


async def test_a_summary_takes_the_place_of_what_came_after(tmp_path: Path) -> None:
    async with worked(tmp_path, reply("It was a dead end.", 11), reply("Better.", 12)) as shown:
        await dialog(shown)
        await press(shown, "4")
        await shown.box("#receipt")
        assert "Sum up only" in str(shown.provider.requests[-1].messages[-1])
        await press(shown, "1")
        await finished(shown)
        assert "It was a dead end." in str(shown.conversation.blocks)
        assert "Second." not in str(shown.conversation.blocks)
        await shown.send("now better")
        await finished(shown)
        sent = str(shown.provider.requests[-1].messages)
        assert "It was a dead end." in sent and "Second." not in sent and "First." in sent


async def test_what_came_before_is_summed_up(tmp_path: Path) -> None:
    async with worked(tmp_path, reply("All of before.", 13), reply("On.", 14)) as shown:
        await dialog(shown)
        await press(shown, "5")
        await shown.box("#receipt")
        asked = str(shown.provider.requests[-1].messages)
        assert "First." in asked and "Second." not in asked
        await press(shown, "1")
        await finished(shown)
        await shown.send("go on")
        await finished(shown)
        sent = str(shown.provider.requests[-1].messages)
        assert "All of before." in sent and "First." not in sent and "Second." in sent


async def test_what_a_command_is_called_reaches_the_terminal_as_text(tmp_path: Path) -> None:
    command = "true \x1b]0;pwn\x07 \x1b[31m \x9b5m; printf y > made.txt"
    scripts = [calls(("Bash", {"command": command}, "t1")), reply("Done.", 2)]
    async with window(tmp_path, *scripts, options=FREE) as shown:
        await shown.send("run it")
        await shown.until(lambda state: state.live.last and state.live.turn_id is None)
        await finished(shown)
        box = await dialog(shown)
        (line,) = listed(box)
        assert "made.txt" in line
        assert all(letter.isprintable() for letter in line)


async def test_without_a_checkpoint_files_are_not_said_to_go_back(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "settings.toml").write_text("checkpoints = false\n")
    async with worked(tmp_path) as shown:
        before = shown.state.session.view
        box = await dialog(shown)
        await press(shown, "3")
        assert shown.app.screen is box
        assert "cannot go back: File rewinding is not enabled." in said(box, "states")
        await press(shown, "escape")
        assert shown.state.session.view is before
        await dialog(shown)
        await press(shown, "1")
        assert shown.prompt.text == "change it"


async def test_off_the_branch_there_is_nothing_to_sum_up(tmp_path: Path) -> None:
    async with worked(tmp_path, reply("Other way.", 7)) as shown:
        await dialog(shown)
        await press(shown, "1")
        shown.prompt.take("")
        await shown.send("another way")
        await finished(shown)
        asked = len(shown.provider.requests)
        box = await dialog(shown, "slash", *"change", "enter")
        assert "0 prompts" not in said(box, "states")
        assert "Summarise" not in str(box.query_one(ChoiceRow).render())
        await press(shown, "4")
        assert shown.app.screen is box and len(shown.provider.requests) == asked


async def test_the_prompt_that_is_summed_up_from_returns(tmp_path: Path) -> None:
    async with worked(tmp_path, reply("It was a dead end.", 11)) as shown:
        await dialog(shown)
        await press(shown, "4")
        receipt = await shown.box("#receipt")
        assert receipt.receipt.goes_back == "change it"
        assert "goes back to before “change it”" in str(receipt.query(Static).first().content)
        await press(shown, "1")
        await finished(shown)
        assert shown.prompt.text == "change it"
        assert any("/undo takes that back" in n.text for n in shown.state.notices)
        await press(shown, "f3", "u")
        while "Second." not in str(shown.conversation.blocks):
            await shown.pilot.pause()


async def test_what_is_sent_while_files_go_back_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with worked(tmp_path, reply("Afterwards.", 9)) as shown:
        gate, real = threading.Event(), apply.carry_out

        def slowly(*args: Any) -> Any:
            gate.wait(10)
            return real(*args)

        monkeypatch.setattr("app.agent.rewinder.carry_out", slowly)
        await dialog(shown)
        await press(shown, "3")
        while not shown.controller.is_busy:
            await shown.pilot.pause()
        await shown.send("meanwhile")
        assert [message.text for message in shown.state.live.queue] == ["meanwhile"]
        gate.set()
        await shown.until(lambda state: not state.live.queue)
        await finished(shown)
        assert files(shown)["a.txt"] == "v1\n"
        sent = [m["content"] for m in shown.provider.requests[-1].messages if m["role"] == "user"]
        assert "meanwhile" in str(sent[-1]) and "change it" not in str(sent)
