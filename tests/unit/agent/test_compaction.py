from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from app.agent.summary_call import SummaryFailed
from app.installation import Options
from app.models.errors import ContextExceeded, Overloaded, RequestTooLarge
from app.models.provider import MessageEnded, ModelRequest, StreamEvent, Usage
from app.models.rehearsal.markers import SUMMARY_MARKER
from app.sessions.records import Record
from app.state import facts as f
from tests.fakes.history_rules import history_fault
from tests.fakes.provider import called, calls, reply, said, started
from tests.fakes.stage import Stage, stage

SMALL = Options(model="claude-haiku-4-5")
"""A model with a window of 200 000 tokens."""


def filled(text: str, tokens: int, number: int) -> list[StreamEvent]:
    """A reply after which the context holds so many tokens."""
    raw = {"input_tokens": tokens, "output_tokens": 5}
    return [
        started(number),
        *said(text),
        MessageEnded("end_turn", Usage(tokens, 5), raw_usage=raw),
    ]


def called_filled(tokens: int, number: int, tool_id: str) -> list[StreamEvent]:
    raw = {"input_tokens": tokens, "output_tokens": 5}
    end = MessageEnded("tool_use", Usage(tokens, 5), raw_usage=raw)
    return [started(number), *called("LS", {"path": "."}, tool_id), end]


def texts(messages: Any) -> str:
    return "\n".join(
        str(block.get("text") or "") for message in messages for block in message["content"]
    )


def is_summary_call(request: ModelRequest) -> bool:
    return SUMMARY_MARKER in texts(request.messages[-1:])


def boundaries(play: Stage) -> list[Record]:
    return [record for record in play.records() if record.is_boundary]


def metadata(play: Stage) -> dict[str, Any]:
    return boundaries(play)[-1].data["compactMetadata"]


async def compact(play: Stage, instructions: str = "") -> None:
    receipt = await play.runtime.compactor.draft(instructions)
    await play.runtime.compactor.accept(receipt.summary)


async def test_a_summary_takes_the_place_of_what_was_said(tmp_path: Path) -> None:
    play = await stage(
        tmp_path, reply("Yes, blue.", 1), reply("SUMMARY: the sky is blue.", 2), reply("Fine.", 3)
    )
    await play.turn("Is the sky blue?")
    await compact(play)
    await play.turn("And the sea?")
    last = play.provider.requests[-1].messages
    assert "SUMMARY: the sky is blue." in texts(last)
    assert "Yes, blue." not in texts(last)
    assert "Is the sky blue?" in texts(last), "the last request is kept word for word"
    assert "And the sea?" in texts(last)
    assert history_fault({"messages": play.messages()}) is None


async def test_the_summary_is_asked_for_behind_the_same_prefix(tmp_path: Path) -> None:
    play = await stage(tmp_path, reply("Yes.", 1), reply("Summed up.", 2))
    await play.turn("Is the sky blue?")
    await play.runtime.compactor.draft("keep the colours")
    turn, summary = play.provider.requests
    assert is_summary_call(summary)
    assert (summary.system, summary.tools, summary.thinking) == (
        turn.system,
        turn.tools,
        turn.thinking,
    )
    assert summary.tool_choice is None
    assert "keep the colours" in texts(summary.messages[-1:])
    assert texts(summary.messages[:1]) == "Is the sky blue?"


async def test_nothing_counts_before_the_person_says_so(tmp_path: Path) -> None:
    play = await stage(tmp_path, reply("Yes.", 1), reply("Summed up.", 2), reply("Sure.", 3))
    await play.turn("Is the sky blue?")
    receipt = await play.runtime.compactor.draft("")
    assert play.store.state.compaction.receipt == receipt
    assert (receipt.summary, receipt.summarised, receipt.kept) == ("Summed up.", 2, 0)
    assert receipt.last_request == "Is the sky blue?"
    assert not boundaries(play)
    play.runtime.compactor.discard()
    assert play.store.state.compaction.receipt is None
    await play.turn("go on")
    assert "Summed up." not in texts(play.provider.requests[-1].messages)


