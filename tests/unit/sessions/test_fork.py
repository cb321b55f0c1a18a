from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from app.agent.compaction import context_tokens
from app.config import Settings
from app.models.provider import MessageEnded, Usage
from app.models.spending import spent
from app.sessions.codec import parse_transcript
from app.sessions.fork import fork_records
from app.sessions.graph import open_view
from app.sessions.view import request_view
from tests.fakes.history_rules import history_fault
from tests.fakes.provider import reply, said, started
from tests.fakes.stage import stage

TRANSCRIPTS = Path(__file__).parents[2] / "data" / "transcripts"
EXPECTED = json.loads((TRANSCRIPTS / "expected.json").read_text("utf-8"))["files"]
NEW = "99999999-2222-4333-8444-555555555555"


def counter() -> object:
    numbers = itertools.count()
    return lambda: f"new-{next(numbers)}"


@pytest.mark.parametrize("name", [n for n, e in EXPECTED.items() if e.get("request_messages")])
def test_a_fork_asks_the_same_as_its_source_and_shares_no_id(name: str) -> None:
    view = open_view(parse_transcript((TRANSCRIPTS / name).read_bytes()).records)
    before = [record.raw for record in view.graph.records]
    forked = fork_records(view.graph, view.leaf, session_id=NEW, title="T", new_uuid=counter())  # pyright: ignore[reportArgumentType] - a plain function
    assert [record.raw for record in view.graph.records] == before
    fork = open_view(parse_transcript(b"\n".join(r.raw for r in forked)).records)
    source = request_view(view.graph, view.leaf).messages
    copy = request_view(fork.graph, fork.leaf).messages
    assert copy == source
    assert history_fault({"messages": copy}) is None
    old = {record.uuid for record in view.graph.records}
    for record in forked[:-1]:
        assert record.uuid not in old and record.session_id == NEW
        origin = record.data["forkedFrom"]
        assert origin["messageUuid"] in old
    assert forked[-1].data["customTitle"] == "T (fork)"


def test_a_fork_of_a_compacted_session_begins_with_its_boundary() -> None:
    name = "32-preserved-segment.jsonl"
    view = open_view(parse_transcript((TRANSCRIPTS / name).read_bytes()).records)
    forked = fork_records(view.graph, view.leaf, session_id=NEW, title="", new_uuid=counter())  # pyright: ignore[reportArgumentType] - a plain function
    texts = b"".join(record.raw for record in forked)
    assert b"isCompactSummary" in texts
    assert len(forked) < len(view.graph.records)


async def test_a_fork_leaves_out_what_was_refused(tmp_path: Path) -> None:
    refused = MessageEnded("refusal", Usage(10, 0), raw_usage={"input_tokens": 10})
    play = await stage(
        tmp_path,
        reply("Hello.", 1),
        [started(2), *said("I cannot", 0), refused],
        reply("Gladly.", 3),
    )
    for words in ("hello", "FORBIDDEN REQUEST", "something else"):
        await play.turn(words)
    view = play.runtime.conversation.view
    forked = fork_records(view.graph, view.leaf, session_id=NEW, title="", new_uuid=counter())  # pyright: ignore[reportArgumentType] - a plain function
    fork = open_view(forked)
    sent = request_view(fork.graph, fork.leaf).messages
    assert sent == request_view(view.graph, view.leaf).messages
    assert "FORBIDDEN" not in str(sent)
    assert "I cannot" not in str(sent)


async def test_a_fork_of_a_compacted_session_is_as_small_as_its_source(tmp_path: Path) -> None:
    raw = {"input_tokens": 172_000, "output_tokens": 5}
    full = [
        started(2),
        *said("Short.", 0),
        MessageEnded("end_turn", Usage(172_000, 5), raw_usage=raw),
    ]
    play = await stage(tmp_path, reply("word " * 8_000, 1), full, reply("Summed up.", 3))
    await play.turn("first")
    await play.turn("second")
    receipt = await play.runtime.compactor.draft("")
    await play.runtime.compactor.accept(receipt.summary)
    view, caller = play.runtime.conversation.view, play.runtime.loop.caller
    forked = fork_records(view.graph, view.leaf, session_id=NEW, title="", new_uuid=counter())  # pyright: ignore[reportArgumentType] - a plain function
    sent = str(request_view(view.graph, view.leaf).messages)
    assert "Short." in sent, "a turn is kept"
    fork = open_view(forked)
    assert context_tokens(fork, caller) == context_tokens(view, caller)
    assert spent(fork.graph, Settings()) == (Usage(), 0.0), "its copies are paid for already"
