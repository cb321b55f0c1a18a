from __future__ import annotations

from pathlib import Path

import pytest

from app.background.dream import lock_files
from app.background.dream.lock import FILE, lock_words
from tests.fakes.clock import FakeClock
from tests.unit.background.dream.lock_kit import (
    HOUR,
    START_SECONDS,
    UNKNOWN,
    make_lock,
    refused,
    taken,
)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.mark.parametrize("content", UNKNOWN)
def test_holder_of_whom_nothing_is_known_has_an_hour_by_the_files_time(
    content: bytes, tmp_path: Path, clock: FakeClock
) -> None:
    make_lock(tmp_path, content, START_SECONDS - 2_400)
    assert "dreams since 2026-11-02 08:20 UTC" in refused(tmp_path, clock)
    clock.advance(1_201)
    said: list[str] = []
    taken(tmp_path, clock, said)
    assert "more than an hour" in said[0]


@pytest.mark.parametrize("content", UNKNOWN)
def test_time_in_the_future_is_stale_after_an_hour_of_being_observed(
    content: bytes, tmp_path: Path, clock: FakeClock
) -> None:
    make_lock(tmp_path, content, START_SECONDS + 1e8)
    assert lock_words(tmp_path, clock)
    assert [each.name for each in tmp_path.iterdir()] == [FILE]
    refused(tmp_path, clock)
    clock.advance(HOUR - 1)
    refused(tmp_path, clock)
    clock.advance(1)
    said: list[str] = []
    held = taken(tmp_path, clock, said)
    assert "more than an hour" in said[0]
    assert "lies in the future" in said[1]
    assert held.succeed() == ""
    assert [each.name for each in tmp_path.iterdir()] == [FILE]


def test_observation_survives_a_restart_of_the_machine_and_bad_notes(
    tmp_path: Path, clock: FakeClock
) -> None:
    make_lock(tmp_path, UNKNOWN[0], START_SECONDS + 1e8)
    clock.elapsed = 5_000.0
    refused(tmp_path, clock)
    after = FakeClock()  # its monotonic clock begins at 0 again
    after.time = clock.time
    after.advance(HOUR - 1)
    refused(tmp_path, after)
    after.advance(1)
    taken(tmp_path, after)


@pytest.mark.parametrize("note", [b"", b"garbage", b"[]", b"\xff", b'{"version":1}'])
def test_bad_note_of_an_observation_starts_it_anew(
    note: bytes, tmp_path: Path, clock: FakeClock
) -> None:
    make_lock(tmp_path, UNKNOWN[0], START_SECONDS + 1e8)
    (tmp_path / lock_files.SEEN).write_bytes(note)
    refused(tmp_path, clock)
    clock.advance(HOUR)
    taken(tmp_path, clock)


def test_another_lock_is_observed_anew(tmp_path: Path, clock: FakeClock) -> None:
    make_lock(tmp_path, UNKNOWN[0], START_SECONDS + 1e8)
    refused(tmp_path, clock)
    clock.advance(HOUR - 1)
    make_lock(tmp_path, UNKNOWN[0], START_SECONDS + 2e8)
    refused(tmp_path, clock)
    clock.advance(HOUR - 1)
    refused(tmp_path, clock)
    clock.advance(1)
    taken(tmp_path, clock)
