from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.sessions.branches import prompt_tree
from app.sessions.codec import parse_transcript
from app.sessions.foreign.adopt import adopt
from app.sessions.foreign.read import read_any
from app.sessions.graph import open_view
from app.sessions.view import request_view
from tests.fakes.history_rules import history_fault
from tests.property.test_request_view import Damage, damages
from tests.unit.sessions.foreign_files import SESSIONS

odd = st.sampled_from(
    [None, "", 7, -1, 1.5, True, [], {}, [[]], ["x"], {"text": 3}, "\ud800", "e0000005", [None]]
)


def mutilated(value: Any, draw: st.DrawFn) -> Any:
    """The value with one of its parts, however deep, replaced by something else."""
    if isinstance(value, dict) and value and draw(st.booleans()):
        key = draw(st.sampled_from(sorted(value)))
        return {**value, key: mutilated(value[key], draw)}
    if isinstance(value, list) and value and draw(st.booleans()):
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], mutilated(value[place], draw), *value[place + 1 :]]
    return draw(odd)


@st.composite
def damaged_sessions(draw: st.DrawFn) -> bytes:
    source: Path = draw(st.sampled_from(SESSIONS))
    lines = [line for line in source.read_bytes().split(b"\n") if line]
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        try:
            lines[at] = json.dumps(mutilated(json.loads(lines[at]), draw)).encode()
        except ValueError:
            continue
    chosen: list[Damage] = draw(damages)
    for damage in chosen:
        lines = damage.apply(lines)
    return b"\n".join(lines)


@settings(max_examples=300, deadline=2_000, suppress_health_check=[HealthCheck.too_slow])
@given(damaged_sessions())
def test_a_damaged_session_of_another_tool_still_makes_a_valid_request(content: bytes) -> None:
    view = open_view(read_any(content).records)
    for leaf in (view.leaf, *prompt_tree(view.graph).tips):
        messages = request_view(view.graph, leaf).messages
        if messages:
            assert history_fault({"messages": messages}) is None


@settings(max_examples=150, deadline=2_000, suppress_health_check=[HealthCheck.too_slow])
@given(damaged_sessions())
def test_it_is_adopted_with_all_its_messages(content: bytes) -> None:
    source = read_any(content)
    numbers = itertools.count()
    made = adopt(source.records, session_id="S", new_uuid=lambda: f"u{next(numbers)}")
    found = parse_transcript(b"".join(record.raw + b"\n" for record in made))
    assert found.flaws == ()
    old, new = open_view(source.records), open_view(found.records)
    assert prompt_tree(new.graph) == prompt_tree(old.graph)
    assert request_view(new.graph, new.leaf) == request_view(old.graph, old.leaf)


@settings(max_examples=150, deadline=2_000, suppress_health_check=[HealthCheck.too_slow])
@given(damaged_sessions())
def test_every_readable_line_is_represented(content: bytes) -> None:
    lines = {record.line for record in parse_transcript(content).records}
    assert lines <= {record.line or None for record in read_any(content).records}
