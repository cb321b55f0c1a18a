from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from app.agent.summary_call import SummaryFailed
from app.installation import Options
from app.models.errors import ContextExceeded
from app.state import facts as f
from tests.fakes.compacting import (
    _unmarked,
    boundaries,
    compact,
    filled,
    is_summary_call,
    metadata,
    texts,
)
from tests.fakes.history_rules import history_fault
from tests.fakes.provider import calls, reply, said, started
from tests.fakes.stage import stage


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
