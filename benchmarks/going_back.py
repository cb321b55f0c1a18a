"""What keeping a file's bytes adds to an edit, and how long a rewind of 1 000 files takes."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

from app.agent.tools.atomic_write import write_atomic
from benchmarks.figures import Figure, median, p95, show
from tests.fakes.going_back import GoingBack

EDITS = 200
FILES = 1_000
SOURCE = b"".join(b"value_%d = compute(%d)\n" % (n, n * 7) for n in range(600))
"""A source file of 17 kB."""


def milliseconds(began: float) -> float:
    """Since `began`, in milliseconds."""
    return (time.perf_counter() - began) * 1_000


def measure() -> list[Figure]:
    """Edits of one file beside the bare atomic write; then many files back and forth."""
    folder = Path(tempfile.mkdtemp())
    (folder / "project").mkdir()
    session = GoingBack(folder / "project", folder / "data")
    target = session.root / "edited.py"
    target.write_bytes(SOURCE)
    session.prompt()
    bare: list[float] = []
    kept: list[float] = []
    for number in range(EDITS):
        new = SOURCE + b"# %d\n" % number
        old = target.read_bytes()
        began = time.perf_counter()
        session.run(session.tracker.keep(target, new, what="Edit", old=old))
        kept.append(milliseconds(began))
        began = time.perf_counter()
        write_atomic(target, new)
        bare.append(milliseconds(began))

    first = session.prompt()
    for number in range(FILES):
        name = session.root / f"part{number % 20}" / f"file{number}.py"
        name.parent.mkdir(exist_ok=True)
        session.write(str(name.relative_to(session.root)), SOURCE)
    second = session.prompt()
    for number in range(FILES):
        session.write(f"part{number % 20}/file{number}.py", SOURCE + b"# changed\n")
    began = time.perf_counter()
    session.files(second)
    restored = milliseconds(began)
    began = time.perf_counter()
    session.undo()
    undone = milliseconds(began)
    began = time.perf_counter()
    session.files(first)
    removed = milliseconds(began)
    copied = _copied(session.root, folder / "copy")
    session.close()
    shutil.rmtree(folder)
    floor = f"write alone {median(bare):.2f} ms; median {median(kept):.2f} ms"
    return [
        Figure("a checkpoint adds to an edit (p95)", p95(kept), "ms", 5, floor),
        Figure(
            "a rewind of 1 000 files",
            restored / 1_000,
            "s",
            2,
            f"its undo {undone / 1_000:.2f} s, removing them {removed / 1_000:.2f} s, "
            f"a bare copy of them {copied / 1_000:.2f} s",
        ),
    ]


def _copied(root: Path, target: Path) -> float:
    for number in range(FILES):
        file = root / f"part{number % 20}" / f"file{number}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(SOURCE)
    began = time.perf_counter()
    shutil.copytree(root, target)
    return milliseconds(began)


if __name__ == "__main__":
    show(measure())
