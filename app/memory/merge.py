"""Two changes of one text brought together, line by line."""

from __future__ import annotations

from collections.abc import Iterable

from app.memory.pages import Merged
from app.memory.three_way import three_way

MINE, BETWEEN, THEIRS = "<<<<<<< mine", "=======", ">>>>>>> theirs"


def merge(base: str, mine: str, theirs: str) -> Merged:
    """What both sides made of `base`, line ends kept.

    Where both changed the same lines in different ways, both are in the text between marks.
    """
    newline = "\r\n" if "\r\n" in (mine or theirs) else "\n"
    lines: list[str] = []
    conflicts = 0
    for stretch in three_way(_lines(base), _lines(mine), _lines(theirs)):
        if stretch.lines is not None:
            lines += stretch.lines
            continue
        conflicts += 1
        lines.append(MINE + newline)
        lines += _ended(stretch.mine, newline)
        lines.append(BETWEEN + newline)
        lines += _ended(stretch.theirs, newline)
        lines.append(THEIRS + newline)
    return Merged("".join(lines), conflicts)


def _lines(text: str) -> list[str]:
    """The lines with their ends; only `\\n` ends one."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1].removesuffix("\n")
    return lines if lines[-1] else lines[:-1]


def _ended(lines: Iterable[str], newline: str) -> list[str]:
    """The lines, the last one ended too: a mark needs a line of its own."""
    return [line if line.endswith("\n") else line + newline for line in lines]
