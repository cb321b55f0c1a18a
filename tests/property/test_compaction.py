"""Wherever a talk is compacted, its next request is valid and has the last request in it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from app.agent import compaction
from app.agent.caller import Caller
from app.agent.compaction import size_of
from app.agent.conversation import Conversation
from app.sessions.codec import parse_transcript
from app.sessions.compact import (
    has_something_to_say,
    last_request,
    plan_compaction,
    request_blocks,
    undo_target,
)
from app.sessions.envelope import Envelope
from app.sessions.graph import GraphView, MessageGraph, open_view
from app.sessions.journal import Journal
from app.sessions.records import Record
from app.sessions.view import request_view
from tests.fakes.clock import FakeClock
from tests.fakes.history_rules import history_fault
from tests.fakes.provider import ScriptedProvider
from tests.unit.sessions.real_files import EXPECTED, NO_TRANSCRIPTS, TRANSCRIPTS

SOURCES = [TRANSCRIPTS / name for name in EXPECTED if name not in NO_TRANSCRIPTS]
SMALL = [file for file in SOURCES if file.stat().st_size < 200_000]
SUMMARY = "What was said before, in short."


def conversation(records: tuple[Record, ...], leaf: int) -> Conversation:
    graph = MessageGraph(records)
    view = GraphView(graph, len(records), leaf)
    envelope = Envelope("s", FakeClock(), cwd=lambda: "/", branch=lambda: "")
    return Conversation(envelope, Journal("s", None), view, lambda _: None, lambda _: None)


@settings(max_examples=150, deadline=5_000)
@given(st.sampled_from(SMALL), st.integers(0, 10**6), st.integers(0, 20_000))
def test_any_point_can_be_compacted(source: Path, choice: int, budget: int) -> None:
    records = parse_transcript(source.read_bytes()).records
    graph = MessageGraph(records)
    ends = [
        here
        for here in graph.position.values()
        if graph.is_main(here)
        and records[here].type in {"user", "assistant"}
        and records[here].uuid not in graph.retracted
    ]
    if not ends:
        return
    talk = conversation(records, ends[choice % len(ends)])
    view = talk.view
    plan = plan_compaction(view.graph, view.leaf, lambda here: size_of(view.graph, here), budget)
    if not has_something_to_say(view.graph, plan):
        return
    caller = Caller(ScriptedProvider(), "claude-opus-5-5", 1_000, (), ())
    written = compaction.write(talk, caller, SUMMARY, plan.kept)
    talk.append(written.boundary, *written.following)

    sent = request_view(talk.view.graph, talk.view.leaf).messages
    assert history_fault({"messages": sent}) is None
    assert SUMMARY in str(sent[0])
    read = open_view(talk.view.graph.records)
    assert read.leaf == talk.view.leaf
    assert request_view(read.graph, read.leaf).messages == sent
    assert _kinds(written.request.messages) == _kinds(
        request_view(read.graph, read.leaf, caller.model).messages
    )

    prompt = last_request(view.graph, view.leaf)
    if prompt is not None:
        texts = [block.get("text") for block in request_blocks(view.graph, prompt)]
        readable = [text for text in texts if isinstance(text, str) and text.strip()]
        assert set(readable) <= set(_texts(sent))
    assert undo_target(talk.view.graph, talk.view.leaf) == view.leaf


def _texts(messages: Iterable[dict[str, Any]]) -> list[str]:
    return [str(block.get("text")) for message in messages for block in message["content"]]


def _kinds(messages: Iterable[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    return [(m["role"], [block["type"] for block in m["content"]]) for m in messages]
