"""Loading a session of 100 MB: against a bare `msgspec` scan, and in the app; and appending."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from app.sessions.records import parse_record
from benchmarks.figures import Figure, median, show
from benchmarks.headless import SESSION, transcript
from benchmarks.terminal import APP, ROOT, Home, Program

SIZE = 100_000_000
WORDS = 600

SCAN = """
from msgspec.json import decode
for line in open(sys.argv[1], "rb"):
    decode(line)
"""
KEPT = """
from msgspec.json import decode
lines = [decode(line) for line in open(sys.argv[1], "rb")]
"""
LOAD = """
from app.sessions.codec import parse_transcript
from app.sessions.graph import open_view
from widgets.conversation.feed import Feed
with open(sys.argv[1], "rb") as file:
    view = open_view(parse_transcript(file.read()).records)
Feed().show(view, "/")
"""
OPEN = """
from app.config import Settings
from app.models.spending import spent
from app.sessions.codec import parse_transcript
from app.sessions.graph import open_view
from app.sessions.summary import title_from, warnings_of
from widgets.conversation.feed import Feed
with open(sys.argv[1], "rb") as file:
    parsed = parse_transcript(file.read())
view = open_view(parsed.records)
warnings_of(parsed, view.graph), title_from(parsed.records), spent(view.graph, Settings())
Feed().show(view, "/")
"""
SIZES = (1_000_000, 500_000_000)
"""Sessions to which records are appended, bytes."""
APPENDS = 2_000
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


def append_seconds(folder: Path, size: int) -> float:
    """Seconds of one append of a record of 1 kB to a file of so many bytes (sparse)."""
    from app.sessions.journal import Journal
    from app.storage.local import FileLog

    file = folder / f"{size}.jsonl"
    with file.open("wb") as out:
        out.truncate(size - 1)
        out.seek(size - 1)
        out.write(b"\n")
    journal = Journal("s", FileLog(file))
    record = parse_record(b'{"type":"note","text":"' + b"x" * 1_000 + b'"}')
    journal.append(record)
    began = time.perf_counter()
    for _ in range(APPENDS):
        journal.append(record)
    return (time.perf_counter() - began) / APPENDS


def measure(size: int = SIZE, rounds: int = 3) -> list[Figure]:
    """Scan, load and open in turn."""
    from app.paths import find_places

    home = Home()
    file = find_places(home.environment).transcript(home.folder, SESSION)
    messages = write_session(file, size)
    scans, kept, loads, wholes, opens = [], [], [], [], []
    for _ in range(rounds):
        scans.append(timed(SCAN, file))
        kept.append(timed(KEPT, file))
        loads.append(timed(LOAD, file))
        wholes.append(timed(OPEN, file))
        opens.append(shown(home, messages))
    appends = [median([append_seconds(file.parent, each) for _ in range(3)]) for each in SIZES]
    home.close()
    scan, load, whole = (median([each[0] for each in side]) for side in (scans, loads, wholes))
    memory = [median([each[1] for each in side]) for side in (kept, loads)]
    detail = f"{load:.2f} s CPU for {size / 1e6:.0f} MB, {messages} lines; the scan {scan:.2f} s"
    return [
        Figure("transcripts: graph and last screen", load / scan, "× msgspec scan", 2.0, detail),
        Figure(
            "transcripts: with title, warnings and cost",
            whole / scan,
            "× msgspec scan",
            3.5,
            f"{whole:.2f} s CPU",
        ),
        Figure(
            "transcripts: memory",
            memory[1] / memory[0],
            "× msgspec scan, kept",
            2.5,
            f"{memory[1]:.0f} MB kept, the scan {memory[0]:.0f} MB",
        ),
        Figure("transcripts: open in the app", median(opens), "s", 3.0, "to the last message"),
        Figure(
            "transcripts: append at 500 MB",
            appends[1] / appends[0],
            "× at 1 MB",
            1.2,
            f"{appends[1] * 1e6:.0f} µs, at 1 MB {appends[0] * 1e6:.0f} µs",
        ),
    ]


if __name__ == "__main__":
    show(measure())
