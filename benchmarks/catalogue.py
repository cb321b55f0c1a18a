"""A thousand sessions: listed by a fresh process that has read none of them, and searched."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import uuid

from app.paths import find_places
from benchmarks.figures import Figure, median, show
from benchmarks.headless import transcript
from benchmarks.terminal import Home

SESSIONS = 1_000
SMALLEST, BIGGEST = 20_000, 400_000
"""Bytes of a session."""
RARE = "xylophone"

TIMED = """
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


def once(home: Home, count: int) -> list[float]:
    """Seconds: listed cold, to a hit in a common text, to one in the last file, complete, warm."""
    for cache in find_places(home.environment).projects.glob("*/catalogue.json"):
        cache.unlink()
    output = subprocess.run(
        [sys.executable, "-c", TIMED],
        cwd=home.folder,
        env=home.environment,
        check=True,
        capture_output=True,
    ).stdout
    listed, exact, again, times = json.loads(output)
    assert listed == again == count and exact > 0
    return times


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
        Figure("catalogue: first hit in a text", common, "ms", 50, size),
        Figure("catalogue: a word of the last file", rare, "ms", 500, size),
    ]


if __name__ == "__main__":
    show(measure())
