from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from app.agent.tool_runner import CUT_RESULT
from app.models.errors import Overloaded, StreamCut, ThinkingRejected
from app.models.provider import BlockGrew, BlockStarted, BlockStopped, MessageEnded, Usage
from app.sessions.prompts import INTERRUPTED, INTERRUPTED_FOR_TOOL, text_of
from app.state import facts as f
from tests.fakes.history_rules import history_fault
from tests.fakes.provider import called, calls, ended, reply, said, started
from tests.fakes.stage import Stage, stage, until


def results(stage_: Stage) -> list[dict[str, object]]:
    blocks = [b for message in stage_.messages() for b in message["content"]]
    return [b for b in blocks if b["type"] == "tool_result"]


async def test_a_plain_turn_leaves_a_prompt_and_a_reply(tmp_path: Path) -> None:
    play = await stage(tmp_path, reply("Hello there."))
    result = await play.turn("hi")
    assert (result.outcome, result.text, result.calls) == ("completed", "Hello there.", 1)
    assert [record.type for record in play.records()] == ["user", "assistant"]
    assert play.file.stat().st_mode & 0o777 == 0o600
    assert play.file.parent.stat().st_mode & 0o777 == 0o700
    assert play.store.state.live.turn_id is None
    assert play.store.state.limits.usage == Usage(10, 5)


