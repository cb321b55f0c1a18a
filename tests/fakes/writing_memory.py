"""Many processes that write one document at the same time, some of them killed in the middle.

`python -m tests.fakes.writing_memory FOLDER PROCESSES WRITES [SECONDS]`: each process adds WRITES
lines (or goes on for SECONDS), and tells what was acknowledged; every third is killed after its
first. Prints the acknowledged lines.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from app.clock import SystemClock
from app.memory.documents import Documents
from app.storage.documents import Author
from app.storage.local_documents import LocalDocuments

END = "xxxx"
"""How each line ends; short, so that 30 s of writes fit into a document."""


def documents_in(folder: Path) -> Documents:
    return Documents(LocalDocuments(folder / "memory", folder / "history", SystemClock()))


def write(folder: Path, who: int, writes: int, seconds: float, told: int) -> None:
    documents = documents_in(folder)
    until = time.monotonic() + seconds
    number = 0
    while number < writes or time.monotonic() < until:
        line = f"{who}-{number} {END}\n"
        documents.update(
            "MEMORY.md", lambda text, line=line: (text or "") + line, Author("assistant")
        )
        os.write(told, line.encode())
        number += 1


def main(folder: Path, processes: int, writes: int, seconds: float) -> None:
    heard, told = os.pipe()
    children: list[int] = []
    for who in range(processes):
        child = os.fork()
        if child == 0:
            os.close(heard)
            write(folder, who, writes, seconds, told)
            os._exit(0)
        children.append(child)
    os.close(told)
    acknowledged: list[str] = []
    doomed = {who: children[who] for who in range(0, processes, 3)}
    with os.fdopen(heard) as lines:
        for line in lines:
            acknowledged.append(line)
            who = int(line.split("-")[0])
            if who in doomed:
                os.kill(doomed.pop(who), signal.SIGKILL)
    for child in children:
        os.waitpid(child, 0)
    sys.stdout.write("".join(acknowledged))


if __name__ == "__main__":
    folder, processes, writes, *seconds = sys.argv[1:]
    main(Path(folder), int(processes), int(writes), float(seconds[0]) if seconds else 0.0)
