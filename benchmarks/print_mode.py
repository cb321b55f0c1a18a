"""What print mode costs beside the import of the SDK that any program would pay."""

from __future__ import annotations

import subprocess
import sys
import time

from benchmarks.figures import Figure, median, show
from benchmarks.terminal import Home
from tests.fakes.messages_server import MessagesServer

ROUNDS = 7


def spent(words: list[str], home: Home, more: dict[str, str]) -> float:
    """Seconds of a whole process."""
    began = time.perf_counter()
    subprocess.run(
        words,
        cwd=home.folder,
        env={**home.environment, **more},
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - began


def measure(rounds: int = ROUNDS) -> list[Figure]:
    """The import alone and a whole print run in turn."""
    home = Home()
    floor: list[float] = []
    app: list[float] = []
    with MessagesServer() as server:
        more = {"ANTHROPIC_BASE_URL": server.base_url, "ANTHROPIC_API_KEY": "sk-ant-none"}
        for number in range(rounds + 1):
            alone = spent([sys.executable, "-c", "import anthropic"], home, more)
            whole = spent([sys.executable, "-m", "app", "-p", "hello"], home, more)
            if number:  # the first round fills the caches
                floor.append(alone)
                app.append(whole)
    home.close()
    over = median(app) - median(floor)
    detail = f"{median(app):.2f} s in all, import anthropic {median(floor):.2f} s"
    return [Figure("print mode: over the SDK's import", over, "s", 0.25, detail)]


if __name__ == "__main__":
    show(measure())
