from __future__ import annotations

import json
import os
import socket
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from app.background.dream import lock_files, lock_holder
from app.background.dream.lock import (
    FILE,
    last_consolidation,
    lock_words,
    recover,
)
from app.background.dream.lock_holder import encoded, fate_of, myself, parsed
from tests.fakes.clock import FakeClock
from tests.fakes.dreaming import DEAD
from tests.unit.background.dream.lock_kit import (
    HOUR,
    START_SECONDS,
    UNKNOWN,
    as_json,
    make_lock,
    refused,
    taken,
)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def test_first_dream_leaves_its_time(tmp_path: Path, clock: FakeClock) -> None:
    memory = tmp_path / "data" / "memory"
    assert last_consolidation(memory) is None
    assert lock_words(memory, clock) == ""
    held = taken(memory, clock)
    assert held.prior_mtime is None
    assert held.is_mine()
    assert stat.S_IMODE((memory / FILE).stat().st_mode) == 0o600
    clock.advance(300)
    assert held.succeed() == ""
    assert (memory / FILE).read_bytes() == b""
    assert last_consolidation(memory) == START_SECONDS
    assert [each.name for each in memory.iterdir()] == [FILE]
    assert not held.is_mine()


def test_first_dream_that_fails_leaves_no_file(tmp_path: Path, clock: FakeClock) -> None:
    held = taken(tmp_path, clock)
    assert held.fail() == ""
    assert list(tmp_path.iterdir()) == []


def test_later_dream_that_fails_puts_the_time_back_to_the_nanosecond(
    tmp_path: Path, clock: FakeClock
) -> None:
    file = make_lock(tmp_path, b"")
    os.utime(file, ns=(1, 1_700_000_000_123_456_789))
    held = taken(tmp_path, clock)
    assert held.prior_mtime == pytest.approx(1_700_000_000.123456)
    assert last_consolidation(tmp_path) == START_SECONDS
    assert held.fail() == ""
    assert (file.stat().st_mtime_ns, file.read_bytes()) == (1_700_000_000_123_456_789, b"")


def test_file_names_the_holder(tmp_path: Path, clock: FakeClock) -> None:
    taken(tmp_path, clock)
    found = json.loads((tmp_path / FILE).read_bytes())
    assert found["pid"] == os.getpid()
    assert found["started"] == pytest.approx(time.time(), abs=100_000)
    assert lock_words(tmp_path, clock) == "this process dreams since 2026-11-02 09:00 UTC"


@pytest.mark.parametrize(
    "moment", [START_SECONDS - 2_400, START_SECONDS - 9_000, 86_400.0, START_SECONDS + 1e8]
)
def test_time_of_a_live_holders_file_has_no_say(
    moment: float, tmp_path: Path, clock: FakeClock
) -> None:
    held = taken(tmp_path, clock)
    os.utime(tmp_path / FILE, (moment, moment))
    clock.advance(HOUR - 1)
    assert refused(tmp_path, clock).startswith("this process dreams since")
    assert held.is_mine()


def test_wall_clock_that_jumps_makes_no_lock_stale(tmp_path: Path, clock: FakeClock) -> None:
    taken(tmp_path, clock)
    for hours in (-5, 10):
        elapsed = clock.elapsed
        clock.advance(hours * HOUR)
        clock.elapsed = elapsed
        refused(tmp_path, clock)


def test_holder_that_is_stuck_for_an_hour_loses_the_lock_and_learns_of_it(
    tmp_path: Path, clock: FakeClock
) -> None:
    first = taken(tmp_path, clock)
    clock.advance(HOUR)
    said: list[str] = []
    second = taken(tmp_path, clock, said)
    assert "more than an hour" in said[0]
    assert not first.is_mine()
    state = (tmp_path / FILE).read_bytes(), (tmp_path / FILE).stat().st_mtime_ns
    assert "another process has taken the lock over" in first.fail()
    assert "another process has taken the lock over" in first.succeed()
    assert state == ((tmp_path / FILE).read_bytes(), (tmp_path / FILE).stat().st_mtime_ns)
    assert second.is_mine()
    assert second.prior_mtime is None
    assert second.succeed() == ""


