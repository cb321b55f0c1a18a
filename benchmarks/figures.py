"""What a benchmark found: a value beside its floor and its target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table."""

    name: str
    value: float
    unit: str
    target: float
    """The most that `value` may be."""
    detail: str = ""

    @property
    def holds(self) -> bool:
        """Whether the target is met."""
        return self.value <= self.target

    def row(self) -> str:
        """The line as Markdown."""
        mark = "yes" if self.holds else "**no**"
        value, target = _number(self.value), _number(self.target)
        cells = (self.name, f"{value} {self.unit}", f"≤ {target} {self.unit}", mark, self.detail)
        return f"| {' | '.join(cells)} |"


HEAD = "| figure | measured | target | met | detail |\n|---|---|---|---|---|"


def median(values: Sequence[float]) -> float:
    """The middle one."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def p95(values: Sequence[float]) -> float:
    """What 95 of 100 values do not exceed."""
    ordered = sorted(values)
    return ordered[max(math.ceil(len(ordered) * 0.95) - 1, 0)]


def show(figures: Sequence[Figure]) -> None:
    """Print the lines as a table."""
    print(HEAD)
    for figure in figures:
        print(figure.row(), flush=True)


def _number(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
