"""The consolidation lock between real processes: at once, killed, and with clocks that lie.

By hand, with 200 rounds: `python -m tests.fakes.dreaming race FOLDER 8 200`, and
`python -m tests.fakes.dreaming churn FOLDER 8 500` (an empty FOLDER).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from app.background.dream.lock import FILE, Held, Refused, acquire, lock_words, recover
from app.clock import SystemClock
from tests.fakes.dreaming import Row
from tests.unit.agent.tool_kit import run_setup

ROOT = Path(__file__).parents[4]
NOW = time.time
YEAR = 365 * 86_400


def _run(*words: str) -> Any:
    command = [sys.executable, "-m", "tests.fakes.dreaming", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_of_eight_processes_at_once_exactly_one_dreams(tmp_path: Path) -> None:
    assert _run("race", str(tmp_path), "8", "36") == [1] * 36


def test_never_two_hold_it_while_they_come_and_go_and_die(tmp_path: Path) -> None:
    found = _run("churn", str(tmp_path), "8", "16")
    assert found == {"held": 6 * 16 + 2 * 9, "double": 0}


def test_killed_between_any_two_steps_the_next_run_works(tmp_path: Path) -> None:
    rows = [Row(*row) for row in _run("killed", str(tmp_path))]
    assert max(row.moment for row in rows) > 12
    for row in rows:
        assert row.trouble == "", row
        assert row.leftovers == [], row
        assert row.after == row.prior, row
        expected = 1.0 if row.state == 2 else row.before  # a dead holder names its own `prior`
        if row.end == "fail":
            assert row.prior == expected, row
        else:
            assert row.prior == expected or (row.prior or 0) > NOW() - 600, row


@pytest.fixture
def holder(tmp_path: Path) -> Generator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.fakes.dreaming", "hold", str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_live_holder_is_respected_whatever_the_time_says(
    holder: subprocess.Popen[str], tmp_path: Path
) -> None:
    for moment in (NOW(), NOW() - 2_400, NOW() - 7_200, 86_400, NOW() + 7_200, NOW() + 10 * YEAR):
        os.utime(tmp_path / FILE, (moment, moment))
        found = acquire(tmp_path, SystemClock(), lambda _: None)
        assert isinstance(found, Refused)
        assert f"the process {holder.pid} dreams since 20" in found.reason
        assert lock_words(tmp_path, SystemClock()) == found.reason


def test_killed_holder_is_taken_over_from_at_once(
    holder: subprocess.Popen[str], tmp_path: Path
) -> None:
    holder.kill()
    os.waitid(os.P_PID, holder.pid, os.WEXITED | os.WNOWAIT)  # a zombie from here on
    said: list[str] = []
    held = acquire(tmp_path, SystemClock(), said.append)
    assert isinstance(held, Held)
    assert said == [
        f"The consolidation lock was taken over: the process {holder.pid} that held it is gone."
    ]
    assert held.prior_mtime is None
    assert held.fail() == ""
    assert list(tmp_path.iterdir()) == []


def test_time_is_put_back_at_the_start_after_a_kill(
    holder: subprocess.Popen[str], tmp_path: Path
) -> None:
    recover(tmp_path, SystemClock(), lambda _: None)
    assert (tmp_path / FILE).stat().st_size > 0
    holder.kill()
    holder.wait()
    recover(tmp_path, SystemClock(), lambda _: None)
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize("name", ["plus2h", "plus10y", "epoch"])
def test_case_b28_dead_owner_is_taken_over_from_whatever_the_time_says(
    name: str, tmp_path: Path
) -> None:
    run_setup("B28", tmp_path / "case")
    memory = tmp_path / "memory"
    memory.mkdir()
    lock = (tmp_path / "case" / f"lock.{name}").rename(memory / FILE)
    before = lock.stat().st_mtime_ns
    said: list[str] = []
    held = acquire(memory, SystemClock(), said.append)
    assert isinstance(held, Held)
    assert "is gone" in said[0]
    assert len(said) == (1 if name == "epoch" else 2)
    assert abs(lock.stat().st_mtime - NOW()) < 60
    assert held.fail() == ""
    assert (lock.stat().st_mtime_ns, lock.read_bytes()) == (before, b"")
