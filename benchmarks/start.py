"""How long until the first frame, and until a typed key is echoed."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.figures import Figure, median, show
from benchmarks.terminal import APP, FLOOR, Home, Program

ROUNDS = 15


def once(words: Sequence[str], home: Home) -> tuple[float, float]:
    """Seconds to the first frame and to the echo of a key typed as soon as it was there."""
    program = Program(words, home)
    try:
        frame = program.wait_for(b"reverie") - program.began
        program.send(b"Q")
        return frame, program.wait_for(b"Q") - program.began
    finally:
        program.close()


def measure(rounds: int = ROUNDS) -> list[Figure]:
    """Start the floor and the app in turn."""
    home = Home()
    floor: list[tuple[float, float]] = []
    app: list[tuple[float, float]] = []
    for number in range(rounds + 1):
        pair = once(FLOOR, home), once((*APP, "--demo"), home)
        if number:  # the first round fills the caches
            floor.append(pair[0])
            app.append(pair[1])
    home.close()
    figures: list[Figure] = []
    for place, (name, target) in enumerate((("first frame", 1.3), ("ready for typing", 1.4))):
        subject, base = (median([each[place] for each in side]) for side in (app, floor))
        detail = f"{subject * 1000:.0f} ms, minimal app {base * 1000:.0f} ms"
        figures.append(Figure(f"start: {name}", subject / base, "× minimal", target, detail))
    return figures


if __name__ == "__main__":
    show(measure())
