from __future__ import annotations

import json
from typing import Any

import pytest

from app.models.provider import (
    BlockGrew,
    BlockStopped,
    Message,
    MessageEnded,
    ModelRequest,
    Provider,
    StreamEvent,
)
from app.models.rehearsal.markers import (
    DREAM_MARKER,
    RECAP_MARKER,
    SUGGESTION_MARKER,
    SUMMARY_MARKER,
    WORKING_FOLDER_MARKER,
)
from app.models.rehearsal.model import RehearsalProvider
from app.models.rehearsal.scene import listed_files
from tests.fakes.clock import FakeClock
from tests.fakes.history_rules import history_fault

ALL_TOOLS = ("LS", "Read", "Edit", "Write", "Bash")
SYSTEM = f"You are Reverie.\n{WORKING_FOLDER_MARKER}/home/ada/project\nBe brief."


class Play:
    """A conversation with the rehearsal; results are given by hand."""

    def __init__(self, *tools: str) -> None:
        self.provider = RehearsalProvider(FakeClock(), pace=0)
        self.tools = tuple({"name": name} for name in tools)
        self.messages: list[Message] = []
        self.events: list[StreamEvent] = []

    async def say(self, prompt: str) -> list[dict[str, Any]]:
        self.messages.append({"role": "user", "content": [{"type": "text", "text": prompt}]})
        return await self._reply()

    async def answer(self, result: str, *, failed: bool = False) -> list[dict[str, Any]]:
        call = self.messages[-1]["content"][-1]
        block = {"type": "tool_result", "tool_use_id": call["id"], "content": result}
        if failed:
            block["is_error"] = True
        self.messages.append({"role": "user", "content": [block]})
        return await self._reply()

    @property
    def end(self) -> MessageEnded:
        ended = self.events[-1]
        assert isinstance(ended, MessageEnded)
        return ended

    async def _reply(self) -> list[dict[str, Any]]:
        request = ModelRequest(
            "rehearsal",
            tuple(self.messages),
            system=({"type": "text", "text": SYSTEM},),
            tools=self.tools,
        )
        assert history_fault({"messages": self.messages}) is None
        self.events = [event async for event in self.provider.stream(request)]
        blocks = [event.block for event in self.events if isinstance(event, BlockStopped)]
        self.messages.append({"role": "assistant", "content": blocks})
        return blocks


