from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.sessions.branches import prompt_tree
from app.sessions.codec import parse_transcript
from app.sessions.foreign.adopt import adopt
from app.sessions.foreign.companions import copy_companions
from app.sessions.foreign.read import read_any
from app.sessions.graph import open_view
from app.sessions.records import Record, new_record
from app.sessions.view import request_view
from tests.unit.sessions.foreign_files import SESSIONS
from tests.unit.sessions.real_files import CASES, NO_TRANSCRIPTS, TRANSCRIPTS

NEW = "99999999-2222-4333-8444-555555555555"
REAL = [f for f in sorted(TRANSCRIPTS.glob("**/*.jsonl")) if f.name not in NO_TRANSCRIPTS]
ALL = pytest.mark.parametrize(
    "file", [*REAL, *sorted(CASES.glob("B0*/*.jsonl")), *SESSIONS], ids=lambda file: file.name
)


def counter() -> Callable[[], str]:
    numbers = itertools.count()
    return lambda: f"00000000-0000-4000-8000-{next(numbers):012}"


def adopted(records: tuple[Record, ...]) -> tuple[Record, ...]:
    """The records of the new file, as they are read again."""
    made = adopt(records, session_id=NEW, new_uuid=counter())
    return parse_transcript(b"".join(record.raw + b"\n" for record in made)).records


@ALL
def test_the_same_conversation_lies_under_other_ids(file: Path) -> None:
    content = file.read_bytes()
    source = read_any(content).records
    found = adopted(source)
    assert [record.type for record in found] == [record.type for record in source]
    old, new = open_view(source), open_view(found)
    assert prompt_tree(new.graph) == prompt_tree(old.graph)
    assert new.leaf == old.leaf
    assert new.graph.defects() == old.graph.defects()
    for leaf in (old.leaf, *prompt_tree(old.graph).tips):
        assert request_view(new.graph, leaf) == request_view(old.graph, leaf)
    assert file.read_bytes() == content


@ALL
def test_no_id_of_the_source_is_left(file: Path) -> None:
    source = read_any(file.read_bytes()).records
    uuids = {record.uuid for record in source if record.uuid}
    for record in adopted(source):
        data = record.data
        assert data.get("uuid") not in uuids
        assert data.get("parentUuid") not in uuids
        assert data.get("logicalParentUuid") not in uuids
        assert data.get("sessionId", NEW) == NEW
        assert data.get("session_id", NEW) == NEW
        if record.type.startswith("file-history"):
            assert not uuids & set(names_in(data))


def names_in(data: dict[str, Any]) -> list[str]:
    snapshot = data.get("snapshot", {})
    found = (data.get("messageId"), data.get("snapshotMessageId"), snapshot.get("messageId"))
    return [name for name in found if name]


@ALL
def test_everything_else_of_a_record_stays(file: Path) -> None:
    source = read_any(file.read_bytes()).records
    for old, new in zip(source, adopted(source), strict=True):
        assert list(new.data) == list(old.data)
        for key in ("message", "toolUseResult", "original", "timestamp", "cwd", "promptId"):
            assert new.data.get(key) == old.data.get(key)


def record(**fields: Any) -> Record:
    return new_record(fields)


