"""What `/` and `@` offer: which word is being completed, and the best matches for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

MOST_OFFERS = 8

_PATH_WORD = re.compile(r"(?:^|\s)@([^\s@]*)$")


@dataclass(frozen=True, slots=True)
class Wanted:
    """The unfinished word in front of the cursor."""

    kind: Literal["command", "path"]
    word: str
    """Without its mark."""
    start: int
    """The column of the mark."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One line of the list."""

    text: str
    description: str = ""


def wanted_at(text: str, column: int, *, first_line: bool) -> Wanted | None:
    """What the text in front of the cursor asks for: `/word` at the very start, or `@word`."""
    head = text[:column]
    if first_line and re.fullmatch(r"/[\w-]*", head):
        return Wanted("command", head[1:], 0)
    match = _PATH_WORD.search(head)
    return Wanted("path", match[1], match.start(1) - 1) if match else None


def best_paths(query: str, paths: Sequence[str]) -> list[Offer]:
    """The paths that hold the query's letters in order, the closest first."""
    found = ((rank, path) for path in paths if (rank := _rank(query.casefold(), path)) is not None)
    return [Offer(path) for _, path in sorted(found)[:MOST_OFFERS]]


def best_commands(query: str, commands: Iterable[tuple[str, str]]) -> list[Offer]:
    """Commands that begin with the query, then those that hold it; `(name, description)`."""
    known = list(commands)
    first = [Offer(name, text) for name, text in known if name.startswith(query)]
    rest = [Offer(n, t) for n, t in known if query in n and not n.startswith(query)]
    return (first + rest)[:MOST_OFFERS]


def _rank(query: str, path: str) -> tuple[int, int] | None:
    """Smaller is closer: the name begins with it, holds it, the path holds it, its letters."""
    folded = path.casefold()
    name = folded.rstrip("/").rpartition("/")[2]
    if name.startswith(query):
        return 0, len(path)
    if query in name:
        return 1, len(path)
    if query in folded:
        return 2, len(path)
    position = -1
    for letter in query:
        position = folded.find(letter, position + 1)
        if position < 0:
            return None
    return 3, len(path)
