"""Files that broke other programs (tests/data/cases); a test names its case."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from app.clock import SystemClock
from app.models.clean import clean
from app.sessions.codec import parse_transcript
from app.sessions.envelope import Envelope
from app.sessions.graph import GraphView, open_view
from app.sessions.journal import Journal
from app.sessions.prompts import CUT_OFF_RESULT
from app.sessions.summary import Warning as TranscriptWarning
from app.sessions.summary import warnings_of
from app.sessions.view import request_view
from app.storage.local import FileLog
from tests.fakes.history_rules import history_fault
from tests.unit.sessions.real_files import CASES


def case_files(case: str) -> list[Path]:
    (folder,) = CASES.glob(f"{case}-*")
    return sorted(folder.glob("*.jsonl"))


def opened(file: Path) -> tuple[GraphView, dict[str, TranscriptWarning]]:
    parsed = parse_transcript(file.read_bytes())
    view = open_view(parsed.records)
    return view, {warning.kind: warning for warning in warnings_of(parsed, view.graph)}


def messages_of(view: GraphView) -> list[dict[str, Any]]:
    messages = request_view(view.graph, view.leaf).messages
    assert history_fault({"messages": messages}) is None
    return messages


def add_prompt(file: Path, text: str) -> None:
    """Go on with a session as the app does: one prompt behind its leaf."""
    view, _ = opened(file)
    session_id = view.graph.records[0].session_id or file.stem
    envelope = Envelope(session_id, SystemClock(), cwd=lambda: "/", branch=lambda: "")
    journal = Journal(session_id, FileLog(file))
    prompt = envelope.prompt(view.leaf_uuid, text, prompt_id="p", permission_mode="default")
    assert journal.append(prompt) is None
    assert journal.close() is None


def test_b01_spliced_records_are_told_apart() -> None:
    (file,) = case_files("B01")
    before = file.read_bytes()
    view, warnings = opened(file)
    assert len(view.graph.records) == 8
    assert warnings["corrupt_line"].count == 1
    assert "3" in warnings["corrupt_line"].detail
    assert len(messages_of(view)) > 4
    assert file.read_bytes() == before


def test_b02_a_torn_tail_stays_on_its_own_line(tmp_path: Path) -> None:
    (source,) = case_files("B02")
    file = tmp_path / "session.jsonl"
    file.write_bytes(source.read_bytes())
    view, warnings = opened(file)
    assert len(messages_of(view)) == 4
    assert "incomplete" in warnings["torn_line"].detail

    add_prompt(file, "go on")
    lines = file.read_bytes().split(b"\n")
    assert source.read_bytes() == file.read_bytes()[: source.stat().st_size]
    assert json.loads(lines[-2])["message"]["content"] == "go on"
    again, warnings = opened(file)
    messages = messages_of(again)
    assert [m["role"] for m in messages] == ["user", "assistant", "user", "assistant", "user"]
    assert warnings.keys() == {"corrupt_line"}


@pytest.mark.parametrize("number", [0, 1])
def test_b04_cycles_end(number: int) -> None:
    began = time.perf_counter()
    view, warnings = opened(case_files("B04")[number])
    messages = messages_of(view)
    assert time.perf_counter() - began < 1
    texts = [block["text"] for m in messages for block in m["content"] if block["type"] == "text"]
    assert len(texts) == len(set(texts)) > 0
    if number == 0:
        assert {"cycle", "duplicate_uuid"} & warnings.keys()


def test_b05_gaps_are_bridged() -> None:
    (file,) = case_files("B05")
    view, warnings = opened(file)
    assert len(messages_of(view)) == 12
    assert warnings["orphan_parent"].count == 2
    assert "bridged" in warnings["orphan_parent"].detail


def test_b07_poison_goes_out_clean(tmp_path: Path) -> None:
    (source,) = case_files("B07")
    file = tmp_path / source.name
    file.write_bytes(source.read_bytes())
    add_prompt(file, "hi")
    view, _ = opened(file)
    sent = json.dumps(clean(messages_of(view)), ensure_ascii=False).encode()
    assert b"\\u0000" not in sent
    assert "\ufffd".encode() in sent
    assert file.read_bytes().startswith(source.read_bytes())


def test_b16_every_call_has_its_result() -> None:
    (file,) = case_files("B16")
    view, _ = opened(file)
    messages = messages_of(view)
    results = [b for b in messages[-1]["content"] if b["type"] == "tool_result"]
    assert [result.get("is_error", False) for result in results] == [False, True, True]
    assert [r["content"] == CUT_OFF_RESULT for r in results] == [False, True, True]


def test_b41_nothing_empty_is_sent(tmp_path: Path) -> None:
    (source,) = case_files("B41")
    file = tmp_path / source.name
    file.write_bytes(source.read_bytes())
    add_prompt(file, "hi")
    view, _ = opened(file)
    assert messages_of(view)[-1]["content"][-1] == {"type": "text", "text": "hi"}
