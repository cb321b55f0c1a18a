"""`python -m benchmarks.dream_quality [--model NAME]`: a real model dreams, and is scored.

Needs a key (ANTHROPIC_API_KEY) or a server (ANTHROPIC_BASE_URL). The folders are made for it and
removed afterwards; nothing of your own is read.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from app.paths import find_places
from benchmarks.dream_quality.score import score
from benchmarks.dream_quality.shop import memory, project


def main(words: list[str]) -> int:
    """Make the folders, dream, and print the score."""
    with tempfile.TemporaryDirectory(prefix="reverie-dream-") as name:
        root = Path(name)
        folder = root / "shop"
        folder.mkdir()
        project(folder)
        environment = {
            **os.environ,
            "REVERIE_DATA_DIR": str(root / "data"),
            "REVERIE_CONFIG_DIR": str(root / "config"),
        }
        held = find_places(environment).memory(folder)
        for document, text in memory().items():
            (held / document).parent.mkdir(parents=True, exist_ok=True)
            (held / document).write_text(text)
        print(f"before: {score(memory())}")
        command = [sys.executable, "-P", "-m", "app", "dream", "now", "--json", *words]
        environment["PYTHONPATH"] = str(Path(__file__).parents[2])
        done = subprocess.run(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
        )
        if not done.stdout:
            return done.returncode
        print(json.dumps(json.loads(done.stdout), indent=2))
        after = {str(f.relative_to(held)): f.read_text() for f in held.rglob("*.md")}
        print(f"after: {score(after)}, whole {score(after).whole:.2f}")
        return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
