"""Paragraphs that say nearly the same, found without comparing each with each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, TypeAlias

from msgspec import Struct

from app.memory.markdown import front_matter
from app.plain_text import cut, plain_line
from app.storage.reading import BOM

LEAST_WORDS: Final = 8
"""Of a paragraph that is compared; shorter ones resemble each other by chance."""
NEAR: Final = 0.7
"""The similarity from which two paragraphs count as nearly equal: in one of 20 words three
single words may differ, in one of 8 words one."""
_SHOWN: Final = 200
"""Characters of a paragraph that are shown."""
_OTHERS: Final = 7
"""Paragraphs beside the first that are remembered for a pair of words: common pairs tell little."""
_CANDIDATES: Final = 3
_IDEOGRAPHS: Final = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD: Final = re.compile(rf"[^\W{_IDEOGRAPHS}]+|[{_IDEOGRAPHS}]")
"""A word; in scripts without blanks a character."""
_BEGINS: Final = re.compile(r"\s*(?:[-*+]\s|\d{1,9}[.)]\s|#{1,6}\s|\||```|~~~)")
"""What begins a paragraph of its own: a list item, a heading, a row, a fence."""

Pairs: TypeAlias = frozenset[int]
"""Hashes of pairs: a hundred thousand tuples would keep the garbage collector busy."""


class Paragraph(Struct, frozen=True):
    """A paragraph or list item, and the pairs of neighbouring words in it, without case."""

    line: int
    """Where it begins, counted from 1."""
    text: str
    """Its beginning on one line, without control characters."""
    words: tuple[str, ...]
    pairs: Pairs


def paragraphs(text: str) -> Iterator[Paragraph]:
    """The paragraphs of at least `LEAST_WORDS` words; front matter is none."""
    text = text.removeprefix(BOM)
    _, taken = front_matter(text)
    block: list[str] = []
    begin = 0
    for number, line in enumerate([*text.split("\n"), ""], 1):
        is_blank = number <= taken or not line.strip()
        if block and (is_blank or _BEGINS.match(line)):
            yield from _paragraph(begin, "\n".join(block))
            block = []
        if not is_blank:
            begin = begin if block else number
            block.append(line)


def _paragraph(line: int, text: str) -> Iterator[Paragraph]:
    words = tuple(_WORD.findall(text.casefold()))
    if len(words) >= LEAST_WORDS:
        shown = cut(" ".join(plain_line(text[: 2 * _SHOWN]).split()), _SHOWN)
        yield Paragraph(line, shown, words, frozenset(map(hash, pairwise(words))))


def similarity(one: Pairs, other: Pairs) -> float:
    """The share of pairs of words that two paragraphs have in common, 0 to 1 (Dice)."""
    return 2 * len(one & other) / ((len(one) + len(other)) or 1)


class Known:
    """Paragraphs by their pairs of words, each with a number."""

    def __init__(self) -> None:
        self._pairs: list[Pairs] = []
        self._equal: dict[int, int] = {}
        self._first: dict[int, int] = {}
        self._others: dict[int, list[int]] = {}

    def add(self, paragraph: Paragraph) -> int:
        """Remember a paragraph; returns its number, counted from 0."""
        number = len(self._pairs)
        self._pairs.append(paragraph.pairs)
        self._equal.setdefault(hash(paragraph.words), number)
        for pair in paragraph.pairs:
            if self._first.setdefault(pair, number) != number:
                others = self._others.setdefault(pair, [])
                if len(others) < _OTHERS:
                    others.append(number)
        return number

    def nearest(self, paragraph: Paragraph) -> tuple[int, float] | None:
        """The number of the remembered paragraph most like this one, if any is near, and how near.

        Only such as share a pair of words that is not too common are compared.
        """
        equal = self._equal.get(hash(paragraph.words))
        if equal is not None:
            return equal, 1.0
        shared = [pair for pair in paragraph.pairs if pair in self._first]
        counts = Counter(self._first[pair] for pair in shared)
        for pair in shared:
            counts.update(self._others.get(pair, ()))
        best: tuple[int, float] | None = None
        for number in sorted(counts, key=lambda each: (-counts[each], each))[:_CANDIDATES]:
            alike = similarity(paragraph.pairs, self._pairs[number])
            if alike >= NEAR and (best is None or alike > best[1]):
                best = number, alike
        return best
