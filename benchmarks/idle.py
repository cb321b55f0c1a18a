"""What the app does when nobody does anything."""

from __future__ import annotations

import time

from benchmarks.figures import Figure, show
from benchmarks.terminal import APP, FLOOR, Home, Program

SECONDS = 10.0


def measure(seconds: float = SECONDS) -> list[Figure]:
    """Bytes and CPU of ten seconds, the floor's beside the app's."""
    home = Home()
    programs = [Program(FLOOR, home), Program((*APP, "--demo"), home)]
    try:
        for program in programs:
            program.wait_for(b"reverie")
            program.drain(2.0)
        before = [(program.written, program.cpu()) for program in programs]
        time.sleep(seconds)
        for program in programs:
            program.drain(0.0)
        after = [(program.written, program.cpu()) for program in programs]
        memory = [program.memory() for program in programs]
    finally:
        for program in programs:
            program.close()
        home.close()
    floor, app = (
        (late[0] - early[0], (late[1] - early[1]) / seconds * 100)
        for early, late in zip(before, after, strict=True)
    )
    rss = f"{memory[1]:.0f} MB resident, minimal app {memory[0]:.0f} MB"
    return [
        Figure("idle: written in 10 s", app[0], "bytes", 0, f"minimal app {floor[0]}"),
        Figure("idle: CPU", app[1], "%", 0.5, f"minimal app {floor[1]:.2f} %"),
        Figure("idle: memory", memory[1] / memory[0], "× minimal", 2.0, rss),
    ]


if __name__ == "__main__":
    show(measure())