async def test_the_person_s_own_words_are_what_counts(tmp_path: Path) -> None:
    play = await stage(tmp_path, reply("Yes.", 1), reply("Summed up.", 2), reply("Sure.", 3))
    await play.turn("Is the sky blue?")
    await play.runtime.compactor.draft("")
    await play.runtime.compactor.accept("In my own words.")
    await play.turn("go on")
    sent = texts(play.provider.requests[-1].messages)
    assert "In my own words." in sent
    assert "Summed up." not in sent


async def test_what_is_kept_and_dropped_stands_in_the_boundary(tmp_path: Path) -> None:
    long = "word " * 8_000
    play = await stage(tmp_path, reply(long, 1), reply("Short.", 2), reply("Summed up.", 3))
    await play.turn("first")
    await play.turn("second")
    before = play.file.read_bytes()
    await compact(play)
    found = metadata(play)
    assert play.file.read_bytes().startswith(before), "nothing old is touched"
    assert found["trigger"] == "manual"
    assert found["precomputed"] is False
    assert found["messagesSummarized"] == 2
    assert found["preTokens"] > found["postTokens"] > 0
    assert found["cumulativeDroppedTokens"] == found["preTokens"] - found["postTokens"]
    records = play.records()
    kept = found["preservedMessages"]["uuids"]
    assert kept == [records[2].uuid, records[3].uuid]
    assert boundaries(play)[0].logical_parent == records[3].uuid
    assert play.store.state.limits.context_tokens == found["postTokens"]


async def test_kept_turns_follow_the_summary_word_for_word(tmp_path: Path) -> None:
    long = "word " * 8_000
    play = await stage(
        tmp_path, reply(long, 1), reply("Short.", 2), reply("Summed up.", 3), reply("Third.", 4)
    )
    await play.turn("first")
    await play.turn("second")
    await compact(play)
    await play.turn("third")
    sent = play.provider.requests[-1].messages
    assert [m["role"] for m in sent] == ["user", "assistant", "user"]
    assert texts(sent[:1]).endswith("Summed up.\nsecond")
    assert texts(sent[1:2]) == "Short."
    assert texts(sent[2:]) == "third"
    assert play.messages()[:3] == [
        {"role": m["role"], "content": [_unmarked(b) for b in m["content"]]} for m in sent
    ]


def _unmarked(block: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key != "cache_control"}


async def test_undo_goes_back_to_before_the_compaction(tmp_path: Path) -> None:
    play = await stage(
        tmp_path,
        reply("Yes, blue.", 1),
        reply("Summed up.", 2),
        reply("Later.", 3),
        reply("Back.", 4),
    )
    await play.turn("Is the sky blue?")
    await compact(play)
    await play.turn("after it")
    assert play.runtime.compactor.undo()
    await play.turn("again")
    sent = texts(play.provider.requests[-1].messages)
    assert "Yes, blue." in sent
    assert "Summed up." not in sent
    assert "after it" not in sent
    assert texts(play.messages()) == f"{sent}\nBack.", "and it stays so when it is read back"
    assert not play.runtime.compactor.undo(), "there is no compaction on this branch any more"


async def test_a_second_compaction_keeps_the_request_from_before_the_first(tmp_path: Path) -> None:
    play = await stage(
        tmp_path,
        calls(("LS", {"path": "."}, "t1"), number=1),
        called_filled(190_000, 2, "t2"),
        reply("FIRST SUMMARY", 3),
        called_filled(90_000, 4, "t3"),
        called_filled(180_000, 5, "t4"),
        reply("SECOND SUMMARY", 6),
        filled("Done.", 20_000, 7),
        options=SMALL,
    )
    await play.turn("Do the whole thing.")
    assert len(boundaries(play)) == 2
    sent = texts(play.provider.requests[-1].messages)
    assert "SECOND SUMMARY" in sent
    assert "FIRST SUMMARY" not in sent
    assert "Do the whole thing." in sent


