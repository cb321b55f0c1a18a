from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.models.errors import ContextExceeded, Overloaded, RequestTooLarge
from app.state import facts as f
from tests.fakes.compacting import (
    SMALL,
    again,
    boundaries,
    called_filled,
    filled,
    is_summary_call,
    metadata,
    texts,
)
from tests.fakes.provider import calls, reply
from tests.fakes.stage import stage


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


async def test_a_first_prompt_that_fills_the_context_is_simply_sent(tmp_path: Path) -> None:
    play = await stage(tmp_path, filled("One.", 9_000, 1), options=SMALL)
    assert (await play.turn("word " * 150_000)).outcome == "completed"
    assert play.told == []
    assert len(play.provider.requests) == 1
