"""A dream whose process is killed at its n-th step.

`python -m tests.fakes.dying_dream FOLDER N`: dreams in FOLDER and kills itself with SIGKILL at the
N-th event that the interpreter audits (a file opened, renamed, linked, removed, …); with N 0 it
lives, and prints how many there were.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from app.agent.caller import Caller
from app.background.dream.dreamer import Dreamer
from app.background.dream.place import Place
from app.background_settings import DreamSettings
from app.clock import SystemClock
from app.memory.documents import Documents
from app.models.provider import Usage
from app.storage.documents import Author
from app.storage.local_documents import LocalDocuments
from tests.fakes.provider import ScriptedProvider, calls, reply

BEFORE = {
    "MEMORY.md": "# Shop\n- [A](a.md)\n- [B](b.md)\n- [A](a.md)\n",
    "a.md": "# A\nkept\nsaid twice\nsaid twice\n",
    "b.md": "# B\nwholly in A by now\n",
    "sub/c.md": "# C\nold\n",
}
AFTER = {
    "MEMORY.md": "# Shop\n- [A](a.md)\n",
    "a.md": "# A\nkept\nsaid twice\nand what B said, and some more\n",
    "sub/c.md": "# C\nnew\n",
    "sub/d.md": "# D\nmade\n",
}
STEPS = frozenset(
    {"open", "os.rename", "os.remove", "os.link", "os.mkdir", "os.rmdir", "os.utime", "os.chmod"}
    | {"os.truncate", "os.listdir", "os.scandir", "shutil.rmtree", "fcntl.flock"}
)


class Quiet:
    def say(self, line: str) -> None:
        pass

    def enter(self, phase: str) -> None:
        pass

    def touched(self, file: str) -> None:
        pass


def free(model: str, usage: Usage, began: Any, purpose: str = "turn") -> float | None:
    return 0.0


def place_in(folder: Path) -> Place:
    project = folder / "project"
    project.mkdir(exist_ok=True)
    return Place(project, folder / "sessions", folder / "memory", folder / "history" / "dreams")


def documents_in(folder: Path) -> Documents:
    return Documents(LocalDocuments(folder / "memory", folder / "history", SystemClock()))


def prepare(folder: Path) -> None:
    documents = documents_in(folder)
    for name, text in BEFORE.items():
        documents.update(name, lambda _text, text=text: text, Author("you"))
    documents.store.close()


def texts(folder: Path) -> dict[str, str]:
    root = folder / "memory"
    return {str(path.relative_to(root)): path.read_text() for path in root.rglob("*.md")}


def dreamer_in(folder: Path) -> Dreamer:
    place = place_in(folder)
    uses: list[tuple[str, dict[str, Any], str]] = []
    for name in BEFORE:
        uses.append(("Read", {"file_path": str(place.stage / name)}, f"r{len(uses)}"))
    for name, text in AFTER.items():
        path = str(place.stage / name)
        uses.append(("Write", {"file_path": path, "content": text}, f"w{len(uses)}"))
    uses.append(("Delete", {"file_path": str(place.stage / "b.md")}, "d"))
    provider = ScriptedProvider(calls(*uses), reply("Done."))
    caller = Caller(provider, "claude-haiku-5-5", 1_000, (), ())

    return Dreamer(
        place, documents_in(folder), SystemClock(), DreamSettings(), caller, free, Quiet()
    )


def main(folder: Path, fatal: int) -> None:
    dreamer = dreamer_in(folder)
    count = 0

    def step(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count
        if event in STEPS and str(folder) in str(arguments) + str(Path.cwd()):
            count += 1
            if count == fatal:
                os.kill(os.getpid(), signal.SIGKILL)

    os.chdir(folder)
    sys.addaudithook(step)
    asyncio.run(dreamer.dream(["s1"]))
    print(count, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