@pytest.mark.parametrize(
    "content",
    [
        DEAD,
        b"4194303",
        b"4194303\n",
        b'{"pid":@PID@,"started":1.0}',
        b'{"pid":@PID@,"started":1.0,"birth":"other-boot/12345"}',
        as_json(pid=0),
        as_json(pid=-1),
        as_json(pid=2**70),
        as_json(pid=2**31),
        as_json(pid="12"),
        as_json(other=1),
        b"[]",
        b"null",
        b"true",
        b"garbage",
        b"\xff\xfe\x00",
        b"\x00" * 64,
        b"[" * 4_000,
        b"9" * 300,
        b"{",
        b" ",
        b"\n",
        b"x" * 10_000_000,
    ],
    ids=range(23),
)
@pytest.mark.parametrize("moment", [START_SECONDS, 1.0, START_SECONDS + 3e8])
def test_lock_of_nobody_is_taken_at_once(
    content: bytes, moment: float, tmp_path: Path, clock: FakeClock
) -> None:
    file = make_lock(tmp_path, content, moment)
    said: list[str] = []
    held = taken(tmp_path, clock, said)
    assert said[0].startswith("The consolidation lock was taken over: ")
    assert held.prior_mtime == (1.0 if content == DEAD else moment)
    assert held.fail() == ""
    assert (file.read_bytes(), file.stat().st_mtime) == (b"", held.prior_mtime)


