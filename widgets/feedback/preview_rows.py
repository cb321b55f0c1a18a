"""What would leave, as rows: read out of the very bytes, as text or as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, cast

import msgspec
from rich.cells import cell_len

from app.plain_text import laid_bare
from widgets.cells import Cell
from widgets.conversation.wrap import wrap

Row = list[Cell]
MOST_ROWS: Final = 200_000
"""More than a report of the largest size has at a width of 40 cells."""
_HARD: Final = "\u00a0"
_MARK: Final = re.compile(r"\[redacted: [a-z0-9 -]{1,40}\]")
_HARD_MARK: Final = re.compile(_MARK.pattern.replace(" ", _HARD))
_INDENT: Final = 2


def text_rows(data: bytes, width: int) -> list[Row]:
    """The JSON in `data` for people: names, and below each its text in lines."""
    return list(_value_rows(msgspec.json.decode(data), width, 0))


def raw_rows(data: bytes, width: int) -> list[Row]:
    """The bytes as they are, cut at the width alone; control characters are shown, none is sent."""
    text, width = _shown(data.decode("utf-8", "replace")), max(width, 2)
    return list(_told_apart(text, list(_pieces(text, width))))


def _pieces(text: str, width: int) -> Iterator[str]:
    """The text cut into pieces of at most so many cells, with every character of it."""
    start = used = 0
    for at, character in enumerate(text):
        size = cell_len(character)
        if used + size > width:
            yield text[start:at]
            start, used = at, 0
        used += size
    if start < len(text):
        yield text[start:]


def _told_apart(text: str, lines: list[str]) -> Iterator[Row]:
    """The lines that a text was cut into; what was struck out is marked across their ends too."""
    edges = [edge for mark in _MARK.finditer(text) for edge in mark.span()]
    start = passed = 0
    for line in lines:
        row: Row = []
        stop = start + len(line)
        while start < stop:
            while passed < len(edges) and edges[passed] <= start:
                passed += 1
            end = min(edges[passed], stop) if passed < len(edges) else stop
            row.append((text[start:end], "removed" if passed % 2 else "text"))
            start = end
        yield row


def _value_rows(value: object, width: int, depth: int) -> Iterator[Row]:
    pad = " " * min(_INDENT * depth, width // 2)
    if isinstance(value, dict):
        for name, each in cast("dict[str, object]", value).items():
            if isinstance(each, dict | list) and each:
                yield from _padded(_lines(name, width - len(pad)), pad, "accent")
                yield from _value_rows(each, width, depth + 1)
            else:
                yield from _named(name, _said(each), pad, width)
    elif isinstance(value, list):
        for number, each in enumerate(cast("list[object]", value), 1):
            yield [(f"{pad}{number}", "muted")]
            yield from _value_rows(each, width, depth + 1)
    else:
        yield from _padded(_lines(_said(value), width - len(pad)), pad, "text")


def _named(name: str, text: str, pad: str, width: int) -> Iterator[Row]:
    """A name with its text: beside it where that is short, else below it."""
    names, lines = _lines(name, width - len(pad)), _lines(text, width)
    beside = f"{pad}{names[0]}  "
    if len(names) == len(lines) == 1 and cell_len(beside) + cell_len(lines[0]) <= width:
        yield [(beside, "accent"), *_marked(lines[0], "text")]
        return
    yield from _padded(names, pad, "accent")
    inner = pad + " " * min(_INDENT, width // 4)
    yield from _padded(_lines(text, width - len(inner)), inner, "text")


def _padded(lines: list[str], pad: str, colour: str) -> Iterator[Row]:
    yield from ([(pad, colour), *_marked(line, colour)] for line in lines)


def _lines(text: str, width: int) -> list[str]:
    """The text in lines that are broken at no space of a mark."""
    text = _MARK.sub(lambda mark: mark[0].replace(" ", _HARD), _shown(text))
    return wrap(text, max(width, 1), MOST_ROWS)


def _shown(text: str) -> str:
    return laid_bare(text)


def _said(value: object) -> str:
    """A value that holds no other."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _marked(line: str, colour: str) -> Row:
    """A line with the marks of what was struck out told apart."""
    cells: Row = []
    done = 0
    for match in _HARD_MARK.finditer(line):
        cells += [(line[done : match.start()], colour)]
        cells += [(match[0].replace(_HARD, " "), "removed")]
        done = match.end()
    return [*cells, (line[done:], colour)]
