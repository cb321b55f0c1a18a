"""What it costs to see what a shell command changed, in a repository of 5 000 files."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from app.checkpoints.baseline import GRANULE
from app.checkpoints.blobs import BlobStore
from app.checkpoints.look import MOST_FILES
from app.checkpoints.watch import FolderWatch
from app.ripgrep import list_files
from benchmarks.figures import Figure, median, show

FILES = 5_000
FOLDERS = 250
MOST_LINES = 300


def write_project(root: Path, files: int) -> int:
    """So many source files of mixed sizes, in folders, under version control; their bytes."""
    chance, total = random.Random(7), 0
    (root / ".git").mkdir(parents=True)
    for number in range(files):
        folder = root / f"part{number % 10}" / f"module{number % FOLDERS}"
        folder.mkdir(parents=True, exist_ok=True)
        text = "".join(f"value = {chance.random()}\n" for _ in range(chance.randint(1, MOST_LINES)))
        (folder / f"file{number}.py").write_text(text)
        total += len(text)
    return total


def walk(root: Path) -> int:
    """The floor: every file's status, by a plain walk; how many there are."""
    count, waiting = 0, [str(root)]
    while waiting:
        with os.scandir(waiting.pop()) as found:
            for each in found:
                if each.is_dir(follow_symlinks=False):
                    waiting.append(each.path)
                else:
                    os.lstat(each.path)
                    count += 1
    return count


def milliseconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1_000


def measure(files: int = FILES, rounds: int = 30) -> list[Figure]:
    """Fill the baseline, then look before and after commands that change nothing, or one file."""
    folder = Path(tempfile.mkdtemp())
    root, data = folder / "project", folder / "data" / "projects" / "slug"
    total = write_project(root, files)
    listed = partial(list_files, most=MOST_FILES)
    # The files count as written long ago, as in a project that is not just being unpacked.
    watch = FolderWatch(
        root, data / "baseline", BlobStore(data / "s"), listed, lambda: time.time_ns() + GRANULE
    )
    copied = milliseconds(lambda: shutil.copytree(root, folder / "copy"))
    filled = milliseconds(watch.prepare)
    changed_file = root / "part0" / "changed.py"

    def look(number: int | None) -> None:
        assert watch.before() == ""
        if number is not None:
            changed_file.write_text(str(number))
        assert len(watch.after()) == (number is not None)

    floor: list[float] = []
    same: list[float] = []
    changed: list[float] = []
    for _ in range(rounds):
        floor.append(milliseconds(lambda: (walk(root), walk(root))))
        same.append(milliseconds(lambda: look(None)))
        changed.append(milliseconds(partial(look, len(changed))))
    shutil.rmtree(folder)
    size = f"{files} files, {total / 1e6:.0f} MB"
    walks, unchanged = median(floor), median(same)
    detail = f"{unchanged:.0f} ms; two plain walks {walks:.0f} ms"
    return [
        Figure("shell watch: nothing changed", unchanged, "ms", 50, f"before and after, {size}"),
        Figure("shell watch: over two walks", unchanged / walks, "× two walks", 1.6, detail),
        Figure("shell watch: one file changed", median(changed), "ms", 100, "before and after"),
        Figure("shell watch: first fill", filled / copied, "× copy", 4, f"{filled:.0f} ms, {size}"),
    ]


if __name__ == "__main__":
    show(measure())
