"""What would leave, as rows: read out of the very bytes, as text or as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, cast

import msgspec
from rich.cells import chop_cells

from app.plain_text import plain, plain_line
from widgets.cells import Cell
from widgets.conversation.wrap import wrap

Row = list[Cell]
MOST_ROWS: Final = 200_000
"""More than a report of the largest size has at a width of 40 cells."""
_MARK: Final = re.compile(r"\[redacted: [a-z0-9 -]{1,40}\]")
_INDENT: Final = 2


def text_rows(data: bytes, width: int) -> list[Row]:
    """The JSON in `data` for people: names, and below each its text in lines."""
    return list(_value_rows(msgspec.json.decode(data), width, 0))


def raw_rows(data: bytes, width: int) -> list[Row]:
    """The bytes as they are, cut at the width alone; control characters are shown, none is sent."""
    text, width = plain(data.decode("utf-8", "replace"), show_colours=True), max(width, 2)
    if text.isascii():
        return [_marked(text[at : at + width]) for at in range(0, len(text), width)]
    return [_marked(line) for line in chop_cells(text, width)]


def _value_rows(value: object, width: int, depth: int) -> Iterator[Row]:
    pad = " " * (_INDENT * depth)
    if isinstance(value, dict):
        for name, each in cast("dict[str, object]", value).items():
            shown = plain_line(name)
            if isinstance(each, dict | list) and each:
                yield [(f"{pad}{shown}", "accent")]
                yield from _value_rows(each, width, depth + 1)
            else:
                yield from _named(f"{pad}{shown}", _said(each), width)
    elif isinstance(value, list):
        for number, each in enumerate(cast("list[object]", value), 1):
            yield [(f"{pad}{number}", "muted")]
            yield from _value_rows(each, width, depth + 1)
    else:
        yield from (
            [(pad, "text"), *_marked(line)] for line in _lines(_said(value), width - len(pad))
        )


def _named(name: str, text: str, width: int) -> Iterator[Row]:
    """A name with its text: beside it where that is short, else below it."""
    if "\n" not in text and len(name) + 2 + len(text) <= width:
        yield [(f"{name}  ", "accent"), *_marked(plain(text))]
        return
    yield [(name, "accent")]
    pad = " " * (len(name) - len(name.lstrip()) + _INDENT)
    yield from ([(pad, "text"), *_marked(line)] for line in _lines(text, width - len(pad)))


def _lines(text: str, width: int) -> list[str]:
    return wrap(plain(text, show_colours=True), max(width, 1), MOST_ROWS)


def _said(value: object) -> str:
    """A value that holds no other."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _marked(line: str) -> Row:
    """A line with the marks of what was struck out told apart."""
    cells: Row = []
    done = 0
    for match in _MARK.finditer(line):
        cells += [(line[done : match.start()], "text"), (match[0], "removed")]
        done = match.end()
    return [*cells, (line[done:], "text")]
