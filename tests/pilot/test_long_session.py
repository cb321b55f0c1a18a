from __future__ import annotations

import uuid
from pathlib import Path

from app.installation import Options
from tests.fakes.stage import installation
from tests.pilot.stage import Window, window
from tests.unit.widgets.test_feed import Writer, use
from widgets.conversation.blocks import CardBlock, PromptBlock
from widgets.conversation.feed import RECENT_RECORDS, Feed

TURNS = 300


def long_talk(turns: int = TURNS) -> Writer:
    writer = Writer()
    for number in range(turns):
        writer.user(f"prompt {number}")
        writer.assistant(use(f"t{number}", "Bash", command=f"echo {number}"), number=2 * number)
        writer.result(f"t{number}", f"output {number}", {"stdout": "x"})
        writer.assistant({"type": "text", "text": f"Answer {number}."}, number=2 * number + 1)
    return writer


def saved(tmp_path: Path) -> Options:
    here = installation(tmp_path)
    session = str(uuid.UUID(int=7, version=4))
    file = here.places.transcript(here.folder, session)
    file.parent.mkdir(parents=True)
    lines = [
        r.raw.replace(b'"sessionId":"s"', b'"sessionId":"%s"' % session.encode())
        for r in long_talk().view.graph.records
    ]
    file.write_bytes(b"\n".join(lines) + b"\n")
    return Options(resume=file)


async def opened(seen: Window) -> None:
    await seen.until(lambda state: state.session.view.length)
    await seen.pilot.pause()


def test_earlier_records_become_the_same_blocks_bit_by_bit() -> None:
    writer = long_talk()
    whole = Feed()
    whole.show(writer.view, "/w")
    while whole.has_older:
        whole.add_older(7)
    small = Feed()
    small.show(long_talk(2).view, "/w")
    assert isinstance(small.blocks[1], CardBlock) and small.blocks[1].output == "output 0"
    assert len(whole.blocks) == TURNS * 3
    cards = [block for block in whole.blocks if isinstance(block, CardBlock)]
    assert [card.output for card in cards] == [f"output {n}" for n in range(TURNS)]
    assert {card.state for card in cards} == {"ok"}
    prompts = [block.text for block in whole.blocks if isinstance(block, PromptBlock)]
    assert prompts == [f"prompt {n}" for n in range(TURNS)]


async def test_only_the_end_is_made_into_blocks_at_first(tmp_path: Path) -> None:
    async with window(tmp_path, options=saved(tmp_path)) as seen:
        await opened(seen)
        assert len(seen.conversation.blocks) <= RECENT_RECORDS
        assert f"Answer {TURNS - 1}." in seen.shown()


async def test_going_up_fetches_what_lies_before_and_holds_the_screen(tmp_path: Path) -> None:
    async with window(tmp_path, options=saved(tmp_path)) as seen:
        await opened(seen)
        seen_numbers: list[int] = []
        for _ in range(400):
            shown = [line for line in seen.shown().split("\n") if "▎ prompt" in line]
            seen_numbers += [int(line.split("prompt ")[1].split()[0]) for line in shown][::-1]
            if seen_numbers and seen_numbers[-1] == 0:
                break
            await seen.pilot.press("pageup")
            await seen.pilot.pause()
        without_repeats = list(dict.fromkeys(seen_numbers))
        assert without_repeats == sorted(without_repeats, reverse=True)
        assert set(without_repeats) == set(range(TURNS))


async def test_g_goes_to_the_very_first_prompt_and_back(tmp_path: Path) -> None:
    async with window(tmp_path, options=saved(tmp_path)) as seen:
        await opened(seen)
        await seen.pilot.press("tab", "g")
        await seen.pilot.pause()
        assert "▎ prompt 0" in seen.shown()
        await seen.pilot.press("G")
        assert f"Answer {TURNS - 1}." in seen.shown()


async def test_find_looks_through_all_of_it(tmp_path: Path) -> None:
    async with window(tmp_path, options=saved(tmp_path)) as seen:
        await opened(seen)
        assert await seen.conversation.find("Answer 3.")
        await seen.pilot.pause()
        assert "Answer 3." in seen.shown()
