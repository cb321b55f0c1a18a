from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.sessions.codec import parse_transcript
from app.sessions.foreign.read import read_any
from tests.unit.sessions.foreign_files import CODEX, SESSIONS

FILES = pytest.mark.parametrize("file", SESSIONS, ids=lambda file: file.name)


@FILES
def test_every_line_of_the_source_is_in_a_record(file: Path) -> None:
    source = parse_transcript(file.read_bytes())
    converted = read_any(file.read_bytes())
    assert {record.line for record in converted.records} == {r.line for r in source.records}


@FILES
def test_every_value_of_the_source_is_somewhere(file: Path) -> None:
    converted = read_any(file.read_bytes())
    source = parse_transcript(file.read_bytes())
    for record in source.records:
        made = b"\n".join(r.raw for r in converted.records if r.line == record.line).decode()
        for value in strings(record.data):
            assert json.dumps(value, ensure_ascii=False)[1:-1] in made or is_mapped(value)


def strings(value: object, key: str = "") -> list[str]:
    """The texts of a line, without ids of the tree and words for which ours has others."""
    if isinstance(value, dict):
        return [text for name, item in value.items() for text in strings(item, name)]
    if isinstance(value, list):
        return [text for item in value for text in strings(item, key)]
    renamed = {"id", "parentId", "type", "role", "mimeType", "image_url", "call_id", "stopReason"}
    return [value] if isinstance(value, str) and key not in renamed else []


def is_mapped(value: str) -> bool:
    """A call's arguments, which are JSON in JSON with Codex, are told apart by other tests."""
    return value.startswith('{"')


@FILES
def test_opening_it_twice_gives_the_same_records(file: Path) -> None:
    first, second = read_any(file.read_bytes()), read_any(file.read_bytes())
    assert [record.raw for record in first.records] == [record.raw for record in second.records]


@FILES
def test_uuids_do_not_change_when_a_session_grows(file: Path) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    half, whole = read_any(b"".join(lines[:8])), read_any(b"".join(lines))
    known = [record.uuid for record in whole.records]
    ids = [record.uuid for record in half.records]
    assert ids == known[: len(ids)]


@FILES
def test_a_record_s_uuid_is_its_own(file: Path) -> None:
    ids = [record.uuid for record in read_any(file.read_bytes()).records if record.uuid]
    assert len(ids) == len(set(ids))


def test_damaged_lines_are_reported_as_in_our_own_files() -> None:
    content = CODEX.read_bytes()
    assert [flaw.kind for flaw in read_any(content).flaws] == ["torn_line"]
    lines = content.splitlines(keepends=True)
    lines[5] = lines[5].rstrip() + lines[6]
    lines[8] = b"no json\n"
    damaged = read_any(b"".join(lines))
    assert [flaw.kind for flaw in damaged.flaws] == ["glued_line", "corrupt_line", "torn_line"]
    ids = [record.uuid for record in damaged.records if record.uuid]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("depth", [900, 960, 980, 990, 1000, 5000])
def test_lines_nested_too_deeply_do_no_harm(depth: int) -> None:
    deep = b"[" * depth + b"]" * depth
    lines = CODEX.read_bytes().splitlines(keepends=True)
    lines[4] = b'{"timestamp":"t","type":"event_msg","payload":{"x":' + deep + b"}}\n"
    assert len(read_any(b"".join(lines)).records) in {42, 43}
