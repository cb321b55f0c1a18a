"""Markdown coloured a line at a time: what a line is depends on it and on one word of state.

Cheap enough for each key in a document of any size, which a parser of the whole text is not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal[
    "heading", "strong", "emphasis", "code", "mark", "quote", "link", "address", "meta"
]
Span: TypeAlias = tuple[int, int, Kind]
"""Start, end and what stands between."""

OUTSIDE, FRONT = "", "---"
"""States: in the text, and in the front matter. Inside a fence the state is its opening mark."""
LONGEST = 4_000
"""Characters of a line beyond which it is not coloured."""
FRONT_LINES = 30
"""Lines after which front matter that was not closed is none (spec/memory.md, Index)."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_QUOTE = re.compile(r" {0,3}>")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+\[[ xX]\])?(?=[ \t]|$)")
_INLINE = re.compile(
    r"(?P<code>`+[^`]+`+)"
    r"|(?P<link>!?\[[^\[\]]*\])(?P<address>\([^()\s]*\))"
    r"|(?P<bare>https?://[^\s<>)\]]+)"
    r"|(?P<strong>\*\*[^*\s][^*]*\*\*|__[^_\s][^_]*__)"
    r"|(?P<emphasis>\*[^*\s][^*]*\*|(?<![\w_])_[^_\s][^_]*_(?!\w))"
)


def state_after(state: str, line: str, row: int) -> str:
    """The state behind a line; `row` is counted from 0."""
    if state == FRONT:
        closed = line.rstrip() in {"---", "..."} or row >= FRONT_LINES
        return OUTSIDE if closed else FRONT
    if not state and row == 0 and line.rstrip() == "---":
        return FRONT
    if "```" not in line and "~~~" not in line:
        return state
    match = _FENCE.match(line)
    if match is None:
        return state
    mark, rest = match[1], match[2]
    if state:
        closes = mark[0] == state[0] and len(mark) >= len(state) and not rest.strip()
        return OUTSIDE if closes else state
    return state if mark[0] == "`" and "`" in rest else mark


def spans(line: str, before: str, after: str) -> Sequence[Span]:
    """What is coloured in a line, given the states before and behind it; later spans win."""
    end = len(line)
    if not line or end > LONGEST:
        return ()
    if FRONT in (before, after):
        return ((0, end, "meta"),)
    if before and after:
        return ((0, end, "code"),)
    if before or after or _RULE.match(line):
        return ((0, end, "mark"),)
    if _HEADING.match(line):
        return ((0, end, "heading"),)
    found: list[Span] = []
    if _QUOTE.match(line):
        found.append((0, end, "quote"))
    elif item := _ITEM.match(line):
        found.append((item.start(), item.end(), "mark"))
    found += _inline(line, found[0][1] if found and found[0][2] == "mark" else 0)
    return found


def _inline(line: str, start: int) -> list[Span]:
    found: list[Span] = []
    for match in _INLINE.finditer(line, start):
        if match["address"] is not None:
            found.append((*match.span("link"), "link"))
            found.append((*match.span("address"), "address"))
        elif match["code"] is not None:
            found.append((*match.span(), "code"))
        elif match["bare"] is not None:
            found.append((*match.span(), "address"))
        else:
            found.append((*match.span(), "strong" if match["strong"] else "emphasis"))
    return found
