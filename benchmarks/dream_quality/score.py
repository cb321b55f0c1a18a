"""How good a dream was: kept, said once, corrected, within the budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher

from app.memory.entry import fit
from app.memory.links import links
from app.storage.names import ENTRY
from benchmarks.dream_quality.shop import FACTS, NEW, OLD, STALE, TWICE

NEAR = 0.75
"""How equal a line must be to count as the fact."""


@dataclass(frozen=True)
class Score:
    """Shares from 0 to 1."""

    kept: float
    said_once: float
    corrected: float
    contradictions: float
    entry: float
    """1 where the entry is within its budget and leads to nothing that does not exist."""

    @property
    def whole(self) -> float:
        """The mean, with what was kept counted twice: a lost fact is the worst."""
        parts = (self.kept, self.kept, self.said_once, self.corrected, self.contradictions)
        return (sum(parts) + self.entry) / (len(parts) + 1)


def score(after: Mapping[str, str]) -> Score:
    """Judge the documents that a dream has left."""
    lines = [line.strip() for text in after.values() for line in text.split("\n") if line.strip()]
    found = {name: _count(lines, fact) for name, fact in FACTS.items()}
    whole = " ".join(lines)
    corrected = [s.wrong not in whole and s.right in whole for s in STALE]
    entry = after.get(ENTRY, "")
    dead = [target for _, target in links(entry) if target not in after]
    holds = _count(lines, NEW) >= 1 and not _says(lines, OLD)
    return Score(
        kept=sum(count > 0 for count in found.values()) / len(found),
        said_once=sum(found[name] == 1 for name in TWICE) / len(TWICE),
        corrected=sum(corrected) / len(corrected),
        contradictions=float(holds),
        entry=float(bool(entry) and not fit(entry).first_line_cut and not dead),
    )


def _says(lines: list[str], fact: str) -> bool:
    return any(fact in line for line in lines)


def _count(lines: list[str], fact: str) -> int:
    return sum(_near(line.lstrip("-* "), fact) for line in lines)


def _near(line: str, fact: str) -> bool:
    return fact in line or SequenceMatcher(None, line, fact).ratio() >= NEAR
