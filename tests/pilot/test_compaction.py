"""/compact on the screen: the summary is read, changed, used, kept for later or thrown away."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from app.models.errors import ServerFault
from app.sessions.codec import parse_transcript
from tests.fakes.provider import reply, said, started
from tests.pilot.stage import Window, window
from widgets.ask.receipt import ReceiptBox
from widgets.conversation.blocks import CardBlock, NoteBlock
from widgets.status_line import StatusLine


def boundaries(seen: Window) -> int:
    here, state = seen.controller.here, seen.state
    file = here.places.transcript(here.folder, state.session.session_id)
    return sum(record.is_boundary for record in parse_transcript(file.read_bytes()).records)


def texts(seen: Window) -> str:
    return str(seen.provider.requests[-1].messages)


async def receipt(seen: Window) -> ReceiptBox:
    await seen.send("Is the sky blue?")
    await seen.idle()
    await seen.send("/compact keep colours")
    await seen.until(lambda state: state.compaction.receipt)
    return await seen.box("#receipt")


SCRIPTS = (reply("Yes, blue.", 1), reply("## Summary\nBlue.", 2), reply("Fine.", 3))


async def test_the_summary_is_used_when_the_person_says_so(tmp_path: Path) -> None:
    async with window(tmp_path, *SCRIPTS) as seen:
        box = await receipt(seen)
        assert box.summary == "## Summary\nBlue."
        assert "waiting for you" in seen.screen.query_one(StatusLine).render_line(0).text
        assert boundaries(seen) == 0
        await seen.pilot.press("1")
        await seen.until(lambda state: not state.compaction.receipt and not state.live.turn_id)
        assert boundaries(seen) == 1
        notes = [b.text for b in seen.conversation.blocks if isinstance(b, NoteBlock)]
        assert any("2 messages summed up" in text for text in notes)
        card = next(b for b in seen.conversation.blocks if isinstance(b, CardBlock))
        assert (card.name, card.title) == ("Summary", "Summary")
        assert seen.prompt.has_focus
        await seen.send("and the sea?")
        await seen.idle()
        assert "Blue." in texts(seen)
        assert "Yes, blue." not in texts(seen)


async def test_the_summary_is_changed_before_it_counts(tmp_path: Path) -> None:
    async with window(tmp_path, *SCRIPTS) as seen:
        await receipt(seen)
        await seen.pilot.press("2", *"My ", "1")
        assert boundaries(seen) == 0, "keys go to the text and not to the choices"
        await seen.pilot.press("escape")
        await seen.pilot.press("1")
        await seen.until(lambda state: not state.compaction.receipt and not state.live.turn_id)
        await seen.send("go on")
        await seen.idle()
        assert "My 1## Summary" in texts(seen)


@pytest.mark.parametrize(("keys", "kept"), [(["3"], True), (["escape"], True), (["4"], False)])
async def test_a_summary_can_wait_or_go(tmp_path: Path, keys: list[str], kept: bool) -> None:
    async with window(tmp_path, *SCRIPTS) as seen:
        await receipt(seen)
        await seen.pilot.press("2", "X", "escape", *keys)
        await seen.until(lambda state: not state.compaction.receipt)
        assert boundaries(seen) == 0
        await seen.send("/compact")
        await seen.until(lambda state: state.compaction.receipt)
        box = await seen.box("#receipt")
        assert box.summary == ("X## Summary\nBlue." if kept else "Fine.")


async def test_undo_shows_the_branch_before(tmp_path: Path) -> None:
    async with window(tmp_path, *SCRIPTS) as seen:
        await receipt(seen)
        await seen.pilot.press("1")
        await seen.until(lambda state: not state.compaction.receipt and not state.live.turn_id)
        await seen.send("/uncompact")
        await seen.pilot.pause()
        assert not any(isinstance(b, CardBlock) for b in seen.conversation.blocks)
        assert "back to before the compaction" in seen.shown()
        await seen.send("again")
        await seen.idle()
        assert "Yes, blue." in texts(seen)
        await seen.send("/uncompact")
        notices = [notice.text for notice in seen.state.notices]
        assert "This branch has no compaction that could be undone." in notices


async def test_esc_stops_the_writing_of_a_summary(tmp_path: Path) -> None:
    gate = asyncio.Event()
    script: list[Any] = [started(2), *said("word " * 100, 0), gate]
    async with window(tmp_path, SCRIPTS[0], script) as seen:
        await seen.send("Is the sky blue?")
        await seen.idle()
        await seen.send("/compact")
        await seen.until(lambda state: state.compaction.characters)
        line = seen.screen.query_one(StatusLine).render_line(0).text
        assert "summing up: 500 characters" in line
        await seen.pilot.press("escape")
        await seen.until(lambda state: state.live.turn_id is None)
        assert seen.state.compaction.trigger is None
        assert boundaries(seen) == 0


async def test_a_failed_summary_is_told_and_changes_nothing(tmp_path: Path) -> None:
    fault = ServerFault("The server failed.", retry_after=999.0)
    async with window(tmp_path, SCRIPTS[0], [fault]) as seen:
        await seen.send("Is the sky blue?")
        await seen.idle()
        await seen.send("/compact")
        await seen.until(lambda state: state.notices)
        assert "The server failed." in seen.state.notices[-1].text
        assert boundaries(seen) == 0
        assert seen.state.live.last is not None
        assert seen.state.live.last.outcome == "failed"


async def test_what_was_queued_waits_for_the_person(tmp_path: Path) -> None:
    gate = asyncio.Event()
    script: list[Any] = [started(2), gate, *reply("Summed up.", 2)[1:]]
    async with window(tmp_path, SCRIPTS[0], script, reply("Fine.", 3)) as seen:
        await seen.send("Is the sky blue?")
        await seen.idle()
        await seen.send("/compact")
        await seen.until(lambda state: state.live.phase == "compacting")
        await seen.send("next question")
        assert len(seen.state.live.queue) == 1
        gate.set()
        await seen.until(lambda state: state.compaction.receipt)
        await seen.box("#receipt")
        assert len(seen.provider.requests) == 2
        await seen.pilot.press("1")
        await seen.until(lambda _: len(seen.provider.requests) == 3)
        await seen.idle()
        assert "next question" in texts(seen)
        assert "Summed up." in texts(seen)


async def test_a_new_session_gets_a_title(tmp_path: Path) -> None:
    scripts = (reply("Yes, blue.", 1), reply("“Colour of the sky.”", 2), reply("More.", 3))
    async with window(tmp_path, *scripts, titles=True) as seen:
        await seen.send("Is the sky blue?")
        await seen.until(lambda state: state.session.title == "Colour of the sky")
        asked = seen.provider.requests[1]
        assert (asked.model, asked.tools, asked.system) == ("claude-haiku-5-5", (), ())
        await seen.send("go on")
        await seen.idle()
        assert len(seen.provider.requests) == 3, "it is asked for once"


async def test_a_shell_line_has_no_title_but_the_prompt_behind_it_has(tmp_path: Path) -> None:
    scripts = (reply("Yes, blue.", 1), reply("Colour of the sky", 2))
    async with window(tmp_path, *scripts, titles=True) as seen:
        await seen.send("!true")
        await seen.idle()
        await seen.pilot.pause()
        assert seen.provider.requests == []
        await seen.send("Is the sky blue?")
        await seen.until(lambda state: state.session.title == "Colour of the sky")


async def test_without_a_small_model_the_first_prompt_is_the_title(tmp_path: Path) -> None:
    async with window(tmp_path, SCRIPTS[0]) as seen:
        await seen.send("Is   the sky\nblue?")
        await seen.idle()
        assert seen.state.session.title == "Is the sky blue?"
        assert len(seen.provider.requests) == 1


async def test_a_file_that_cannot_be_read_leaves_the_session_open(tmp_path: Path) -> None:
    async with window(tmp_path, SCRIPTS[0]) as seen:
        await seen.send("Is the sky blue?")
        await seen.idle()
        session_id = seen.state.session.session_id
        folder = tmp_path / "a folder.jsonl"
        folder.mkdir()
        await seen.controller.open_transcript(folder)
        assert seen.state.session.session_id == session_id
        assert "cannot be read" in seen.state.notices[-1].text