def test_lock_that_may_not_be_read_is_taken(
    tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = make_lock(tmp_path, b"closed")
    inode = file.stat().st_ino
    content = lock_files._content
    monkeypatch.setattr(
        lock_files, "_content", lambda f: None if file.stat().st_ino == inode else content(f)
    )
    said: list[str] = []
    taken(tmp_path, clock, said)
    assert "could not be read" in said[0]


@pytest.mark.parametrize("what", ["fifo", "socket", "link", "dangling", "loop"])
def test_what_is_no_file_is_replaced_and_never_followed(
    what: str, tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, other = tmp_path / "m", tmp_path / "other"
    memory.mkdir()
    other.write_text("other")
    if what == "fifo":
        os.mkfifo(memory / FILE)
    elif what == "socket":
        monkeypatch.chdir(memory)
        with socket.socket(socket.AF_UNIX) as sock:
            sock.bind(FILE)
    else:
        aim = {"link": str(other), "dangling": "nowhere", "loop": FILE}[what]
        (memory / FILE).symlink_to(aim)
    said: list[str] = []
    held = taken(memory, clock, said)
    assert "no regular file" in said[0]
    assert (memory / FILE).is_file()
    assert not (memory / FILE).is_symlink()
    assert held.prior_mtime is None
    assert held.fail() == ""
    assert list(memory.iterdir()) == []
    assert other.read_text() == "other"


def test_folder_in_its_place_is_named(tmp_path: Path, clock: FakeClock) -> None:
    (tmp_path / FILE).mkdir()
    assert f"a folder lies where the lock {FILE} belongs" in refused(tmp_path, clock)
    assert "folder" in lock_words(tmp_path, clock)


def test_place_that_cannot_be_written_is_named(tmp_path: Path, clock: FakeClock) -> None:
    (tmp_path / "file").write_text("x")
    assert "cannot be made" in refused(tmp_path / "file" / "memory", clock)


def test_lock_that_was_removed_or_replaced_is_not_rolled_back(
    tmp_path: Path, clock: FakeClock
) -> None:
    held = taken(tmp_path, clock)
    (tmp_path / FILE).unlink()
    assert "dream.min_hours" in held.fail()
    assert list(tmp_path.iterdir()) == []
    make_lock(tmp_path, b"somebody")
    assert "dream.min_hours" in held.fail()
    assert (tmp_path / FILE).read_bytes() == b"somebody"


def test_roll_back_that_fails_says_what_it_means(
    tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_words: Any, **_named: Any) -> None:
        raise OSError(28, "No space left on device")

    make_lock(tmp_path, b"")
    held = taken(tmp_path, clock)
    monkeypatch.setattr(lock_files.os, "utime", full)
    assert held.fail() == (
        "The time of the last consolidation could not be put back: No space left on device. "
        "The next run waits at least dream.min_hours."
    )
    assert "could not be cleared: No space left on device" in held.succeed()
    assert held.is_mine()
    assert [each.name for each in tmp_path.iterdir()] == [FILE]


def test_claim_of_a_live_process_is_respected_and_of_dead_ones_not(
    tmp_path: Path, clock: FakeClock
) -> None:
    make_lock(tmp_path, b"")
    with lock_files.opened(tmp_path) as folder:
        name = f"{FILE}.{lock_files.look_at(folder).version}"
    (tmp_path / name).symlink_to(encoded(myself(clock)).decode())
    assert refused(tmp_path, clock) == "another process is just taking the lock"
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to(DEAD.decode())
    for _ in range(3):
        held = taken(tmp_path, clock)
        assert held.fail() == ""
    assert [each.name for each in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize("content", ["file", "folder", "nonsense"])
def test_nonsense_in_the_place_of_a_claim_does_not_block(
    content: str, tmp_path: Path, clock: FakeClock
) -> None:
    make_lock(tmp_path, b"")
    with lock_files.opened(tmp_path) as folder:
        place = tmp_path / f"{FILE}.{lock_files.look_at(folder).version}"
    if content == "file":
        place.write_text("x")
    elif content == "folder":
        place.mkdir()
    else:
        place.symlink_to("nonsense")
    assert taken(tmp_path, clock).succeed() == ""


def test_claim_that_was_cleared_away_does_not_count(
    tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = lock_files.look_at
    looks = 0

    def cleared(folder: int) -> lock_files.Look:
        nonlocal looks
        looks += 1
        if looks == 2:  # between the claim and the second look
            for each in tmp_path.glob(f"{FILE}.*"):
                each.unlink()
        return look(folder)

    monkeypatch.setattr(lock_files, "look_at", cleared)
    monkeypatch.setattr("app.background.dream.lock.look_at", cleared)
    assert refused(tmp_path, clock) == "another process is just taking the lock"
    assert not (tmp_path / FILE).exists()


def test_recovery_leaves_alone_what_is_not_dead(tmp_path: Path, clock: FakeClock) -> None:
    recover(tmp_path / "nowhere", clock, lambda _: None)
    recover(tmp_path, clock, lambda _: None)
    assert list(tmp_path.iterdir()) == []
    for content in (b"", b"garbage", *UNKNOWN):
        file = make_lock(tmp_path, content)
        before = file.read_bytes()
        recover(tmp_path, clock, lambda _: None)
        assert file.read_bytes() == before
    said: list[str] = []
    file = make_lock(tmp_path, DEAD)
    recover(tmp_path, clock, said.append)
    assert (file.read_bytes(), file.stat().st_mtime) == (b"", 1.0)
    assert len(said) == 1


def test_holders_that_are_written_are_read(clock: FakeClock) -> None:
    for prior in (None, 5, -5):
        holder = myself(clock, prior)
        assert parsed(encoded(holder)) == holder
        assert fate_of(holder) == "alive"
    assert parsed(encoded(myself(clock)) + b" " * 5_000) is None


def test_start_is_told_by_the_kernels_ticks_not_by_the_clock(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not lock_holder.boot():
        pytest.skip("only Linux tells")
    holder = myself(clock)
    assert holder.birth.startswith(f"{lock_holder.boot()}/")
    shifted = parsed(encoded(holder).replace(b'"started":', b'"started":1'))
    assert shifted is not None
    assert shifted.started != holder.started
    assert fate_of(shifted) == "alive"
