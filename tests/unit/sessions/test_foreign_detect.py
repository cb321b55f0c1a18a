from __future__ import annotations

from pathlib import Path

import pytest

from app.sessions.codec import parse_transcript
from app.sessions.foreign.detect import origin_of
from app.sessions.foreign.read import read_any
from tests.unit.sessions.foreign_files import CODEX, LINEAR_PI, OLD_CODEX, PI, SESSIONS
from tests.unit.sessions.real_files import CASES, NO_TRANSCRIPTS, TRANSCRIPTS

REAL = [f for f in sorted(TRANSCRIPTS.glob("**/*.jsonl")) if f.name not in NO_TRANSCRIPTS]


@pytest.mark.parametrize(
    ("file", "origin"), [(CODEX, "codex"), (OLD_CODEX, "codex"), (PI, "pi"), (LINEAR_PI, "pi")]
)
def test_each_tool_is_told_by_what_it_writes(file: Path, origin: str) -> None:
    assert origin_of(file.read_bytes()) == origin


@pytest.mark.parametrize("file", REAL, ids=lambda file: file.name)
def test_claude_code_s_files_are_told_and_read_as_they_are(file: Path) -> None:
    content = file.read_bytes()
    assert origin_of(content) == "claude-code"
    read, plain = read_any(content), parse_transcript(content)
    assert [record.raw for record in read.records] == [record.raw for record in plain.records]
    assert read.flaws == plain.flaws


@pytest.mark.parametrize("file", sorted(CASES.glob("**/*.jsonl")), ids=lambda file: file.name)
def test_our_own_damaged_files_are_ours(file: Path) -> None:
    assert origin_of(file.read_bytes()) in {"claude-code", None}


@pytest.mark.parametrize("file", SESSIONS, ids=lambda file: file.name)
def test_a_session_without_its_first_lines_is_told_too(file: Path) -> None:
    content = file.read_bytes()
    rest = b"".join(content.splitlines(keepends=True)[4:])
    assert origin_of(b'{"cut":\n' + rest) == origin_of(content)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"hello\nworld\n",
        b'{"level":"info","message":"started"}\n',
        b"[1,2]\n",
        b"\xff\xfe{}\n",
        b'{"type":"session_meta"}\n',
        b'{"x":' + b"[" * 100_000 + b"\n",
    ],
)
def test_what_is_no_session_has_no_origin(content: bytes) -> None:
    assert origin_of(content) is None
    assert read_any(content).flaws == parse_transcript(content).flaws


def test_only_the_beginning_of_a_file_is_looked_at() -> None:
    first = CODEX.read_bytes().split(b"\n")[0]
    assert origin_of(b'{"unknown":1}\n' * 100_000 + first) is None


def test_a_log_that_only_borrows_the_names_of_codex_is_none() -> None:
    head = b'{"type":"session_meta","payload":{"id":"x","cwd":"/mill"}}\n'
    prompt = b'{"type":"response_item","payload":{"type":"message","role":"user","content":[]}}\n'
    count = b'{"type":"event_msg","payload":{"type":"token_count"}}\n'
    answer = b'{"type":"response_item","payload":{"type":"message","role":"assistant"}}\n'
    assert origin_of(head + prompt + count) is None
    assert origin_of(head + prompt + answer) == "codex"