async def test_a_full_context_is_summed_up_by_itself_once(tmp_path: Path) -> None:
    play = await stage(
        tmp_path,
        filled("One.", 171_000, 1),
        reply("Summed up.", 2),
        filled("Two.", 12_000, 3),
        filled("Three.", 12_500, 4),
        options=SMALL,
    )
    for words in ("one", "two", "three"):
        await play.turn(words)
    assert [is_summary_call(r) for r in play.provider.requests] == [False, True, False, False]
    assert metadata(play)["trigger"] == "auto"
    assert play.store.state.limits.context_tokens == 12_505
    assert f.CompactionStarted("auto") in play.facts


async def test_below_the_limit_nothing_is_summed_up(tmp_path: Path) -> None:
    play = await stage(
        tmp_path, filled("One.", 140_000, 1), filled("Two.", 141_000, 2), options=SMALL
    )
    await play.turn("one")
    await play.turn("two")
    assert len(play.provider.requests) == 2


async def test_a_summary_made_ahead_is_used_when_it_is_needed(tmp_path: Path) -> None:
    play = await stage(
        tmp_path,
        filled("One.", 155_000, 1),
        reply("Made ahead.", 2),
        filled("Two.", 172_000, 3),
        filled("Three.", 9_000, 4),
        options=SMALL,
    )
    await play.turn("one")
    ahead = play.runtime.compactor._ahead
    assert ahead is not None
    await ahead
    assert not boundaries(play), "it does not count yet"
    await play.turn("two")
    await play.turn("three")
    assert [is_summary_call(r) for r in play.provider.requests] == [False, True, False, False]
    assert metadata(play)["precomputed"] is True
    sent = play.provider.requests[-1].messages
    assert "Made ahead." in texts(sent)
    assert texts(sent[1:]) == "Two.\nthree", "what came after the summary is kept as it was"


async def test_a_summary_made_ahead_can_be_looked_at(tmp_path: Path) -> None:
    play = await stage(tmp_path, filled("One.", 155_000, 1), reply("Made ahead.", 2), options=SMALL)
    await play.turn("one")
    assert play.runtime.compactor._ahead is not None
    await play.runtime.compactor._ahead
    receipt = await play.runtime.compactor.draft("")
    assert receipt.summary == "Made ahead."
    assert len(play.provider.requests) == 2


async def test_nothing_is_made_ahead_where_nobody_waits(tmp_path: Path) -> None:
    play = await stage(tmp_path, filled("One.", 155_000, 1), options=SMALL, can_ask=False)
    await play.turn("one")
    assert play.runtime.compactor._ahead is None


