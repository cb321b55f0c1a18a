"""What a resumed session repairs before its next turn (spec/sessions.md, Resume 3)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from app.agent.leftovers import GO_ON, can_go_on
from app.installation import Options
from app.sessions.prompts import INTERRUPTED, INTERRUPTED_FOR_TOOL, text_of, user_kind
from app.sessions.records import JsonObject, Record, new_record
from tests.fakes.clock import START
from tests.fakes.history_rules import history_fault
from tests.fakes.provider import Step, reply
from tests.fakes.stage import SESSION, Stage, installation, stage


def line(kind: str, number: int, **fields: Any) -> JsonObject:
    return {
        "parentUuid": f"u{number - 1}" if number > 1 else None,
        "isSidechain": False,
        "type": kind,
        "uuid": f"u{number}",
        "timestamp": START.isoformat(),
        "sessionId": SESSION,
        **fields,
    }


def user(number: int, content: Any, **fields: Any) -> JsonObject:
    return line("user", number, message={"role": "user", "content": content}, **fields)


def assistant(number: int, *blocks: JsonObject) -> JsonObject:
    message = {
        "id": f"m{number}",
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": list(blocks),
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }
    return line("assistant", number, message=message)


def call(tool_id: str) -> JsonObject:
    return {"type": "tool_use", "id": tool_id, "name": "LS", "input": {"path": "."}}


def result(tool_id: str) -> list[JsonObject]:
    return [{"type": "tool_result", "tool_use_id": tool_id, "content": "a.txt"}]


async def resumed(
    tmp_path: Path, lines: Sequence[JsonObject], *scripts: Sequence[Step], **options: Any
) -> Stage:
    here = installation(tmp_path)
    file = here.places.transcript(here.folder, SESSION)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"".join(new_record(each).raw + b"\n" for each in lines))
    return await stage(tmp_path, *scripts, options=Options(resume=file, **options))


def markers(play: Stage) -> list[str]:
    return [
        text_of(record.data)
        for record in play.records()
        if record.type == "user" and user_kind(record, record.data) == "interrupt"
    ]


def sent(play: Stage) -> list[JsonObject]:
    return [dict(message) for message in play.provider.requests[-1].messages]


async def test_an_unanswered_prompt_is_marked_once(tmp_path: Path) -> None:
    lines = [user(1, "first"), assistant(2, {"type": "text", "text": "Yes."}), user(3, "second")]
    play = await resumed(tmp_path, lines, reply("On.", 4), reply("More.", 5))
    assert markers(play) == [], "a mere look changes nothing"
    await play.turn("go on")
    await play.turn("and on")
    assert markers(play) == [INTERRUPTED]
    assert [block["text"] for block in sent(play)[2]["content"]] == [
        "second",
        INTERRUPTED,
        "go on",
    ]


async def test_open_calls_get_their_results_and_one_mark(tmp_path: Path) -> None:
    lines = [user(1, "look"), assistant(2, call("t1"), call("t2")), user(3, result("t1"))]
    play = await resumed(tmp_path, lines, reply("On.", 4))
    assert play.runtime.opened.session.warnings == (
        "calls that never got a result count as interrupted (1)",
    )
    await play.turn("go on")
    kinds = [block["type"] for block in sent(play)[2]["content"]]
    assert kinds == ["tool_result", "tool_result", "text", "text"]
    assert markers(play) == [INTERRUPTED_FOR_TOOL]
    await play.runtime.close()
    again = await resumed_again(tmp_path, reply("Again.", 5))
    await again.turn("once more")
    assert markers(again) == [INTERRUPTED_FOR_TOOL]
    assert sum(len(record.tool_results) for record in again.records()) == 2


async def resumed_again(tmp_path: Path, *scripts: Sequence[Step]) -> Stage:
    here = installation(tmp_path)
    file = here.places.transcript(here.folder, SESSION)
    return await stage(tmp_path, *scripts, options=Options(resume=file, fork=False))


async def test_a_finished_session_gets_no_mark(tmp_path: Path) -> None:
    lines = [user(1, "first"), assistant(2, {"type": "text", "text": "Yes."})]
    play = await resumed(tmp_path, lines, reply("On.", 4))
    await play.turn("go on")
    assert markers(play) == []
    assert play.runtime.opened.session.warnings == ()


async def test_a_turn_that_was_cut_off_goes_on_without_its_open_calls(tmp_path: Path) -> None:
    lines = [
        user(1, "look"),
        assistant(2, {"type": "text", "text": "I look."}, call("t1"), call("t2")),
        user(3, result("t1")),
    ]
    play = await resumed(tmp_path, lines, reply("Gone on.", 4))
    await play.runtime.go_on_if_cut_off()
    messages = sent(play)
    assert history_fault({"messages": messages}) is None
    assert [block["type"] for block in messages[1]["content"]] == ["text", "tool_use"]
    assert messages[-1]["content"][-1]["text"] == GO_ON
    hidden = [r for r in play.records() if text_of(r.data) == GO_ON]
    assert [user_kind(r, r.data) for r in hidden] == ["meta"]
    named = [r.data.get("supersededToolUseIds") for r in play.records() if r.type == "system"]
    assert named == [["t2"]]
    assert history_fault({"messages": play.messages()}) is None


async def test_a_stale_or_answered_turn_does_not_go_on(tmp_path: Path) -> None:
    old = (START - timedelta(days=2)).isoformat()
    for place, lines in {
        "stale": [user(1, "look", timestamp=old)],
        "answered": [user(1, "look"), assistant(2, {"type": "text", "text": "Seen."})],
    }.items():
        folder = tmp_path / place
        folder.mkdir()
        play = await resumed(folder, lines)
        assert not can_go_on(play.runtime.conversation)
        await play.runtime.go_on_if_cut_off()
        assert play.provider.requests == []


async def test_what_is_not_well_formed_is_left_out_and_told(tmp_path: Path) -> None:
    lines = [
        user(1, "first", permissionMode="superuser", promptId="p1"),
        assistant(2, {"type": "text", "text": "Yes."}, {"type": "text", "text": 7}),
        line("attachment", 3),
        line("attachment", 4, attachment={"type": None}),
        user(5, [{"type": "text", "text": None}]),
        user(6, result("lost")),
        assistant(7, {"type": "text", "text": "Well."}),
    ]
    play = await resumed(tmp_path, lines, reply("On.", 8))
    assert play.runtime.opened.session.warnings == (
        "results whose call was compacted away or lost are not sent; they stay here (1)",
        "text blocks without a text are left out (2)",
        "attachments without content are left out (2)",
        "permission modes that do not exist are not taken over (1)",
    )
    assert play.store.state.session.mode == "default"
    before = play.file.read_bytes()
    await play.turn("go on")
    assert play.file.read_bytes().startswith(before)
    assert history_fault({"messages": sent(play)}) is None


async def test_a_fork_takes_neither_bad_modes_nor_old_prompt_ids(tmp_path: Path) -> None:
    lines = [
        user(1, "first", permissionMode="superuser", promptId="p1"),
        assistant(2, {"type": "text", "text": "Yes."}),
        user(3, "second", permissionMode="plan", promptId="p2"),
    ]
    play = await resumed(tmp_path, lines, fork=True)
    forked = play.runtime.conversation.view.graph.records
    kept = [record.data.get("permissionMode") for record in forked if record.type == "user"]
    assert kept == [None, "plan"]
    assert not any("promptId" in record.data for record in forked)


async def test_bytes_of_old_records_never_change(tmp_path: Path) -> None:
    lines = [user(1, "first"), assistant(2, {"type": "text", "text": "Ja, é, 日本 🌙"})]
    play = await resumed(tmp_path, lines, reply("On.", 4))
    before = play.file.read_bytes()
    await play.turn("go on")
    records: list[Record] = play.records()
    assert b"".join(record.raw + b"\n" for record in records[:2]) == before
    assert play.file.read_bytes().startswith(before)
