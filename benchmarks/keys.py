"""From a typed key to its paint, idle and while a reply streams."""

from __future__ import annotations

import sys
import time

from benchmarks.figures import Figure, median, p95, show
from benchmarks.terminal import APP, FLOOR, Home, Program

LETTERS = "QWYZXVNUOG"
"""Capitals that neither an escape sequence nor the foot of the screen ends or shows."""
ROUNDS = 12
ALONE = {"REVERIE_ENABLE_AWAY_SUMMARY": "0", "REVERIE_ENABLE_PROMPT_SUGGESTION": "0"}
"""Without background mechanisms."""
STREAMING = (sys.executable, "-m", "benchmarks.paced", "2000000", "steady")


def typed(program: Program, rounds: int = 1) -> list[float]:
    """Milliseconds from each key to the read that brings it; the line is emptied between."""
    times: list[float] = []
    for _ in range(rounds):
        for letter in LETTERS:
            began = time.perf_counter()
            program.send(letter.encode())
            times.append((program.wait_for(letter.encode()) - began) * 1000)
            program.drain(0.02, 0.05)
        program.send(b"\x15")
        program.drain(0.05, 0.1)
    return times


def measure(rounds: int = ROUNDS) -> list[Figure]:
    """Type into the floor, the idle app and the streaming app in turn."""
    home = Home()
    programs = [
        Program(FLOOR, home),
        Program((*APP, "--demo"), home),
        Program(STREAMING, home),
        Program((*APP, "--demo"), home, ALONE),
    ]
    times: list[list[float]] = [[], [], [], []]
    try:
        for program in programs:
            program.wait_for(b"reverie")
            program.drain(1.0)
            typed(program)
        programs[2].send(b"go\r")
        programs[2].drain(0.5, 2.0)
        for _ in range(rounds):
            for place, program in enumerate(programs):
                program.drain(0.0, 0.5)  # nobody read it while the others were measured
                times[place] += typed(program)
                for other in programs:
                    other.drain(0.0, 0.5)
    finally:
        for program in programs:
            program.close()
        home.close()
    floor, idle, busy, alone = times
    base = p95(floor)
    figures: list[Figure] = []
    for name, values, target in (("idle", idle, 1.3), ("while streaming", busy, 1.6)):
        detail = (
            f"{p95(values):.1f} ms, median {median(values):.1f}; "
            f"minimal app {base:.1f} ms, median {median(floor):.1f}"
        )
        figures.append(
            Figure(f"keys: {name}, p95", p95(values) / base, "× minimal", target, detail)
        )
    detail = f"median {median(idle):.1f} ms with, {median(alone):.1f} ms without"
    ratio = median(idle) / median(alone)
    figures.append(Figure("keys: background on, median", ratio, "× off", 1.05, detail))
    return figures


if __name__ == "__main__":
    show(measure())