@pytest.mark.parametrize(
    "sizes", [(192_000, 190_500, 193_000, 192_100, 194_000)], ids=["cases/B15"]
)
async def test_useless_compactions_end_after_two(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    scripts = [
        filled("One.", sizes[0], 1),
        reply("Useless.", 2),
        called_filled(sizes[1], 3, "t3"),
        filled("Two.", sizes[2], 4),
        reply("Useless too.", 5),
        filled("Three.", sizes[3], 6),
        filled("Four.", sizes[4], 7),
        filled("Five.", 195_000, 8),
    ]
    play = await stage(tmp_path, *scripts, options=SMALL, can_ask=False)
    for words in ("one", "two", "three " * 9_000, "four", "five"):
        await play.turn(words)
    assert sum(map(is_summary_call, play.provider.requests)) == 2
    paused = [words for words in play.told if "not done by itself any more" in words]
    assert len(paused) == 1
    assert "is the summary with the last request (about 15," in paused[0], "the largest is named"
    play.provider.scripts.append(reply("By hand.", 9))
    assert (await play.runtime.compactor.draft("")).summary == "By hand."


async def test_the_size_comes_from_the_next_real_call(tmp_path: Path) -> None:
    """Second run of cases/B15: the server says 10 %, so nothing is full any more."""
    play = await stage(
        tmp_path,
        filled("One.", 192_000, 1),
        reply("Useful.", 2),
        *(filled("More.", 20_000, number) for number in range(3, 6)),
        options=SMALL,
    )
    for words in ("one", "two", "three", "four"):
        await play.turn(words)
    assert sum(map(is_summary_call, play.provider.requests)) == 1
    assert play.store.state.limits.context_tokens == 20_005


async def test_three_failures_end_it_and_the_session_goes_on(tmp_path: Path) -> None:
    failed: list[Any] = [Overloaded("The service is busy.", retry_after=999.0)]
    scripts = [filled("One.", 171_000, 1)]
    for number in range(2, 6):
        scripts += [failed, filled("On.", 171_000 + number * 2_000, number)]
    del scripts[-2]
    play = await stage(tmp_path, *scripts, options=SMALL, can_ask=False)
    for words in "abcde":
        assert (await play.turn(words)).outcome == "completed"
    assert sum(map(is_summary_call, play.provider.requests)) == 3
    assert not boundaries(play)
    assert "not tried by itself any more" in play.told[-1]
    assert len(play.told) == 3, "a failure is told once each"


async def test_a_request_found_too_long_is_summed_up_and_sent_again(tmp_path: Path) -> None:
    play = await stage(
        tmp_path,
        filled("One.", 100_000, 1),
        [ContextExceeded("The request is too long.")],
        reply("Summed up.", 2),
        filled("Two.", 9_000, 3),
        options=SMALL,
    )
    await play.turn("one")
    assert (await play.turn("two")).outcome == "completed"
    sent = texts(play.provider.requests[-1].messages)
    assert "Summed up." in sent
    assert "two" in sent


async def test_a_summary_that_is_too_long_itself_is_tried_shorter(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "big.txt").write_text("line of text\n" * 1_500)
    too_long: list[Any] = [ContextExceeded("The request is too long.")]
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "AA"},
    }
    play = await stage(
        tmp_path,
        calls(("Read", {"file_path": "big.txt"}, "t1"), number=1),
        reply("Read.", 2),
        too_long,
        reply("Summed up.", 3),
    )
    await play.runtime.loop.run_turn([{"type": "text", "text": "look"}, picture])
    await play.runtime.compactor.draft("")
    whole, shorter = play.provider.requests[-2:]
    assert any(block["type"] == "image" for block in whole.messages[0]["content"])
    assert all(block["type"] == "text" for block in shorter.messages[0]["content"])
    result = shorter.messages[2]["content"][0]["content"]
    assert "characters left out" in result
    assert len(result) < 5_000


async def test_a_cancelled_compaction_changes_nothing(tmp_path: Path) -> None:
    gate = asyncio.Event()
    play = await stage(tmp_path, reply("Yes.", 1), [started(2), *said("Summ"), gate])
    await play.turn("Is the sky blue?")
    before = play.file.read_bytes()
    task = asyncio.create_task(play.runtime.compactor.draft(""))
    await play.provider.waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert play.file.read_bytes() == before
    assert play.store.state.compaction.trigger is None


async def test_an_empty_session_has_nothing_to_sum_up(tmp_path: Path) -> None:
    play = await stage(tmp_path)
    with pytest.raises(SummaryFailed, match="nothing to sum up"):
        await play.runtime.compactor.draft("")


async def test_a_model_that_only_calls_tools_is_asked_again(tmp_path: Path) -> None:
    play = await stage(
        tmp_path, reply("Yes.", 1), calls(("LS", {}, "t1"), number=2), reply("Summed up.", 3)
    )
    await play.turn("Is the sky blue?")
    assert (await play.runtime.compactor.draft("")).summary == "Summed up."
    assert play.provider.requests[-1].tool_choice == {"type": "none"}


