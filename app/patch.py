"""The difference of two texts as the hunks that a transcript keeps (transcripts.md, a5)."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

CONTEXT_LINES = 3
_MOST_COMPARED = 1_000_000
"""Pairs of lines; beyond it the changed region is one hunk, since matching is quadratic."""


def structured_patch(old: str, new: str) -> list[dict[str, Any]]:
    """Hunks `{oldStart, oldLines, newStart, newLines, lines}`, lines counted from 1."""
    before, after = _lines(old), _lines(new)
    start, before_end, after_end = _changed_region(before, after)
    if start == before_end and start == after_end:
        return []
    first = max(0, start - CONTEXT_LINES)
    left = before[first : before_end + CONTEXT_LINES]
    right = after[first : after_end + CONTEXT_LINES]
    tail = len(left) - (before_end - first)
    groups = _groups(left, right, start - first, tail)
    return [_hunk(group, left, right, first) for group in groups]


def _lines(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _changed_region(before: Sequence[str], after: Sequence[str]) -> tuple[int, int, int]:
    shorter = min(len(before), len(after))
    start = 0
    while start < shorter and before[start] == after[start]:
        start += 1
    tail = 0
    while tail < shorter - start and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return start, len(before) - tail, len(after) - tail


def _groups(
    left: Sequence[str], right: Sequence[str], lead: int, tail: int
) -> list[list[tuple[str, int, int, int, int]]]:
    if len(left) * len(right) <= _MOST_COMPARED:
        matcher = SequenceMatcher(None, left, right, autojunk=False)
        return [list(group) for group in matcher.get_grouped_opcodes(CONTEXT_LINES)]
    left_end, right_end = len(left) - tail, len(right) - tail
    whole = [
        ("equal", 0, lead, 0, lead),
        ("replace", lead, left_end, lead, right_end),
        ("equal", left_end, len(left), right_end, len(right)),
    ]
    return [whole]


def _hunk(
    group: Sequence[tuple[str, int, int, int, int]],
    left: Sequence[str],
    right: Sequence[str],
    offset: int,
) -> dict[str, Any]:
    lines: list[str] = []
    for kind, old_start, old_end, new_start, new_end in group:
        if kind == "equal":
            lines += [f" {line}" for line in left[old_start:old_end]]
            continue
        lines += [f"-{line}" for line in left[old_start:old_end]]
        lines += [f"+{line}" for line in right[new_start:new_end]]
    _, old_start, _, new_start, _ = group[0]
    _, _, old_end, _, new_end = group[-1]
    return {
        "oldStart": offset + old_start + (1 if old_end > old_start else 0),
        "oldLines": old_end - old_start,
        "newStart": offset + new_start + (1 if new_end > new_start else 0),
        "newLines": new_end - new_start,
        "lines": lines,
    }
