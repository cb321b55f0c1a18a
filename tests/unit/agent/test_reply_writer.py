"""A reply is on disk block by block, and what a broken attempt wrote does not count."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from app.models.errors import StreamCut
from app.models.provider import BlockGrew, BlockStarted, BlockStopped
from app.sessions.codec import parse_transcript
from app.sessions.graph import open_view
from app.sessions.records import JsonObject
from app.sessions.view import request_view
from tests.fakes.history_rules import history_fault
from tests.fakes.provider import called, ended, reply, said, started
from tests.fakes.stage import Stage, stage, until

THOUGHT = {"type": "thinking", "thinking": "Let me see.", "signature": "s"}
HALF_A_CALL = [BlockStarted(1, "tool_use", "t2", "LS"), BlockGrew(1, "input", '{"pa')]
CUT = StreamCut("The connection was closed.")


def thought(index: int = 0) -> list[Any]:
    return [
        BlockStarted(index, "thinking"),
        BlockGrew(index, "thinking", "Let me see."),
        BlockStopped(index, THOUGHT),
    ]


def blocks(play: Stage) -> list[JsonObject]:
    return [
        block
        for record in play.records()
        if record.type == "assistant"
        for block in record.data["message"]["content"]
    ]


async def test_a_block_is_on_disk_when_the_next_one_begins(tmp_path: Path) -> None:
    gate = asyncio.Event()
    script = [
        started(),
        *thought(0),
        *said("Whole.", 1),
        BlockStarted(2, "text"),
        BlockGrew(2, "text", "Half"),
        gate,
        BlockStopped(2, {"type": "text", "text": "Half and half."}),
        ended(),
    ]
    play = await stage(tmp_path, script)
    turn = asyncio.create_task(play.turn())
    await play.provider.waiting.wait()
    assert [block.get("text") for block in blocks(play)] == [None, "Whole."]
    await until(play.store, lambda state: state.live.blocks)
    live = play.store.state.live.blocks
    assert [block.text for block in live] == ["Half"], "what is a record is not shown twice"
    first = play.records()[1].data["message"]
    assert first["usage"]["input_tokens"] == 10
    assert first["stop_reason"] is None
    gate.set()
    result = await turn
    assert result.text == "Whole.\n\nHalf and half."
    ids = {record.message_id for record in play.records() if record.type == "assistant"}
    assert ids == {"msg_1"}
    assert play.records()[-1].data["message"]["stop_reason"] == "end_turn"
    assert len(play.messages()) == 2


async def test_what_a_broken_attempt_wrote_does_not_count(tmp_path: Path) -> None:
    broken = [started(1), *thought(0), *HALF_A_CALL, CUT]
    whole = [started(2), *thought(0), *said("Done.", 1), ended()]
    play = await stage(tmp_path, broken, whole, reply("More.", 3))
    await play.turn()
    assert len(blocks(play)) == 3, "the first thought stays in the file"
    sent = play.messages()[1]["content"]
    assert [block["type"] for block in sent] == ["thinking", "text"]
    await play.turn("go on")
    assert history_fault({"messages": play.messages()}) is None
    live = play.store.state.session.view
    assert request_view(live.graph, live.leaf).messages == play.messages()


async def test_a_whole_call_of_a_broken_reply_gets_its_result(tmp_path: Path) -> None:
    broken = [
        started(1),
        *called("LS", {"path": "."}, "t1", 0),
        *HALF_A_CALL,
        CUT,
    ]
    play = await stage(tmp_path, broken, broken, reply("Again.", 3))
    result = await play.turn()
    assert result.outcome == "failed"
    messages = play.messages()
    assert history_fault({"messages": messages}) is None
    results = [b for b in messages[-1]["content"] if b["type"] == "tool_result"]
    assert [(b["tool_use_id"], b["is_error"]) for b in results] == [("t1", True)]
    assert (await play.turn("go on")).outcome == "completed"


async def test_an_interrupt_between_blocks_keeps_the_whole_ones(tmp_path: Path) -> None:
    gate = asyncio.Event()
    script = [started(), *said("Whole.", 0), *called("LS", {}, "t1", 1), *said("Half", 2), gate]
    play = await stage(tmp_path, script, reply("Again.", 2))
    turn = asyncio.create_task(play.turn())
    await play.provider.waiting.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert [block.get("text") for block in blocks(play)] == ["Whole.", None, "Half"]
    await play.turn("go on")
    assert history_fault({"messages": play.messages()}) is None


async def test_an_empty_last_block_does_not_take_the_usage_with_it(tmp_path: Path) -> None:
    empty = [BlockStarted(1, "text"), BlockStopped(1, {"type": "text", "text": " "})]
    play = await stage(tmp_path, [started(), *said("Whole.", 0), *empty, ended()])
    await play.turn()
    (record,) = [record for record in play.records() if record.type == "assistant"]
    message = record.data["message"]
    assert (message["stop_reason"], message["usage"]["output_tokens"]) == ("end_turn", 5)


async def test_a_server_that_repeats_its_ids_does_not_mix_replies(tmp_path: Path) -> None:
    same = 7
    play = await stage(
        tmp_path,
        [started(same), *said("One.", 0), *called("LS", {"path": "."}, "t1", 1), ended("tool_use")],
        reply("Two.", same),
        reply("Three.", same),
    )
    await play.turn("first")
    await play.turn("second")
    shape = [(m["role"], [b["type"] for b in m["content"]]) for m in play.messages()]
    assert shape == [
        ("user", ["text"]),
        ("assistant", ["text", "tool_use"]),
        ("user", ["tool_result"]),
        ("assistant", ["text"]),
        ("user", ["text"]),
        ("assistant", ["text"]),
    ]


async def test_a_reader_of_blocks_never_gets_one_twice(tmp_path: Path) -> None:
    """Where blocks are shown as they become whole, nothing is asked for again after the first."""
    broken = [started(1), *thought(0), *HALF_A_CALL, CUT]
    play = await stage(tmp_path, broken, reply("Never asked for.", 2))
    play.runtime.loop.shows_partials, play.runtime.loop.shows_blocks = False, True
    assert (await play.turn()).outcome == "failed"
    assert len(play.provider.requests) == 1


async def test_what_was_written_reads_back_the_same(tmp_path: Path) -> None:
    script = [started(), *thought(0), *said("One.", 1), *called("LS", {"path": "."}, "t1", 2)]
    play = await stage(tmp_path, [*script, ended("tool_use")], reply("Done.", 2))
    await play.turn()
    view = open_view(parse_transcript(play.file.read_bytes()).records)
    live = play.store.state.session.view
    assert (view.leaf, view.length) == (live.leaf, live.length)
    assert [block["type"] for block in play.messages()[1]["content"]] == [
        "thinking",
        "text",
        "tool_use",
    ]