def test_every_link_between_records_follows() -> None:
    source = [
        record(type="user", uuid="u1", parentUuid=None, sessionId="S", promptId="p"),
        record(type="assistant", uuid="a1", parentUuid="u1", sessionId="S", session_id="T"),
        record(
            type="user",
            uuid="r1",
            parentUuid="a1",
            sessionId="S",
            sourceToolAssistantUUID="a1",
            message={"content": [{"type": "text", "text": "a1", "uuid": "a1"}]},
            toolUseResult={"leafUuid": "a1"},
        ),
        record(
            type="system",
            subtype="compact_boundary",
            uuid="b1",
            parentUuid=None,
            logicalParentUuid="r1",
            compactMetadata={
                "preservedSegment": {"headUuid": "a1", "anchorUuid": "u1", "tailUuid": "r1"},
                "preservedMessages": {"anchorUuid": "u1", "uuids": ["a1", "far"]},
            },
            sessionId="S",
        ),
        record(
            type="system",
            subtype="model_refusal_fallback",
            uuid="m1",
            parentUuid="far",
            retractedMessageUuids=["a1", "far"],
            refusedUserMessageUuid="u1",
            forkedFrom={"sessionId": "S", "messageUuid": "u1"},
            sessionId="S",
        ),
        record(type="last-prompt", lastPrompt="u1", leafUuid="r1", sessionId="S"),
        record(
            type="file-history-snapshot",
            messageId="u1",
            snapshot={"messageId": "u1", "trackedFileBackups": {"u1": {"backupFileName": "x"}}},
            isSnapshotUpdate=False,
        ),
        record(type="tomorrow", something={"deep": {"toUuid": "u1"}, "uuids": ["r1"]}),
    ]
    found = [r.data for r in adopt(source, session_id=NEW, new_uuid=counter())]
    u, a, r, b, m = (found[number]["uuid"] for number in range(5))
    assert len({u, a, r, b, m}) == 5
    assert found[1]["parentUuid"] == u
    assert found[1]["session_id"] == NEW
    assert found[2]["sourceToolAssistantUUID"] == a
    assert found[2]["message"] == source[2].data["message"]
    assert found[2]["toolUseResult"] == {"leafUuid": "a1"}
    assert found[3]["logicalParentUuid"] == r
    assert found[3]["compactMetadata"] == {
        "preservedSegment": {"headUuid": a, "anchorUuid": u, "tailUuid": r},
        "preservedMessages": {"anchorUuid": u, "uuids": [a, "far"]},
    }
    assert found[4]["parentUuid"] == "far"
    assert found[4]["retractedMessageUuids"] == [a, "far"]
    assert found[4]["refusedUserMessageUuid"] == u
    assert found[4]["forkedFrom"] == {"sessionId": NEW, "messageUuid": u}
    assert found[5] == {
        "type": "last-prompt",
        "lastPrompt": "u1",
        "leafUuid": r,
        "sessionId": NEW,
    }
    assert names_in(found[6]) == [u, u]
    assert found[6]["snapshot"]["trackedFileBackups"] == {"u1": {"backupFileName": "x"}}
    assert found[7]["something"] == {"deep": {"toUuid": u}, "uuids": [r]}


def test_a_record_without_ids_keeps_its_bytes() -> None:
    content = b'{"type":"summary","summary":"S", "x":1e-7}\n'
    (source,) = parse_transcript(content).records
    (found,) = adopt([source], session_id=NEW, new_uuid=counter())
    assert found.raw == source.raw


@pytest.mark.parametrize("depth", [50, 900, 960, 980, 990, 1000])
def test_deep_nesting_does_no_harm(depth: int) -> None:
    deep = "[" * depth + "]" * depth
    line = f'{{"type":"user","uuid":"u","x":{deep},"message":{{"content":"hi"}}}}\n'
    found = adopt(parse_transcript(line.encode()).records, session_id=NEW, new_uuid=counter())
    assert all(record.uuid != "u" for record in found)
    assert len(found) == 1 or depth > 900


# files beside a session


def test_outputs_and_sub_agents_are_copied_and_links_are_not(tmp_path: Path) -> None:
    source, target = tmp_path / "old", tmp_path / "new"
    agents = source / "subagents" / "workflows" / "run"
    agents.mkdir(parents=True)
    (agents / "agent-1.jsonl").write_bytes(b"{}\n")
    outputs = source / "tool-results"
    outputs.mkdir()
    (outputs / "long.txt").write_bytes(b"\xff" * 3_000_000)
    (outputs / "long.txt").chmod(0o644)
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("k")
    (outputs / "link.txt").symlink_to(secret / "key")
    (outputs / "folder").symlink_to(secret)
    (source / "other").mkdir()
    (source / "other" / "x").write_text("x")

    assert copy_companions(source, target) == 2
    copied = [str(f.relative_to(target)) for f in sorted(target.rglob("*")) if f.is_file()]
    assert copied == ["subagents/workflows/run/agent-1.jsonl", "tool-results/long.txt"]
    output = target / "tool-results" / "long.txt"
    assert output.read_bytes() == b"\xff" * 3_000_000
    assert output.stat().st_mode & 0o777 == 0o600
    assert output.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("linked", ["", "tool-results"])
def test_a_linked_folder_is_not_copied(tmp_path: Path, linked: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "tool-results").mkdir(parents=True)
    (elsewhere / "tool-results" / "x.txt").write_text("x")
    source = tmp_path / "old"
    if linked:
        source.mkdir()
    (source / linked).symlink_to(elsewhere / linked)
    assert copy_companions(source, tmp_path / "new") == 0
    assert not (tmp_path / "new").exists()


def test_a_session_without_such_files_needs_no_folder(tmp_path: Path) -> None:
    assert copy_companions(tmp_path / "none", tmp_path / "new") == 0
    assert not (tmp_path / "new").exists()


def test_what_was_read_is_never_changed_in_place() -> None:
    source = read_any(SESSIONS[0].read_bytes()).records
    before = [json.dumps(record.data) for record in source]
    adopted(source)
    assert [json.dumps(record.data) for record in source] == before
