"""What the tests of the consolidation lock share."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from app.background.dream.lock import FILE, Held, Refused, acquire
from tests.fakes.clock import START, FakeClock

START_SECONDS = START.timestamp()
HOUR = 3_600.0


def taken(folder: Path, clock: FakeClock, said: list[str] | None = None) -> Held:
    held = acquire(folder, clock, [].append if said is None else said.append)
    assert isinstance(held, Held), held
    return held


def refused(folder: Path, clock: FakeClock) -> str:
    found = acquire(folder, clock, lambda _: None)
    assert isinstance(found, Refused)
    return found.reason


def make_lock(folder: Path, content: bytes, seconds: float = START_SECONDS - 7_200) -> Path:
    file = folder / FILE
    file.write_bytes(content.replace(b"@PID@", str(os.getpid()).encode()))
    os.utime(file, (seconds, seconds))
    return file


def as_json(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


UNKNOWN = [as_json(pid=77, host="another-machine", started=5.0), b"@PID@"]
"""`@PID@` stands for a process that lives, this one."""
