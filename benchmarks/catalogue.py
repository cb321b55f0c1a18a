"""A thousand sessions: listed by a fresh process that has read none of them, and searched."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import uuid

from app.paths import find_places
from benchmarks.figures import Figure, median, show
from benchmarks.headless import transcript
from benchmarks.terminal import Home
from tests.cli.runner import TRANSCRIPTS as REAL

SESSIONS = 1_000
SMALLEST, BIGGEST = 20_000, 400_000
"""Bytes of a session."""
RARE = "xylophone"
_CWD = re.compile(rb'"cwd":"[^"]*"')

LIST = """
import time
began = time.perf_counter()
import json, os
from pathlib import Path
from app.config import Settings
from app.models.spending import tariff_of
from app.paths import find_places
from app.sessions.listing import complete, list_sessions
places, folder = find_places(os.environ), Path.cwd()
found = list_sessions(places, folder, "project", tariff_of(Settings()))
listed = time.perf_counter() - began
"""
LISTED = f"{LIST}print(listed)"
TIMED = f"""{LIST}
from app.sessions.search import search_sessions

def seconds_to_hit(text):
    began = time.perf_counter()
    hit = next(search_sessions(found, text))
    return time.perf_counter() - began

times = [listed, seconds_to_hit("message 3."), seconds_to_hit("xylophone")]
began = time.perf_counter()
exact = sum(1 for _ in complete(found, tariff_of(Settings())))
times.append(time.perf_counter() - began)
began = time.perf_counter()
again = list_sessions(places, folder, "project", tariff_of(Settings()))
times.append(time.perf_counter() - began)
print(json.dumps([len(found), exact, len(again), times]))
"""


def write_sessions(home: Home, count: int) -> int:
    """So many sessions of mixed sizes, a rare word in the oldest; returns their bytes."""
    places = find_places(home.environment)
    folder = places.project(home.folder)
    folder.mkdir(parents=True)
    whole = "\n".join(transcript(2_000, 240)).replace('"cwd":"/work"', f'"cwd":"{home.folder}"')
    chance, total = random.Random(7), 0
    for number in range(count):
        size = chance.randint(SMALLEST, BIGGEST)
        text = whole[: whole.rindex("\n", 0, size) + 1]
        if number == 0:
            text = text.replace("Message 5.", f"Message 5, {RARE}.", 1)
        title = {"type": "ai-title", "aiTitle": f"Session {number}"}
        file = folder / f"{uuid.UUID(int=chance.getrandbits(128), version=4)}.jsonl"
        file.write_text(f"{text}{json.dumps(title)}\n")
        os.utime(file, (1_700_000_000 + number, 1_700_000_000 + number))
        total += file.stat().st_size
    return total


def forget(home: Home) -> None:
    """Remove what earlier lists have found out."""
    for cache in find_places(home.environment).projects.glob("*/catalogue.json"):
        cache.unlink()


def run(home: Home, script: str) -> bytes:
    """What a script prints in a fresh process."""
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=home.folder,
        env=home.environment,
        check=True,
        capture_output=True,
    ).stdout


def once(home: Home, count: int) -> list[float]:
    """Seconds: listed cold, to a hit in a common text, to one in the last file, complete, warm."""
    forget(home)
    listed, exact, again, times = json.loads(run(home, TIMED))
    assert listed == again == count and exact > 0
    return times


def copy_real_sessions(home: Home, count: int) -> int:
    """So many copies of the real transcripts, as of this folder; returns their bytes."""
    folder = find_places(home.environment).project(home.folder)
    folder.mkdir(parents=True)
    sources = [file.read_bytes() for file in sorted(REAL.glob("[0-4]*.jsonl"))]
    chance, total = random.Random(7), 0
    where = b'"cwd":' + json.dumps(str(home.folder)).encode()
    texts = [_CWD.sub(lambda _: where, source) for source in sources]
    for number in range(count):
        text = texts[number % len(texts)]
        file = folder / f"{uuid.UUID(int=chance.getrandbits(128), version=4)}.jsonl"
        file.write_bytes(text)
        total += len(text)
    return total


def real_figure(count: int, rounds: int) -> Figure:
    """The list of sessions of the sizes and kinds that real ones have."""
    home = Home()
    total = copy_real_sessions(home, count)
    cold: list[float] = []
    for _ in range(rounds + 1):
        forget(home)
        output = run(home, LISTED)
        cold.append(json.loads(output))
    home.close()
    detail = f"{count} real sessions, {total / 1e6:.0f} MB, imports included"
    return Figure("catalogue: list of real ones, cold", median(cold[1:]) * 1_000, "ms", 300, detail)


def measure(count: int = SESSIONS, rounds: int = 5) -> list[Figure]:
    """List and search in fresh processes; the first fills the page cache."""
    home = Home()
    total = write_sessions(home, count)
    runs = [once(home, count) for _ in range(rounds + 1)][1:]
    home.close()
    cold, common, rare, exact, warm = (median([run[n] for run in runs]) * 1_000 for n in range(5))
    size = f"{count} sessions, {total / 1e6:.0f} MB"
    warmly = f"{warm:.0f} ms when they were listed before; all read whole in {exact:.0f} ms"
    return [
        Figure("catalogue: list, cold", cold, "ms", 300, f"{size}, imports included; {warmly}"),
        real_figure(count, rounds),
        Figure("catalogue: first hit in a text", common, "ms", 50, size),
        Figure("catalogue: a word of the last file", rare, "ms", 500, size),
    ]


if __name__ == "__main__":
    show(measure())
