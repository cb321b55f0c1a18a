"""The little of Markdown that memory must know: where code stands, and what is front matter."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from app.storage.reading import BOM

_FENCE: Final = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+|>[ \t]?)*(`{3,}(?=[^`]*$)|~{3,})")
_CLOSE: Final = re.compile(r"[ \t>]*(`{3,}|~{3,})[ \t]*")
_TICKS: Final = re.compile(r"`+")
_FIELD: Final = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*))?")
_HEADING: Final = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*")


def without_code(text: str) -> str:
    """The text, equally long, with blanks in place of fenced blocks and of code spans.

    A span ends in the line in which it begins.
    """
    if "`" not in text and "~~~" not in text:
        return text
    lines, fence = text.split("\n"), ""
    for number, whole in enumerate(lines):
        line = whole.removesuffix("\r")
        if fence:
            close = _CLOSE.fullmatch(line)
            if close and close[1].startswith(fence):
                fence = ""
        elif found := _FENCE.match(line):
            fence = found[1]
        else:
            lines[number] = _without_spans(whole)
            continue
        lines[number] = " " * len(whole)
    return "\n".join(lines)


def _without_spans(line: str) -> str:
    if "`" not in line:
        return line
    runs = [found.span() for found in _TICKS.finditer(line)]
    starts: defaultdict[int, list[int]] = defaultdict(list)
    for start, end in runs:
        starts[end - start].append(start)
    parts: list[str] = []
    done = 0
    for start, end in runs:
        same = starts[end - start]
        if start < done or (after := bisect_right(same, start)) == len(same):
            continue
        close = same[after] + end - start
        parts += [line[done:start], " " * (close - start)]
        done = close
    return "".join(parts) + line[done:]


def front_matter(text: str) -> tuple[Mapping[str, str], int]:
    """The `key: value` lines between two `---` at the top, and how many lines that takes.

    Values lose their quotes; what is nested or no such line is passed over (spec/memory.md, Index).
    None, and 0 lines, where the text does not begin so or the end is not in it.
    """
    lines = text.removeprefix(BOM).split("\n")
    if lines[0].rstrip() != "---":
        return {}, 0
    fields: dict[str, str] = {}
    for number, line in enumerate(lines[1:], 2):
        if line.rstrip() in ("---", "..."):
            return fields, number
        if found := _FIELD.fullmatch(line.rstrip()):
            fields.setdefault(found[1].lower(), _value(found[2] or ""))
    return {}, 0


def _value(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] in "'\"" and (end := text.find(text[0], 1)) > 0:
        return text[1:end]
    return text.partition(" #")[0].rstrip()


def first_heading(lines: Sequence[str]) -> str:
    """The words of the first heading in these lines, empty where there is none."""
    for line in without_code("\n".join(lines)).split("\n"):
        if (found := _HEADING.fullmatch(line.rstrip())) and found[1]:
            return found[1]
    return ""
