from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.errors import SessionNotFound
from app.paths import Places
from app.sessions.catalogue import (
    find_transcript,
    is_session_id,
    newest_transcript,
    transcripts,
)

ONE = "11111111-1111-4111-8111-111111111111"
TWO = "22222222-2222-4222-8222-222222222222"


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path / "config", tmp_path / "data", tmp_path / "logs")


def write(places: Places, folder: Path, session_id: str, when: float) -> Path:
    file = places.transcript(folder, session_id)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("{}\n")
    os.utime(file, (when, when))
    return file


def test_the_newest_comes_first(places: Places, tmp_path: Path) -> None:
    assert newest_transcript(places, tmp_path) is None
    assert transcripts(places, tmp_path) == []
    old = write(places, tmp_path, ONE, 1_000)
    new = write(places, tmp_path, TWO, 2_000)
    write(places, tmp_path, "notes", 3_000)
    write(places, tmp_path / "elsewhere", ONE, 4_000)
    new.with_name("33333333-3333-4333-8333-333333333333.jsonl").touch()
    assert transcripts(places, tmp_path) == [(2_000, new), (1_000, old)]
    assert newest_transcript(places, tmp_path) == new


def test_a_session_is_found_by_its_id(places: Places, tmp_path: Path) -> None:
    other = write(places, tmp_path / "elsewhere", ONE, 1_000)
    assert find_transcript(places, tmp_path, ONE) == other
    own = write(places, tmp_path, ONE, 1_000)
    assert find_transcript(places, tmp_path, ONE) == own


@pytest.mark.parametrize("text", ["", "x", "../" + ONE, ONE + "\n", ONE.replace("-", "")])
def test_a_malformed_id_is_told_apart_from_an_unknown_one(
    places: Places, tmp_path: Path, text: str
) -> None:
    assert not is_session_id(text)
    with pytest.raises(SessionNotFound, match="Invalid session ID"):
        find_transcript(places, tmp_path, text)
    with pytest.raises(SessionNotFound, match=f"No conversation found with session ID: {TWO}"):
        find_transcript(places, tmp_path, TWO)
