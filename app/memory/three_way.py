"""Two changes of one text compared line by line: what only one side changed, and what both did.

Where both sides have the same lines as the base, they are in step; what lies between two such
stretches was changed by one side, by both alike, or by both in different ways.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Generic, TypeVar

from msgspec import Struct

Line = TypeVar("Line", bound=Hashable)


class Stretch(Struct, Generic[Line], frozen=True):
    """A part of the merge: `lines` where it is settled, else what each side has there."""

    lines: Sequence[Line] | None
    base: Sequence[Line] = ()
    mine: Sequence[Line] = ()
    theirs: Sequence[Line] = ()

    @property
    def is_conflict(self) -> bool:
        """Whether both sides changed these lines, each in its own way."""
        return self.lines is None


def three_way(
    base: Sequence[Line], mine: Sequence[Line], theirs: Sequence[Line]
) -> Iterator[Stretch[Line]]:
    """The merge in order, as stretches that together cover all three texts."""
    z = a = b = 0
    for start, in_mine, in_theirs, length in _in_step(base, mine, theirs):
        yield from _between(base[z:start], mine[a:in_mine], theirs[b:in_theirs])
        if length:
            yield Stretch(base[start : start + length])
        z, a, b = start + length, in_mine + length, in_theirs + length


def _between(
    base: Sequence[Line], mine: Sequence[Line], theirs: Sequence[Line]
) -> Iterator[Stretch[Line]]:
    if mine == theirs or theirs == base:
        settled: Sequence[Line] | None = mine
    else:
        settled = theirs if mine == base else None
    if settled is None:
        yield Stretch(None, base, mine, theirs)
    elif settled:
        yield Stretch(settled)


def _in_step(
    base: Sequence[Line], mine: Sequence[Line], theirs: Sequence[Line]
) -> Iterator[tuple[int, int, int, int]]:
    """Runs of lines that all three have: where they begin in each, and their length.

    The last one is the end of all three, with length 0.
    """
    first, second = _matches(base, mine), _matches(base, theirs)
    i = j = 0
    while i < len(first) and j < len(second):
        one, other = first[i], second[j]
        start = max(one[0], other[0])
        end = min(one[0] + one[2], other[0] + other[2])
        if start < end:
            yield start, one[1] + start - one[0], other[1] + start - other[0], end - start
        if one[0] + one[2] < other[0] + other[2]:
            i += 1
        else:
            j += 1
    yield len(base), len(mine), len(theirs), 0


def _matches(base: Sequence[Line], side: Sequence[Line]) -> list[tuple[int, int, int]]:
    """Equal runs in order as (place in base, place in side, length); the ends are cut off first,
    since comparing the rest takes longer than its length."""
    most = min(len(base), len(side))
    head = 0
    while head < most and base[head] == side[head]:
        head += 1
    tail = 0
    while tail < most - head and base[-1 - tail] == side[-1 - tail]:
        tail += 1
    inner = SequenceMatcher(
        None, base[head : len(base) - tail], side[head : len(side) - tail]
    )  # lines that stand everywhere (blank ones) are no landmarks: with them it takes minutes
    found = [(0, 0, head)] if head else []
    found += [(m.a + head, m.b + head, m.size) for m in inner.get_matching_blocks() if m.size]
    if tail:
        found.append((len(base) - tail, len(side) - tail, tail))
    return found
