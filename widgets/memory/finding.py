"""Find and replace in the lines of a text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import TypeAlias

Place: TypeAlias = tuple[int, int]
"""Row and column, from 0."""


def pattern_of(words: str) -> re.Pattern[str]:
    """The words as they stand; their case counts where they have a capital."""
    return re.compile(re.escape(words), 0 if words != words.lower() else re.IGNORECASE)


def find_all(lines: Sequence[str], words: str) -> list[tuple[Place, Place]]:
    """Where the words begin and end, in order."""
    if not words:
        return []
    find = pattern_of(words).finditer
    return [
        ((row, match.start()), (row, match.end()))
        for row, line in enumerate(lines)
        for match in find(line)
    ]


def next_hit(hits: Sequence[tuple[Place, Place]], place: Place, step: int) -> int:
    """The number of the next hit from a place on, or of the one before it; round the end.

    `ValueError` where there is none.
    """
    if not hits:
        raise ValueError("nothing was found")
    at = bisect_left(hits, place, key=lambda hit: hit[0])
    return (at if step > 0 else at - 1) % len(hits)


def replaced(lines: Sequence[str], words: str, new: str) -> str:
    """The lines with all hits replaced, joined again."""
    pattern = pattern_of(words)
    return "\n".join(pattern.sub(lambda _: new, line) for line in lines)
