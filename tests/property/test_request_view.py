from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.sessions.codec import parse_transcript
from app.sessions.fork import fork_records
from app.sessions.graph import GraphView, open_view
from app.sessions.kept import walk_from
from app.sessions.prompts import blocks_of, content_of, user_kind
from app.sessions.view import request_view
from tests.fakes.history_rules import history_fault
from tests.unit.sessions.real_files import CASES, TRANSCRIPTS

SOURCES = [
    *(
        TRANSCRIPTS / name
        for name in (
            "05-sidechains-in-main-file.jsonl",
            "16-parallel-tools.jsonl",
            "32-preserved-segment.jsonl",
            "38-interrupted-by-shutdown.jsonl",
            "50-made-torn-tail.jsonl",
            "53-made-newer-kinds.jsonl",
            "54-made-odd-lines.jsonl",
        )
    ),
    *CASES.glob("B16-*/*.jsonl"),
    *CASES.glob("B41-*/*.jsonl"),
]

Lines = list[bytes]
Mutation = Callable[[Lines, int, int], Lines]


def drop(lines: Lines, at: int, _other: int) -> Lines:
    return lines[:at] + lines[at + 1 :]


def duplicate(lines: Lines, at: int, other: int) -> Lines:
    return [*lines[:other], lines[at], *lines[other:]]


def swap(lines: Lines, at: int, other: int) -> Lines:
    changed = list(lines)
    changed[at], changed[other] = changed[other], changed[at]
    return changed


def cut(lines: Lines, at: int, other: int) -> Lines:
    kept = lines[at][: other * 7 % (len(lines[at]) + 1)]
    return [*lines[:at], kept, *lines[at + 1 :]]


def glue(lines: Lines, at: int, _other: int) -> Lines:
    return [*lines[:at], b"".join(lines[at : at + 2]), *lines[at + 2 :]]


def corrupt(lines: Lines, at: int, other: int) -> Lines:
    changed = bytearray(lines[at])
    if changed:
        changed[other * 13 % len(changed)] = other % 256
    return [*lines[:at], bytes(changed), *lines[at + 1 :]]


def relink(lines: Lines, at: int, other: int) -> Lines:
    """Give a record another parent, itself and its own children among them."""
    try:
        record, parent = json.loads(lines[at]), json.loads(lines[other])
    except ValueError:
        return lines
    if not isinstance(record, dict) or not isinstance(parent, dict):
        return lines
    changed = {**record, "parentUuid": parent.get("uuid")}
    return [*lines[:at], json.dumps(changed).encode(), *lines[at + 1 :]]


MUTATIONS: tuple[Mutation, ...] = (drop, duplicate, swap, cut, glue, corrupt, relink)


@dataclass(frozen=True)
class Damage:
    mutation: Mutation
    at: int
    other: int

    def __repr__(self) -> str:
        return f"{self.mutation.__name__}({self.at}, {self.other})"

    def apply(self, lines: Lines) -> Lines:
        if not lines:
            return lines
        return self.mutation(lines, self.at % len(lines), self.other % len(lines))


damages = st.lists(
    st.builds(Damage, st.sampled_from(MUTATIONS), st.integers(0, 10_000), st.integers(0, 10_000)),
    max_size=12,
)


def prompts_on_the_chain(view: GraphView) -> list[str]:
    """Texts of the person's prompts from the leaf up to the last boundary.

    A preserved segment changes the way up (transcripts.md, a8): there the request's own walk.
    """
    graph = view.graph
    texts: list[str] = []
    preserved = any(r.is_boundary and b"preserved" in r.raw for r in graph.records)
    for here in walk_from(graph, view.leaf).positions if preserved else graph.walk(view.leaf):
        record = graph.records[here]
        if record.is_boundary:
            break
        if record.type != "user" or not graph.is_main(here) or record.uuid in graph.retracted:
            continue
        data = record.data
        if user_kind(record, data) == "prompt":
            blocks = [b for b in blocks_of(content_of(data)) if b.get("type") == "text"]
            found = (block.get("text") for block in blocks)
            texts += [text for text in found if isinstance(text, str) and text.strip()]
    return texts


@settings(max_examples=200, deadline=2_000, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(SOURCES), damages)
def test_a_damaged_transcript_still_makes_a_valid_request(source: Path, done: list[Damage]) -> None:
    lines = [line for line in source.read_bytes().split(b"\n") if line]
    for damage in done:
        lines = damage.apply(lines)
    view = open_view(parse_transcript(b"\n".join(lines)).records)
    messages = request_view(view.graph, view.leaf).messages
    if messages:
        assert history_fault({"messages": messages}) is None
    sent = {
        block["text"]
        for message in messages
        for block in message["content"]
        if block["type"] == "text"
    }
    missing = [text for text in prompts_on_the_chain(view) if text not in sent]
    assert missing == []


@settings(max_examples=100, deadline=2_000)
@given(st.sampled_from(SOURCES), damages)
def test_whole_lines_are_never_lost(source: Path, done: list[Damage]) -> None:
    lines = [line for line in source.read_bytes().split(b"\n") if line]
    for damage in done:
        lines = damage.apply(lines)
    found = {record.raw for record in parse_transcript(b"\n".join(lines)).records}
    for line in lines:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            assert line.strip() in found


@settings(max_examples=150, deadline=2_000, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(SOURCES), damages)
def test_a_fork_of_a_damaged_transcript_asks_the_same(source: Path, done: list[Damage]) -> None:
    lines = [line for line in source.read_bytes().split(b"\n") if line]
    for damage in done:
        lines = damage.apply(lines)
    view = open_view(parse_transcript(b"\n".join(lines)).records)
    numbers = itertools.count()
    forked = fork_records(
        view.graph, view.leaf, session_id="f", title="", new_uuid=lambda: f"n{next(numbers)}"
    )
    fork = open_view(forked)
    asked = request_view(view.graph, view.leaf).messages
    assert request_view(fork.graph, fork.leaf).messages == asked
