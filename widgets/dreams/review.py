"""Which hunks of a dream that is held the person refuses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from widgets.dreams.diff import FileDiff

HunkId = tuple[str, int]
"""The document's name and the hunk's number."""


class Review(Struct, frozen=True):
    """Everything is accepted but what is refused."""

    refused: frozenset[HunkId] = frozenset()

    def toggled(self, name: str, hunk: int) -> Review:
        """Refuse a hunk, or accept it again."""
        return Review(self.refused ^ {(name, hunk)})

    def toggled_file(self, diff: FileDiff) -> Review:
        """Refuse all hunks of a document; accept all again where every one is refused."""
        own = {(diff.file.name, number) for number in range(len(diff.hunks))}
        return Review(self.refused - own if own <= self.refused else self.refused | own)

    def accepted(self, diffs: Sequence[FileDiff]) -> dict[str, list[int]]:
        """The numbers of the hunks that are accepted, by document."""
        return {diff.file.name: self._of(diff) for diff in diffs}

    def accepts_nothing(self, diffs: Sequence[FileDiff]) -> bool:
        """Whether nothing at all would be published.

        A document without a hunk, such as an empty one that is made, cannot be refused.
        """
        return not any(self._of(diff) or not diff.hunks for diff in diffs)

    def share(self, diff: FileDiff) -> Literal["all", "some", "none"]:
        """How much of a document is accepted."""
        count = len(self._of(diff))
        if count == len(diff.hunks):
            return "all"
        return "some" if count else "none"

    def _of(self, diff: FileDiff) -> list[int]:
        name = diff.file.name
        return [n for n in range(len(diff.hunks)) if (name, n) not in self.refused]