async def test_files_that_were_read_are_attached_again(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    scripts = []
    for number in range(7):
        (work / f"f{number}.txt").write_text(f"content {number}\n" + "filler text\n" * 500)
        scripts.append(
            calls(("Read", {"file_path": f"f{number}.txt"}, f"t{number}"), number=number)
        )
    (work / "gone.txt").write_text("gone\n")
    scripts.append(calls(("Read", {"file_path": "gone.txt"}, "tg"), number=8))
    play = await stage(
        tmp_path, *scripts, filled("Read.", 150_000, 9), reply("Summed up.", 10), reply("Go.", 11)
    )
    await play.turn("read them")
    (work / "gone.txt").unlink()
    (work / "f6.txt").write_text("changed since\n")
    await compact(play)
    await play.turn("go on")
    sent = texts(play.provider.requests[-1].messages)
    assert "changed since" in sent
    assert [number for number in range(7) if f"f{number}.txt" in sent] == [2, 3, 4, 5, 6]
    assert "gone.txt" not in sent
    assert history_fault({"messages": play.messages()}) is None


async def test_a_file_that_may_not_be_read_now_is_not_attached(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "plans.txt").write_text("the password\n")
    play = await stage(
        tmp_path,
        calls(("Read", {"file_path": "plans.txt"}, "t1"), number=1),
        filled("Read.", 90_000, 2),
        reply("Summed up.", 3),
    )
    await play.turn("read it")
    denying = play.here.settings(Options(denied=("Read(plans.txt)",))).settings
    play.runtime.take_settings(play.here, Options(denied=("Read(plans.txt)",)), denying)
    await compact(play)
    assert "the password" not in texts(play.messages())


async def test_every_point_of_a_long_turn_can_be_compacted(tmp_path: Path) -> None:
    """cases/B12: wherever the cut falls, calls keep their results and roles alternate."""
    rounds = 60
    scripts = [
        calls(
            ("LS", {"path": "."}, f"a{number}"),
            ("LS", {"path": "."}, f"b{number}"),
            number=number,
        )
        for number in range(rounds)
    ]
    play = await stage(tmp_path, *scripts, reply("Done.", rounds), options=Options(tools=("LS",)))
    await play.turn("Do the whole thing.")
    records = play.records()
    for end in range(2, len(records), 7):
        folder = tmp_path / f"cut{end}"
        folder.mkdir()
        again = await stage(folder, reply("Summed up.", 900), reply("On.", 901))
        again.runtime.conversation.append(*records[:end])
        again.runtime.loop.answer_leftovers()
        await compact(again)
        assert history_fault({"messages": again.messages()}) is None
        await again.turn("go on")
        assert history_fault({"messages": again.messages()}) is None
        assert "Do the whole thing." in texts(again.messages())


async def test_the_cost_of_a_summary_is_counted(tmp_path: Path) -> None:
    play = await stage(tmp_path, reply("Yes.", 1), reply("Summed up.", 2))
    await play.turn("hi")
    before = play.store.state.limits
    await play.runtime.compactor.draft("")
    after = play.store.state.limits
    assert after.usage.output == before.usage.output + 5
    assert after.context_tokens == before.context_tokens, "a summary's own call is not the context"
    purposes = [fact.purpose for fact in play.facts if isinstance(fact, f.RequestMeasured)]
    assert purposes == ["turn", "compact"]
    await play.runtime.compactor.accept("Summed up.")
    spent_before = play.store.state.limits
    await play.runtime.close()
    again = await stage(tmp_path, options=Options(resume=play.file))
    assert again.store.state.limits.usage == spent_before.usage, "also when it is read back"
    assert again.store.state.limits.cost_usd == spent_before.cost_usd


async def again(play: Stage, *scripts: Any) -> Stage:
    """The same session in a process that knows nothing of the last one."""
    await play.runtime.close()
    folder = play.here.folder.parent
    return await stage(
        folder,
        *scripts,
        options=Options(model=SMALL.model, resume=play.file),
        can_ask=False,
    )


async def test_useless_compactions_end_after_two_in_other_processes_too(tmp_path: Path) -> None:
    play = await stage(tmp_path, filled("One.", 192_000, 1), options=SMALL, can_ask=False)
    await play.turn("one")
    made = 0
    for number in range(2, 9):
        size = 192_000 + number * 2_500
        turn, summary = filled("On.", size, number), filled("Useless.", size, 50 + number)
        play = await again(play, summary, turn)
        if not play.runtime.compactor._guard.allows(play.runtime.compactor.size()):
            del play.provider.scripts[0]
        await play.turn(f"prompt {number}")
        made += sum(map(is_summary_call, play.provider.requests))
    assert made == 2
    assert play.runtime.compactor._guard.is_paused


async def test_failures_are_counted_across_processes(tmp_path: Path) -> None:
    play = await stage(tmp_path, filled("One.", 171_000, 1), options=SMALL, can_ask=False)
    await play.turn("one")
    failed: list[Any] = [Overloaded("The service is busy.", retry_after=999.0)]
    made = 0
    for number in range(2, 8):
        play = await again(play, failed, filled("On.", 171_000 + number, number))
        if made == 3:
            del play.provider.scripts[0]
        await play.turn(f"prompt {number}")
        made += sum(map(is_summary_call, play.provider.requests))
    assert made == 3


async def test_failed_summaries_ahead_end_after_three(tmp_path: Path) -> None:
    failed: list[Any] = [Overloaded("The service is busy.", retry_after=999.0)]
    scripts = [filled("One.", 155_000, 1)]
    for number in range(2, 7):
        scripts += [failed, filled("On.", 155_000 + number, number)]
    play = await stage(tmp_path, *scripts, options=SMALL)
    for number in range(6):
        if play.runtime.compactor._guard.is_paused:
            play.provider.scripts = [s for s in play.provider.scripts if s is not failed]
        await play.turn(f"prompt {number}")
        if (ahead := play.runtime.compactor._ahead) is not None:
            await ahead
    assert sum(map(is_summary_call, play.provider.requests)) == 3
    assert "not tried by itself any more" in play.told[-1]


async def test_what_the_person_put_away_never_counts_by_itself(tmp_path: Path) -> None:
    play = await stage(
        tmp_path,
        filled("One.", 100_000, 1),
        reply("Put away.", 2),
        filled("Two.", 172_000, 3),
        reply("Made anew.", 4),
        filled("Three.", 9_000, 5),
        options=SMALL,
        can_ask=False,
    )
    await play.turn("one")
    await play.runtime.compactor.draft("")
    play.runtime.compactor.postpone("Put away.")
    await play.turn("two")
    await play.turn("three")
    sent = texts(play.provider.requests[-1].messages)
    assert "Made anew." in sent
    assert "Put away." not in sent


async def test_an_empty_summary_never_counts(tmp_path: Path) -> None:
    play = await stage(tmp_path, reply("Yes.", 1), reply("Summed up.", 2), reply("Anew.", 3))
    await play.turn("Is the sky blue?")
    await play.runtime.compactor.draft("")
    with pytest.raises(SummaryFailed, match="empty"):
        await play.runtime.compactor.accept("  \n")
    assert not boundaries(play)
    await play.runtime.compactor.draft("")
    play.runtime.compactor.postpone("")
    assert (await play.runtime.compactor.draft("")).summary == "Anew."


async def test_an_undone_compaction_is_not_made_again_by_itself(tmp_path: Path) -> None:
    play = await stage(
        tmp_path,
        filled("One.", 171_000, 1),
        reply("Summed up.", 2),
        filled("Two.", 9_000, 3),
        filled("Three.", 174_000, 4),
        options=SMALL,
        can_ask=False,
    )
    await play.turn("one")
    await play.turn("two")
    assert play.runtime.compactor.undo()
    await play.turn("three")
    assert sum(map(is_summary_call, play.provider.requests)) == 1
    later = await again(play, filled("Four.", 176_000, 5))
    await later.turn("four")
    assert len(later.provider.requests) == 1


async def test_a_request_with_too_many_bytes_is_rescued_too(tmp_path: Path) -> None:
    play = await stage(
        tmp_path,
        filled("One.", 100_000, 1),
        [RequestTooLarge("The request is too large.")],
        reply("Summed up.", 2),
        filled("Two.", 9_000, 3),
        options=SMALL,
    )
    await play.turn("one")
    assert (await play.turn("two")).outcome == "completed"


async def test_a_tail_torn_off_behind_the_summary_costs_only_itself(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_text("alpha\n" * 50)
    long = "word " * 8_000
    play = await stage(
        tmp_path,
        calls(("Read", {"file_path": "a.txt"}, "t1"), number=1),
        reply(long, 2),
        reply("Short.", 3),
        reply("Summed up.", 4),
    )
    await play.turn("first")
    await play.turn("THE LAST REQUEST")
    await compact(play)
    content = play.file.read_bytes()
    play.file.write_bytes(content[:-300])
    sent = texts(play.messages())
    assert "Summed up." in sent
    assert "THE LAST REQUEST" in sent
    assert "Short." in sent
