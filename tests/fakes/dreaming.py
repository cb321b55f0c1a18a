"""Processes that want the consolidation lock, at once or until they are killed.

`python -m tests.fakes.dreaming race FOLDER PROCESSES ROUNDS`: in each round all processes ask at
the same moment, for a lock in one of several states. Prints a JSON list with the number of winners
of each round.

`python -m tests.fakes.dreaming churn FOLDER PROCESSES TIMES`: each process asks until it had the
lock TIMES times and gives it back at once; every fourth dies with it half-way. Prints a JSON
object: how often it was `held`, and how often by two processes at once (`double`).

`python -m tests.fakes.dreaming killed FOLDER`: for each state of the lock and each end (`succeed`,
`fail`) a process takes it and gives it back, killed before its first, second, third … call that
changes something; then the next one takes it and fails. Prints a JSON list of `Row`s.

`python -m tests.fakes.dreaming hold FOLDER`: takes the lock, says so, and waits to be killed.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from app.background.dream.lock import FILE, Held, acquire, last_consolidation
from app.clock import SystemClock

CHANGING = ("open", "write", "symlink", "utime", "fsync", "replace", "unlink")
"""The calls by which a lock is changed; `open` also makes files."""
DEAD = b'{"pid":4194303,"started":1.0,"birth":"gone/1","nonce":"x","prior_ns":1000000000}'
_DEAD_CLAIM = DEAD.decode()
STATES = 6
"""Of `prepared`."""


def _silent(_sentence: str) -> None:
    """Nobody reads the log here."""


def deadly_calls(moment: int) -> None:
    """Let this process die before its `moment`-th changing call."""
    passed = 0

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def inner(*words: Any, **named: Any) -> Any:
            nonlocal passed
            passed += 1
            if passed == moment:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*words, **named)

        return inner

    for name in CHANGING:
        setattr(os, name, counted(getattr(os, name)))


class Row(NamedTuple):
    """What the next process met after a kill."""

    state: int
    end: str
    moment: int
    trouble: str
    """Why it did not get the lock."""
    before: float | None
    """The last consolidation before the killed process came."""
    prior: float | None
    """What the next process takes for it."""
    after: float | None
    """What it left when it failed."""
    leftovers: list[str]


def killed(base: Path) -> list[Row]:
    rows: list[Row] = []
    for state in range(STATES):
        for end in ("succeed", "fail"):
            moment = survived = 0
            while not survived:
                moment += 1
                folder = base / f"{state}-{end}-{moment}"
                folder.mkdir()
                prepared(folder, state)
                before = last_consolidation(folder)
                child = os.fork()
                if child == 0:
                    deadly_calls(moment)
                    take_and_give_back(folder, end)
                    os._exit(0)
                survived = os.waitpid(child, 0)[1] == 0
                rows.append(next_one(folder, Row(state, end, moment, "", before, None, None, [])))
    return rows


def take_and_give_back(folder: Path, end: str) -> None:
    held = acquire(folder, SystemClock(), _silent)
    assert isinstance(held, Held), held
    trouble = held.succeed() if end == "succeed" else held.fail()
    assert not trouble, trouble


def next_one(folder: Path, row: Row) -> Row:
    held = acquire(folder, SystemClock(), _silent)
    if not isinstance(held, Held):
        return row._replace(trouble=held.reason)
    trouble = held.fail()
    left = [each.name for each in folder.iterdir() if each.name != FILE]
    return row._replace(
        trouble=trouble, prior=held.prior_mtime, after=last_consolidation(folder), leftovers=left
    )


def hold(folder: Path) -> None:
    held = acquire(folder, SystemClock(), _silent)
    print("held" if isinstance(held, Held) else held.reason, flush=True)
    time.sleep(60)


def prepared(folder: Path, round_number: int) -> None:
    """One of the states that a lock may be found in; leftovers of the last round stay."""
    lock, state = folder / FILE, round_number % STATES
    if state == 0:
        lock.unlink(missing_ok=True)
        return
    contents = {1: b"", 2: DEAD, 3: b"\xff garbage", 4: b"", 5: b"4194303"}
    lock.write_bytes(contents[state])
    moment = time.time() + (365 * 86_400 if state == 5 else -2 * 86_400)
    os.utime(lock, (moment, moment))
    if state == 4:  # two processes have died while they were about to take it
        from app.background.dream.lock_files import look_at, opened

        with opened(folder) as descriptor:
            os.symlink(_DEAD_CLAIM, f"{FILE}.{look_at(descriptor).version}", dir_fd=descriptor)


def contender(folder: Path, hear: int, tell: int) -> None:
    """Asks for the lock at each `a`, gives it back at each `b`, ends when nothing more is said."""
    held = None
    rounds = 0
    while word := os.read(hear, 1):
        if word == b"a":
            held = acquire(folder, SystemClock(), _silent)
            os.write(tell, b"1" if isinstance(held, Held) else b"0")
        elif isinstance(held, Held):
            rounds += 1
            trouble = held.succeed() if rounds % 2 else held.fail()
            os.write(tell, b"x" if trouble else b".")
        else:
            os.write(tell, b".")


def churn(folder: Path, processes: int, times: int) -> dict[str, int]:
    (folder / "notes").mkdir()
    children: list[int] = []
    for who in range(processes):
        child = os.fork()
        if child == 0:
            churner(folder, who, times)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    notes = [file.read_text() for file in (folder / "notes").iterdir()]
    return {word: sum(note.count(word) for note in notes) for word in ("held", "double")}


def churner(folder: Path, who: int, times: int) -> None:
    """The kernel's lock on a file of our own tells of a second holder; it ends with its process."""
    witness = os.open(folder / "witness", os.O_RDWR | os.O_CREAT, 0o600)
    notes = os.open(folder / "notes" / str(who), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for number in range(times):
        while not isinstance(held := acquire(folder / "memory", SystemClock(), _silent), Held):
            os.sched_yield()
        try:
            fcntl.flock(witness, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.write(notes, b"double ")
        os.write(notes, b"held ")
        if who % 4 == 3 and number == times // 2:
            os.kill(os.getpid(), signal.SIGKILL)
        fcntl.flock(witness, fcntl.LOCK_UN)
        if (number + who) % 2:
            held.succeed()
        else:
            held.fail()


def race(folder: Path, processes: int, rounds: int) -> list[int]:
    ears: list[int] = []
    mouths: list[int] = []
    children: list[int] = []
    for _ in range(processes):
        hear, mouth = os.pipe()
        ear, tell = os.pipe()
        child = os.fork()
        if child == 0:
            for other in (*mouths, *ears, mouth, ear):
                os.close(other)
            contender(folder, hear, tell)
            os._exit(0)
        os.close(hear)
        os.close(tell)
        mouths.append(mouth)
        ears.append(ear)
        children.append(child)
    winners: list[int] = []
    for number in range(rounds):
        prepared(folder, number)
        for mouth in mouths:
            os.write(mouth, b"a")
        winners.append(sum(os.read(ear, 1) == b"1" for ear in ears))
        for mouth in mouths:
            os.write(mouth, b"b")
        assert all(os.read(ear, 1) == b"." for ear in ears), "a lock could not be given back"
    for mouth in mouths:
        os.close(mouth)
    for child in children:
        os.waitpid(child, 0)
    return winners


def main() -> None:
    what, folder, *rest = sys.argv[1:]
    if what == "race":
        print(json.dumps(race(Path(folder), int(rest[0]), int(rest[1]))))
    elif what == "churn":
        print(json.dumps(churn(Path(folder), int(rest[0]), int(rest[1]))))
    elif what == "killed":
        print(json.dumps(killed(Path(folder))))
    else:
        hold(Path(folder))


if __name__ == "__main__":
    main()
