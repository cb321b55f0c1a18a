"""Which block stands on which line, while the heights of most blocks are still guesses."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate


class LineMap:
    """Heights of blocks in order, and the lines at which they start."""

    def __init__(self) -> None:
        self._heights: list[int] = []
        self._exact: list[bool] = []
        self._starts: list[int] = [0]
        self._valid = 0

    def __len__(self) -> int:
        return len(self._heights)

    def resize(self, count: int) -> None:
        """Have this many blocks; new ones are one line high and guessed."""
        have = len(self._heights)
        if count < have:
            del self._heights[count:]
            del self._exact[count:]
            self._valid = min(self._valid, count)
        else:
            self._heights += [1] * (count - have)
            self._exact += [False] * (count - have)

    def insert_front(self, count: int) -> None:
        """Have this many more blocks before all others, one line high and guessed."""
        self._heights[:0] = [1] * count
        self._exact[:0] = [False] * count
        self._valid = 0

    def set(self, index: int, height: int, *, exact: bool) -> None:
        """Give a block its height in lines."""
        self._exact[index] = exact
        if self._heights[index] != height:
            self._heights[index] = height
            self._valid = min(self._valid, index)

    def is_exact(self, index: int) -> bool:
        """Whether the block's height is known and not guessed."""
        return self._exact[index]

    def height(self, index: int) -> int:
        """Lines of a block."""
        return self._heights[index]

    def start(self, index: int) -> int:
        """The line at which a block begins; at `len(self)` the number of all lines."""
        self._update()
        return self._starts[index]

    @property
    def total(self) -> int:
        """All lines."""
        return self.start(len(self._heights))

    def locate(self, line: int) -> int:
        """The block on a line, the last one below the end, -1 where there are none."""
        if not self._heights:
            return -1
        self._update()
        found = bisect_right(self._starts, max(line, 0), 0, len(self._heights)) - 1
        return max(min(found, len(self._heights) - 1), 0)

    def _update(self) -> None:
        count = len(self._heights)
        if self._valid >= count and len(self._starts) == count + 1:
            return
        first = self._valid
        del self._starts[first + 1 :]
        tail = accumulate(self._heights[first:], initial=self._starts[first])
        next(tail)
        self._starts += tail
        self._valid = count
