from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.fakes.sessions import Made, session_id
from tests.pilot.picker import keep
from tests.pilot.trees import shop, tree
from tests.unit.sessions.families import forked
from widgets.screens.tree import TreeScreen


async def test_a_session_that_is_gone_leaves_the_tree(tmp_path: Path) -> None:
    async with tree(tmp_path, shop(), forked(shop(), 2).talk("elsewhere")) as shown:
        assert len(shown.texts()) == 6
        await shown.press("escape")
        next((tmp_path / "data").rglob(f"{session_id(2)}.jsonl")).unlink()
        shown.screen = TreeScreen(shown.seen.controller, shown.desk)
        await shown.seen.app.push_screen(shown.screen)
        await shown.seen.pilot.pause(0.2)
        await shown.settle()
        assert len(shown.texts()) == 4


async def test_what_a_copy_cost_is_known_when_its_source_is(tmp_path: Path) -> None:
    origin = Made(1).talk("one")
    async with tree(tmp_path, forked(origin, 2).talk("two")) as shown:
        assert "$" not in shown.lines()[0]
        keep(tmp_path, origin)
        await shown.desk.find_relatives(lambda: None)
        shown.screen._model.show(await shown.desk.join())
        await shown.press("g")
        assert "$1.00" in shown.lines()[0]


async def test_what_is_said_meanwhile_appears(tmp_path: Path) -> None:
    async with tree(tmp_path, shop()) as shown:
        conversation = shown.seen.controller._need_runtime().conversation
        record = conversation.envelope.system(
            conversation.leaf, "rewind", {"content": "Went back."}
        )
        conversation.append(record)
        while "↺ Went back." not in shown.texts():
            await shown.seen.pilot.pause(0.05)
            await shown.settle()
        assert shown.node.text == "main"


async def test_a_turn_that_goes_on_is_followed_without_reading_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with tree(tmp_path, shop()) as shown:
        await shown.press("z", "g")
        monkeypatch.setattr("app.tree_desk.outline", None)
        monkeypatch.setattr("app.tree_desk.joined", None)
        conversation = shown.seen.controller._need_runtime().conversation
        call = {"type": "tool_use", "id": "t9", "name": "Bash", "input": {"command": "ls"}}
        message = {"id": "msg_9", "role": "assistant", "content": [call]}
        record = conversation.envelope.assistant(conversation.leaf, message, request_id=None)
        conversation.append(record)
        while "1 tool" not in shown.lines()[2]:
            await shown.seen.pilot.pause(0.05)
            await shown.settle()
        await shown.press("z")
        assert "1 tool" in shown.lines()[3] and shown.node.text == "one"


async def test_keys_do_not_wait_for_a_session_that_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with tree(tmp_path, shop()) as shown:
        goes_on = asyncio.Event()

        async def read() -> None:
            await goes_on.wait()

        monkeypatch.setattr(shown.desk, "read", read)
        shown.screen._read_again()
        await shown.seen.pilot.press("k")
        assert shown.node.text == "side two"
        reader = shown.screen._reader
        shown.screen._grown()
        await shown.seen.pilot.pause()
        assert shown.screen._reader is reader and reader is not None and reader.is_running
        shown.screen.workers.cancel_group(shown.screen, "tree")
        goes_on.set()
