"""Loading a session of 100 MB: against a bare JSON scan, and in the app."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.figures import Figure, median, show
from benchmarks.headless import SESSION, transcript
from benchmarks.terminal import APP, ROOT, Home, Program

SIZE = 100_000_000
WORDS = 600

SCAN = """
lines = [json.loads(line) for line in open(sys.argv[1], "rb")]
"""
LOAD = """
from app.sessions.codec import parse_transcript
from app.sessions.graph import open_view
with open(sys.argv[1], "rb") as file:
    view = open_view(parse_transcript(file.read()).records)
"""
TIMED = """
import json, sys, time
{first}
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 / 1e6
before = resident()
began = time.process_time()
{body}
spent = time.process_time() - began
print(json.dumps([spent, resident() - before]))
"""


def timed(body: str, file: Path) -> tuple[float, float]:
    """CPU seconds and megabytes kept, in a process of its own."""
    imports = "\n".join(line for line in body.splitlines() if line.startswith("from"))
    code = TIMED.format(first=imports, body=body)
    words = [sys.executable, "-c", code, str(file)]
    output = subprocess.run(words, cwd=ROOT, check=True, capture_output=True).stdout
    seconds, megabytes = json.loads(output)
    return seconds, megabytes


def write_session(file: Path, size: int) -> int:
    """A session of at least that many bytes; returns its messages."""
    per_line = len(next(transcript(1, WORDS)))
    messages = size // per_line + 1
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as out:
        out.writelines(line + "\n" for line in transcript(messages, WORDS))
    return messages


def shown(home: Home, messages: int) -> float:
    """Seconds from the start to the last message on screen."""
    program = Program((*APP, "--demo", "--resume", SESSION), home)
    try:
        return program.wait_for(f"Message {messages - 1}.".encode(), 60) - program.began
    finally:
        program.close()


def measure(size: int = SIZE, rounds: int = 3) -> list[Figure]:
    """Scan, load and open in turn."""
    from app.paths import find_places

    home = Home()
    file = find_places(home.environment).transcript(home.folder, SESSION)
    messages = write_session(file, size)
    scans, loads, opens = [], [], []
    for _ in range(rounds):
        scans.append(timed(SCAN, file))
        loads.append(timed(LOAD, file))
        began = time.perf_counter()
        opens.append(shown(home, messages))
        assert time.perf_counter() > began
    home.close()
    scan, load = (median([each[0] for each in side]) for side in (scans, loads))
    kept = [median([each[1] for each in side]) for side in (scans, loads)]
    detail = f"{load:.2f} s CPU for {size / 1e6:.0f} MB, {messages} lines; json.loads {scan:.2f} s"
    return [
        Figure("transcripts: load", load / scan, "× json.loads", 1.0, detail),
        Figure(
            "transcripts: memory",
            kept[1] / kept[0],
            "× json.loads",
            1.0,
            f"{kept[1]:.0f} MB kept, json.loads {kept[0]:.0f} MB",
        ),
        Figure("transcripts: open in the app", median(opens), "s", 3.0, "to the last message"),
    ]


if __name__ == "__main__":
    show(measure())
