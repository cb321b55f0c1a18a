"""The memory of a project with 5 000 documents: its index, what is loaded, and what is wrong."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from app.clock import SystemClock
from app.memory.entry import Entry, fit, gauge, load_entry
from app.memory.health import check, near
from app.memory.index import Index
from app.memory.instructions import Instructions, load_instructions, signature
from app.storage.documents import DocumentStore
from app.storage.local_documents import LocalDocuments
from benchmarks.figures import Figure, median, show

FOLDERS = 20
DOCUMENTS = 4_975
"""With the entry and the folders just under the 5 000 entries that are looked at."""
WORDS = 3_000
LONG_AGO = 1_700_000_000
"""So that what the disk holds counts as settled."""


def write_memory(folder: Path, documents: int) -> int:
    """So many small documents in folders, an entry that names some; their bytes."""
    chance, total = random.Random(7), 0
    words = [f"{'abcdefghij'[n % 10]}word{n}" for n in range(WORDS)]
    names = [f"part{number % FOLDERS}/note{number}.md" for number in range(documents)]
    texts = {"MEMORY.md": "".join(f"- [{n}]({name})\n" for n, name in enumerate(names[:180]))}
    for number, name in enumerate(names):
        body = "\n\n".join(" ".join(chance.choices(words, k=20)) for _ in range(3))
        head = f"---\nname: Note {number}\ndescription: about {number}\ntype: project\n---\n"
        texts[name] = f"{head}\n{body}\n"
    for number, (name, text) in enumerate(texts.items()):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        os.utime(file, (LONG_AGO + number, LONG_AGO + number))
        total += len(text)
    for place, _, _ in os.walk(folder):
        os.utime(place, (LONG_AGO, LONG_AGO))
    return total


def walk(folder: Path) -> int:
    """The floor: a plain walk that looks at no file; how many entries there are."""
    count, waiting = 0, [str(folder)]
    while waiting:
        with os.scandir(waiting.pop()) as found:
            for each in found:
                count += 1
                if each.is_dir(follow_symlinks=False):
                    waiting.append(each.path)
    return count


def milliseconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1_000


def store_of(folder: Path) -> DocumentStore:
    """The documents of a folder, nothing of them known yet."""
    return LocalDocuments(folder, folder.with_name("history"), SystemClock())


def index_figures(folder: Path, size: str, rounds: int) -> list[Figure]:
    """Entry and index of a store that is new, and again when nothing has changed."""
    cold: list[float] = []
    same: list[float] = []
    floor: list[float] = []
    for _ in range(rounds):
        store = store_of(folder)
        index = Index(store)
        floor.append(milliseconds(lambda: walk(folder)))
        cold.append(milliseconds(lambda i=index, s=store: (load_entry(s), i.contents())))
        same += [
            milliseconds(lambda i=index, s=store: (load_entry(s), i.contents())) for _ in range(6)
        ]
        assert len(index.contents().items) == 200
    first, again, walked = median(cold), median(same), median(floor)
    return [
        Figure("memory: entry and index, cold", first, "ms", 150, size),
        Figure("memory: cold, over a walk", first / walked, "× walk", 40, f"{walked:.1f} ms"),
        Figure("memory: nothing changed", again, "ms", 10, f"longest {max(same):.1f} ms"),
        Figure(
            "memory: nothing changed, over a walk", again / walked, "× walk", 4, f"{walked:.1f} ms"
        ),
    ]


def health_figures(folder: Path, size: str, rounds: int) -> list[Figure]:
    """The check of all documents, and the question whether something is said already."""
    store = store_of(folder)
    index = Index(store).contents()
    said = "\n\n".join(f"aword{n} bword{n} " * 8 for n in range(5))
    checks = [
        milliseconds(lambda: check(store, index, Entry(), Instructions())) for _ in range(rounds)
    ]
    nears = [milliseconds(lambda: near(said, store, index)) for _ in range(rounds)]
    return [
        Figure("memory: health", median(checks), "ms", 1_000, size),
        Figure("memory: is it said already?", median(nears), "ms", 1_000, size),
    ]


def instruction_figures(folder: Path, rounds: int) -> list[Figure]:
    """A hundred instruction files: all of them, and the question whether one has changed."""
    root = folder / "a" / "b" / "c" / "d"
    rules = root / ".claude" / "rules"
    rules.mkdir(parents=True)
    for number in range(60):
        (rules / f"{number}.md").write_text(f"See @more/{number}.txt and @none/{number}.txt\n")
        (rules / "more").mkdir(exist_ok=True)
        (rules / "more" / f"{number}.txt").write_text("words\n" * 20)
    home = folder / "home"
    found = load_instructions(root, root, home, home / "config", lambda _: "")
    assert len(found.sources) == 100
    loads = [
        milliseconds(lambda: load_instructions(root, root, home, home / "config", lambda _: ""))
        for _ in range(rounds)
    ]
    looks = [milliseconds(lambda: signature(found.watched)) for _ in range(rounds * 5)]
    detail = f"100 files, {len(found.watched)} paths"
    return [
        Figure("memory: instructions, loaded", median(loads), "ms", 50, detail),
        Figure("memory: instructions, unchanged", median(looks), "ms", 3, detail),
    ]


def measure(documents: int = DOCUMENTS, rounds: int = 7) -> list[Figure]:
    """Write a memory and read it in every way; the first reading fills the page cache."""
    top = Path(tempfile.mkdtemp())
    folder = top / "memory"
    total = write_memory(folder, documents)
    Index(store_of(folder)).contents()
    check(store_of(folder), Index(store_of(folder)).contents(), Entry(), Instructions())
    size = f"{documents} documents, {total / 1e6:.1f} MB, page cache warm"
    figures = index_figures(folder, size, rounds)
    figures += health_figures(folder, size, rounds)
    figures += instruction_figures(top, rounds)
    shutil.rmtree(top)
    text = "a line of é and 🙂\n" * 55_000
    gauged = median([milliseconds(lambda: gauge(text)) for _ in range(rounds)])
    fitted = median([milliseconds(lambda: fit(text)) for _ in range(rounds)])
    detail = f"{len(text) / 1e6:.1f} million characters; cut to the budget in {fitted:.1f} ms"
    return [*figures, Figure("memory: gauge while typing", gauged, "ms", 10, detail)]


if __name__ == "__main__":
    show(measure())