def call(blocks: list[dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    assert blocks[-1]["type"] == "tool_use"
    return blocks[-1]["name"], blocks[-1]["input"]


@pytest.mark.parametrize("prompt", ["Hi!", "help", "what can you do?"])
async def test_a_greeting_is_answered_in_words(prompt: str) -> None:
    play = Play(*ALL_TOOLS)
    (block,) = await play.say(prompt)
    assert "rehearsal" in block["text"]
    assert play.end.stop_reason == "end_turn"


async def test_a_turn_lists_reads_writes_and_sums_up() -> None:
    play = Play(*ALL_TOOLS)
    blocks = await play.say("please look around")
    assert [block["type"] for block in blocks] == ["thinking", "text", "tool_use"]
    assert call(blocks) == ("LS", {"path": "/home/ada/project"})
    assert play.end.stop_reason == "tool_use"
    blocks = await play.answer("- /home/ada/project/\n  - src/\n  - a.py\n  - README.md\n")
    assert call(blocks) == ("Read", {"file_path": "/home/ada/project/README.md"})
    name, arguments = call(await play.answer("# Ada"))
    assert name == "Write"
    assert arguments["file_path"] == "/home/ada/project/reverie-rehearsal.md"
    assert "- a.py" in arguments["content"]
    (block,) = await play.answer("written")
    assert all(part in block["text"] for part in ("| 3 | `Write` | done |", "1. ", "```bash"))
    assert play.end.stop_reason == "end_turn"
    ids = [b["id"] for m in play.messages for b in m["content"] if b["type"] == "tool_use"]
    assert len(ids) == len(set(ids)) == 3


async def test_a_file_of_an_earlier_rehearsal_is_read_and_edited() -> None:
    play = Play(*ALL_TOOLS)
    await play.say("look")
    path = "/home/ada/project/reverie-rehearsal.md"
    blocks = await play.answer("README.md\nreverie-rehearsal.md")
    assert call(blocks) == ("Read", {"file_path": path})
    name, arguments = call(await play.answer("1\tThis file was written by the rehearsal."))
    assert name == "Edit"
    assert arguments["old_string"] != arguments["new_string"]


async def test_a_declined_change_is_taken_politely() -> None:
    play = Play(*ALL_TOOLS)
    await play.say("fix it")
    assert call(await play.answer("(empty)"))[0] == "Write"
    (block,) = await play.answer("The user declined.", failed=True)
    assert "nothing was changed" in block["text"]


@pytest.mark.parametrize("prompt", ["!bash", "Run the tests, please"])
async def test_a_command_is_run(prompt: str) -> None:
    play = Play(*ALL_TOOLS)
    name, arguments = call(await play.say(prompt))
    assert (name, arguments["command"]) == ("Bash", "ls -la")
    assert (await play.answer("total 0"))[0]["type"] == "text"


@pytest.mark.parametrize(
    "prompt", ["I have feedback", "Please write a report!", "report: the file list is too long"]
)
async def test_a_report_is_queued_once(prompt: str) -> None:
    play = Play(*ALL_TOOLS, "SendFeedback")
    name, report = call(await play.say(prompt))
    assert name == "SendFeedback"
    assert report.keys() == {"title", "body", "category", "evidence"}
    assert prompt in report["evidence"]
    (block,) = await play.answer("Queued as fb-1.")
    assert "`f5`" in block["text"]
    assert "fb-1" not in block["text"]
    assert play.end.stop_reason == "end_turn"
    await play.say("one more report")
    (block,) = await play.answer("It cannot be queued.", failed=True)
    assert "not queued" in block["text"]


async def test_no_report_is_queued_where_it_cannot_be() -> None:
    assert [block["type"] for block in await Play(*ALL_TOOLS).say("feedback")] == ["text"]
    assert call(await Play(*ALL_TOOLS, "SendFeedback").say("reporters look"))[0] == "LS"


async def test_without_tools_there_are_only_words() -> None:
    for prompt in ("look", "!bash"):
        play = Play()
        assert [block["type"] for block in await play.say(prompt)] == ["text"]


async def test_a_long_reply_is_long() -> None:
    (_, block) = await Play(*ALL_TOOLS).say("write me something long".replace("write", "tell"))
    assert 8_000 <= len(block["text"]) < 10_000


@pytest.mark.parametrize("marker", [RECAP_MARKER, SUGGESTION_MARKER, SUMMARY_MARKER, DREAM_MARKER])
async def test_background_calls_are_known_by_their_marker(marker: str) -> None:
    (block,) = await Play(*ALL_TOOLS).say(f"{marker}, in a few words. Read no files.")
    words = len(block["text"].split())
    assert words < 60
    if marker == SUGGESTION_MARKER:
        assert 2 <= words <= 12
    if marker == RECAP_MARKER:
        assert words < 40


async def test_a_reminder_is_not_the_prompt() -> None:
    play = Play(*ALL_TOOLS)
    (block,) = await play.say("<system-reminder>read the files</system-reminder>hello")
    assert "Hello!" in block["text"]


async def test_the_cache_is_read_from_the_second_call_on() -> None:
    play = Play(*ALL_TOOLS)
    await play.say("look")
    first = play.end.usage
    await play.answer("README.md")
    second = play.end.usage
    assert first.cache_read == 0
    assert second.cache_read == first.cache_write > 0
    assert second.output > 0
    assert play.end.raw_usage["cache_read_input_tokens"] == second.cache_read


async def test_growth_adds_up_to_the_blocks() -> None:
    play = Play(*ALL_TOOLS)
    blocks = await play.say("look")
    for index, key in enumerate(("thinking", "text")):
        parts = [e.text for e in play.events if isinstance(e, BlockGrew) and e.index == index]
        assert "".join(parts) == blocks[index][key]
    parts = [e.text for e in play.events if isinstance(e, BlockGrew) and e.kind == "input"]
    assert json.loads("".join(parts)) == blocks[2]["input"]


async def test_the_pace_is_the_clock_s() -> None:
    clock = FakeClock()
    provider: Provider = RehearsalProvider(clock, pace=0.25)
    request = ModelRequest("rehearsal", ({"role": "user", "content": "hi"},))
    grown = [event async for event in provider.stream(request) if isinstance(event, BlockGrew)]
    assert clock.slept == [0.25] * len(grown)


def test_files_are_found_in_listings_of_several_forms() -> None:
    assert listed_files("- /w/\n  - src/\n  - a.py\n  - LICENSE") == ["a.py"]
    assert listed_files("a.py\nsub/\nb c.md\n(2 more)") == ["a.py", "b c.md"]