async def test_the_state_on_screen_equals_the_state_read_back(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.txt").write_text("one\n")
    play = await stage(tmp_path, calls(("Read", {"file_path": "a.txt"}, "t1")), reply("One.", 2))
    await play.turn()
    live = play.store.state.session.view
    read = [record.uuid for record in play.records()]
    known = live.graph.records[: live.length]
    assert [record.uuid for record in known if record.in_chain] == read


async def test_tools_run_and_their_results_follow(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.txt").write_text("alpha\n")
    play = await stage(
        tmp_path,
        calls(("Read", {"file_path": "a.txt"}, "t1"), ("LS", {"path": "."}, "t2")),
        reply("Done.", 2),
    )
    await play.turn()
    found = results(play)
    assert [r["tool_use_id"] for r in found] == ["t1", "t2"]
    assert "alpha" in str(found[0]["content"])
    assert history_fault({"messages": play.messages()}) is None


async def test_an_unknown_tool_gets_an_error_result(tmp_path: Path) -> None:
    play = await stage(tmp_path, calls(("Nope", {}, "t1")), reply("Sorry.", 2))
    await play.turn()
    assert results(play)[0]["is_error"] is True


async def test_a_call_in_a_reply_cut_by_max_tokens_is_never_run(tmp_path: Path) -> None:
    play = await stage(
        tmp_path,
        [
            started(),
            *called("Bash", {"command": "echo first"}, "t1"),
            *called("Write", {"file_path": "a.txt", "content": "half"}, "t2", 1),
            ended("max_tokens"),
        ],
        reply("I see.", 2),
        options=None,
    )
    play.runtime.gate.set_mode("bypassPermissions")
    await play.turn()
    first, second = results(play)
    assert "first" in str(first["content"]) and "is_error" not in first
    assert second["content"] == CUT_RESULT and second["is_error"] is True
    assert not (tmp_path / "work" / "a.txt").exists()


async def test_a_half_made_call_is_not_run_and_keeps_its_text(tmp_path: Path) -> None:
    play = await stage(
        tmp_path,
        [
            started(),
            BlockStarted(0, "tool_use", "t1", "Write"),
            BlockGrew(0, "input", '{"file_path":"a.txt","content":"line'),
            ended("max_tokens"),
        ],
        reply("Smaller then.", 2),
    )
    play.runtime.gate.set_mode("bypassPermissions")
    await play.turn()
    assert not (tmp_path / "work" / "a.txt").exists()
    use = play.messages()[1]["content"][0]
    assert use["input"] == {"unfinished_input": '{"file_path":"a.txt","content":"line'}
    assert results(play)[0]["content"] == CUT_RESULT


async def test_a_cut_stream_is_repeated_while_nothing_was_shown(tmp_path: Path) -> None:
    cut = [started(), BlockStarted(0, "tool_use", "t1", "Bash"), StreamCut("cut")]
    play = await stage(tmp_path, cut, reply("Fine.", 2))
    result = await play.turn()
    assert result.outcome == "completed"
    assert len(play.provider.requests) == 2
    assert any(isinstance(fact, f.RetryScheduled) for fact in play.facts)
    assert [record.type for record in play.records()] == ["user", "assistant"]


async def test_a_stream_cut_after_text_keeps_the_text_and_says_so(tmp_path: Path) -> None:
    cut = [
        started(),
        BlockStarted(0, "text"),
        BlockGrew(0, "text", "Writing it."),
        StreamCut("cut"),
    ]
    play = await stage(tmp_path, cut, reply("Again.", 2))
    result = await play.turn()
    assert (result.outcome, result.text) == ("failed", "Writing it.")
    assert len(play.provider.requests) == 1
    kinds = [(r.type, r.subtype) for r in play.records()]
    assert kinds == [("user", None), ("assistant", None), ("system", "api_error")]
    await play.turn("go on")
    sent = play.provider.requests[1].messages
    assert [m["role"] for m in sent] == ["user", "assistant", "user"]
    assert sent[1]["content"] == [{"type": "text", "text": "Writing it."}]


async def test_without_a_screen_a_cut_stream_is_repeated_even_after_text(tmp_path: Path) -> None:
    cut = [started(), BlockStarted(0, "text"), BlockGrew(0, "text", "Wri"), StreamCut("cut")]
    play = await stage(tmp_path, cut, reply("Whole.", 2), shows_partials=False)
    assert (await play.turn()).text == "Whole."


async def test_a_refusal_is_one_request_and_poisons_nothing(tmp_path: Path) -> None:
    partial = [started(), *said("I will start by"), ended("refusal")]
    play = await stage(tmp_path, partial, reply("Sure.", 2))
    result = await play.turn("bad idea")
    assert result.outcome == "declined"
    assert "declined" in result.detail
    assert len(play.provider.requests) == 1
    await play.turn("something else")
    assert play.provider.requests[1].messages[0]["content"][0]["text"] == "something else"
    assert len(play.provider.requests[1].messages) == 1
    assert history_fault({"messages": play.messages()}) is None


async def test_an_empty_refusal_stores_no_reply(tmp_path: Path) -> None:
    play = await stage(tmp_path, [started(), ended("refusal")])
    await play.turn()
    assert [(r.type, r.subtype) for r in play.records()] == [
        ("user", None),
        ("system", "api_refusal"),
    ]


async def test_pause_turn_goes_on_by_itself(tmp_path: Path) -> None:
    play = await stage(tmp_path, reply("One moment.", 1, "pause_turn"), reply("Now.", 2))
    result = await play.turn()
    assert (result.calls, result.text) == (2, "Now.")


async def test_max_turns_stops_between_calls_with_a_valid_history(tmp_path: Path) -> None:
    play = await stage(tmp_path, calls(("LS", {"path": "."}, "t1")))
    play.runtime.loop.max_turns = 1
    result = await play.turn()
    assert (result.outcome, result.hit_max_turns) == ("stopped", True)
    assert history_fault({"messages": play.messages()}) is None


async def test_an_overload_is_waited_for_in_the_open(tmp_path: Path) -> None:
    play = await stage(tmp_path, [Overloaded("busy", retry_after=7.0)], reply("Here."))
    await play.turn()
    planned = [fact for fact in play.facts if isinstance(fact, f.RetryScheduled)]
    assert planned[0].until == 7.0
    assert play.store.state.live.retry is None


async def test_a_refused_thinking_block_is_left_out_once(tmp_path: Path) -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "sig"}
    first = [
        started(),
        BlockStarted(0, "thinking"),
        BlockStopped(0, thinking),
        *said("A.", 1),
        ended(),
    ]
    play = await stage(tmp_path, first, [ThinkingRejected("bad signature")], reply("B.", 2))
    await play.turn()
    result = await play.turn("more")
    assert result.outcome == "completed"
    assert "thinking" in str(play.provider.requests[1].messages)
    assert "thinking" not in str(play.provider.requests[2].messages)


async def interrupt(play: Stage, text: str = "go") -> None:
    task = asyncio.create_task(play.runtime.loop.run_turn(text))
    await play.provider.waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_interrupting_a_reply_keeps_what_was_said(tmp_path: Path) -> None:
    gate = asyncio.Event()
    half = [started(), BlockStarted(0, "text"), BlockGrew(0, "text", "Half a"), gate]
    play = await stage(tmp_path, half, reply("Going on.", 2))
    await interrupt(play)
    assert play.store.state.live.last is not None
    assert play.store.state.live.last.outcome == "interrupted"
    assert text_of(play.records()[1].data) == "Half a"
    assert text_of(play.records()[2].data) == INTERRUPTED
    await play.turn("go on")
    assert [m["role"] for m in play.provider.requests[1].messages] == ["user", "assistant", "user"]


async def test_interrupting_before_the_first_word_stores_no_empty_reply(tmp_path: Path) -> None:
    play = await stage(tmp_path, [started(), BlockStarted(0, "text"), asyncio.Event()])
    await interrupt(play)
    assert [record.type for record in play.records()] == ["user", "user"]


async def test_interrupting_tools_gives_every_call_one_result(tmp_path: Path) -> None:
    play = await stage(
        tmp_path,
        calls(
            ("Bash", {"command": "echo one"}, "t1"),
            ("Bash", {"command": "echo begun; sleep 600"}, "t2"),
            ("Bash", {"command": "echo three"}, "t3"),
        ),
        reply("Going on.", 2),
    )
    play.runtime.gate.set_mode("bypassPermissions")
    begun = asyncio.Event()

    def watch() -> None:
        run = play.store.state.live.tools.get("t2")
        if run is not None and "begun" in run.output:
            begun.set()

    play.store.subscribe(lambda _state: watch())
    task = asyncio.create_task(play.runtime.loop.run_turn("go"))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    found = results(play)
    assert [(r["tool_use_id"], r.get("is_error", False)) for r in found] == [
        ("t1", False),
        ("t2", True),
        ("t3", True),
    ]
    assert "begun" in str(found[1]["content"])
    assert text_of(play.records()[-1].data) == INTERRUPTED_FOR_TOOL
    await play.turn("go on")
    content = play.provider.requests[1].messages[2]["content"]
    assert [b["type"] for b in content] == ["tool_result"] * 3 + ["text"] * 2


async def test_results_of_a_process_that_died_are_written_once(tmp_path: Path) -> None:
    play = await stage(tmp_path, calls(("LS", {"path": "."}, "t1")), reply("x", 2))
    await play.turn()
    await play.runtime.close()
    kept = play.file.read_bytes().split(b"\n")
    play.file.write_bytes(b"\n".join(kept[:3]) + b"\n")
    for number in (3, 4):
        from app.installation import Options

        resumed = await stage(tmp_path, reply("ok", number), options=Options(resume=play.file))
        before = play.file.read_bytes()
        assert resumed.file.read_bytes() == before
        await resumed.turn("go on")
        await resumed.runtime.close()
    blocks = [b for r in play.records() for b in r.tool_results]
    assert blocks == ["t1"]


async def test_a_denied_call_tells_the_model_and_the_turn_goes_on(tmp_path: Path) -> None:
    play = await stage(tmp_path, calls(("Bash", {"command": "rm -rf x"}, "t1")), reply("Ok.", 2))
    task = asyncio.create_task(play.turn())
    await until(play.store, lambda state: state.permission.requests)
    request = play.store.state.permission.requests[0]
    play.runtime.gate.answer(request.id, "no", "too dangerous")
    assert (await task).outcome == "completed"
    assert "too dangerous" in str(results(play)[0]["content"])
    assert play.store.state.permission.requests == ()


async def test_no_and_stop_interrupts_the_turn(tmp_path: Path) -> None:
    play = await stage(tmp_path, calls(("Bash", {"command": "rm x"}, "t1")))
    task = asyncio.create_task(play.turn())
    await until(play.store, lambda state: state.permission.requests)
    play.runtime.gate.answer(play.store.state.permission.requests[0].id, "interrupt")
    assert (await task).outcome == "interrupted"
    assert results(play)[0]["is_error"] is True


async def test_an_allowance_for_the_session_answers_the_next_call_too(tmp_path: Path) -> None:
    command = {"command": "touch a.txt"}
    play = await stage(
        tmp_path,
        calls(("Bash", command, "t1")),
        calls(("Bash", command, "t2"), number=2),
        reply("Ok.", 3),
    )
    task = asyncio.create_task(play.turn())
    await until(play.store, lambda state: state.permission.requests)
    play.runtime.gate.answer(play.store.state.permission.requests[0].id, "session")
    await task
    asked = [fact for fact in play.facts if isinstance(fact, f.PermissionAsked)]
    assert len(asked) == 1
    assert play.saved_rules == []


async def test_where_nobody_can_be_asked_the_call_is_denied(tmp_path: Path) -> None:
    play = await stage(
        tmp_path, calls(("Bash", {"command": "rm x"}, "t1")), reply("Ok.", 2), can_ask=False
    )
    await play.turn()
    assert "nobody can be asked" in str(results(play)[0]["content"])
    assert play.runtime.runner.denials[0]["tool_name"] == "Bash"


async def test_an_unwritable_folder_is_said_and_nothing_is_lost(tmp_path: Path) -> None:
    play = await stage(tmp_path, reply("One."), reply("Two.", 2))
    play.file.mkdir(parents=True)  # in the way
    await play.turn("first")
    assert "could not be" in play.storage_errors[0] or "cannot be" in play.storage_errors[0]
    assert play.runtime.conversation.journal.unsaved == 3
    play.file.rmdir()
    await play.turn("second")
    assert [record.type for record in play.records()] == ["user", "assistant"] * 2


async def test_the_cache_breakpoints_stand_on_the_last_user_messages(tmp_path: Path) -> None:
    play = await stage(tmp_path, reply("One."), reply("Two.", 2), reply("Three.", 3))
    for text in ("a", "b", "c"):
        await play.turn(text)
    request = play.provider.requests[2]
    marked = [i for i, m in enumerate(request.messages) if "cache_control" in str(m)]
    assert marked == [2, 4]
    assert request.system[-1]["cache_control"] == {"type": "ephemeral"}


async def test_a_reply_without_a_stop_reason_never_counts_as_whole(tmp_path: Path) -> None:
    play = await stage(tmp_path, [started(), *said("Half.")])
    result = await play.turn()
    assert result.outcome == "failed"


async def test_growth_is_told_at_most_once_a_frame(tmp_path: Path) -> None:
    events = [BlockStarted(0, "text")] + [BlockGrew(0, "text", "x")] * 500
    block = BlockStopped(0, {"type": "text", "text": "x" * 500})
    play = await stage(tmp_path, [started(), *events, block, MessageEnded("end_turn", Usage(1, 1))])
    await play.turn()
    told = [fact for fact in play.facts if isinstance(fact, f.ReplyGrew)]
    assert len(told) <= 5
    assert told[-1].blocks[0].text == "x" * 500
