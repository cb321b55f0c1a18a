from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from app.sessions.ownership import Holder, Ownership, lock_file, own

HOLD = """
import sys
from pathlib import Path
from app.sessions.ownership import own
print(type(own(Path(sys.argv[1]))).__name__, flush=True)
sys.stdin.read()
"""
ROUNDS = """
import sys
from pathlib import Path
from app.sessions.ownership import Ownership, own
transcript = Path(sys.argv[1])
for _ in range(200):
    sys.stdin.readline()
    got = own(transcript)
    print(type(got).__name__, flush=True)
    sys.stdin.readline()
    if isinstance(got, Ownership):
        got.release()
    print("released", flush=True)
"""


def child(script: str, transcript: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, str(transcript)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def test_the_first_owns_and_the_second_learns_who(tmp_path: Path) -> None:
    transcript = tmp_path / "a.jsonl"
    holder = child(HOLD, transcript)
    assert line(holder) == "Ownership"
    found = own(transcript)
    assert isinstance(found, Holder)
    assert found.pid == holder.pid and found.started > 0
    end(holder)


def test_a_killed_owner_is_no_owner(tmp_path: Path) -> None:
    transcript = tmp_path / "a.jsonl"
    holder = child(HOLD, transcript)
    assert line(holder) == "Ownership"
    os.kill(holder.pid, signal.SIGKILL)
    holder.communicate()
    got = own(transcript)
    assert isinstance(got, Ownership)
    got.release()
    got.release()
    assert not lock_file(transcript).exists()


def test_garbage_or_a_recycled_pid_in_the_lock_file_owns_nothing(tmp_path: Path) -> None:
    transcript = tmp_path / "a.jsonl"
    for content in (b"", b"garbage", b'{"pid": %d, "started": 1.0}' % os.getpid(), b"[]"):
        lock_file(transcript).write_bytes(content)
        got = own(transcript)
        assert isinstance(got, Ownership)
        got.release()


def test_of_many_at_once_exactly_one_owns(tmp_path: Path) -> None:
    transcript = tmp_path / "a.jsonl"
    children = [child(ROUNDS, transcript) for _ in range(4)]
    for _ in range(200):
        for process in children:
            tell(process)
        won = [line(process) for process in children]
        assert won.count("Ownership") == 1, won
        for process in children:
            tell(process)
        assert {line(process) for process in children} == {"released"}
    for process in children:
        end(process)


def test_the_lock_file_is_private(tmp_path: Path) -> None:
    got = own(tmp_path / "a.jsonl")
    assert isinstance(got, Ownership)
    assert lock_file(tmp_path / "a.jsonl").stat().st_mode & 0o777 == 0o600
    got.release()
