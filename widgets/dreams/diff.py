"""What a dream has changed in each document, hunk by hunk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from app.background.dream.publish import hunks_of
from app.background.dream.record import Dream, DreamFile
from app.plain_text import plain

AROUND: Final = 2
"""Lines on either side of a hunk that are shown with it."""
NumberedLine = tuple[int, str]
"""Its number, counted from 1, and its text, fit for a terminal."""


class Hunk(Struct, frozen=True):
    """A stretch of a document that is changed, and the lines around it."""

    above: tuple[NumberedLine, ...]
    old: tuple[NumberedLine, ...]
    new: tuple[NumberedLine, ...]
    below: tuple[NumberedLine, ...]
    """Numbered, as `above`, by the text after the change."""


class FileDiff(Struct, frozen=True):
    """One document and its hunks, as `hunks_of` numbers them."""

    file: DreamFile
    hunks: tuple[Hunk, ...]

    @property
    def added(self) -> int:
        """Lines that the dream adds."""
        return sum(len(hunk.new) for hunk in self.hunks)

    @property
    def removed(self) -> int:
        """Lines that the dream removes."""
        return sum(len(hunk.old) for hunk in self.hunks)


def diffs_of(dream: Dream) -> list[FileDiff]:
    """The documents of a dream in its order. It may take a while for long ones."""
    return [FileDiff(file, _hunks(file)) for file in dream.files]


def _hunks(file: DreamFile) -> tuple[Hunk, ...]:
    found = hunks_of(file)
    lines = (file.before or "").splitlines(keepends=True)
    made: list[Hunk] = []
    shift, free = 0, 0
    for position, (old, new, start) in enumerate(found):
        begin, end = start - 1, start - 1 + len(old)
        following = found[position + 1][2] - 1 if position + 1 < len(found) else len(lines)
        first = max(begin - AROUND, free)
        free = min(end + AROUND, following)
        above = _numbered(lines[first:begin], first + 1 + shift)
        after = shift + len(new) - len(old)
        below = _numbered(lines[end:free], end + 1 + after)
        made.append(Hunk(above, _numbered(old, start), _numbered(new, start + shift), below))
        shift = after
    return tuple(made)


def _numbered(lines: Sequence[str], first: int) -> tuple[NumberedLine, ...]:
    return tuple((number, line_in_words(line)) for number, line in enumerate(lines, first))


def line_in_words(line: str) -> str:
    """A line with its end, which is shown where it is not a plain newline."""
    body = line.removesuffix("\n")
    shown = plain(body.replace("\r", "\u240d"))
    is_whole = len(body) < len(line) or line.splitlines(keepends=False) != [line]
    return shown if is_whole else f"{shown} (no line end)"


def file_in_words(diff: FileDiff) -> str:
    """`new`, `deleted` or how many lines: `+3 −1`."""
    if diff.file.before is None:
        return f"new +{diff.added}"
    if diff.file.after is None:
        return f"deleted −{diff.removed}"
    return f"+{diff.added} −{diff.removed}"


def diff_text(diffs: Sequence[FileDiff]) -> str:
    """The whole as text, to be copied."""
    lines: list[str] = []
    for diff in diffs:
        lines += [f"{plain(diff.file.name)}  {file_in_words(diff)}  {diff.file.state}"]
        lines += [f"seen in: {plain(words)}" for words in diff.file.evidence]
        for hunk in diff.hunks:
            lines.append(f"@@ line {first_line(hunk)} @@")
            lines += [f"  {text}" for _, text in hunk.above]
            lines += [f"− {text}" for _, text in hunk.old]
            lines += [f"+ {text}" for _, text in hunk.new]
            lines += [f"  {text}" for _, text in hunk.below]
        lines.append("")
    return "\n".join(lines).strip("\n")


def first_line(hunk: Hunk) -> int:
    """Where it begins: in the text before it, or after it where it only adds."""
    return (hunk.old or hunk.new)[0][0]
