"""Bytes to records: nothing readable is lost, whatever surrounds it (transcripts.md, a13)."""

from __future__ import annotations

import json
from collections import Counter
from typing import cast

from msgspec import Struct

from app.sessions.records import JsonObject, Record, parse_record, parse_span

_FILLER = b"\x00 \t\r"
_OPENING, _CLOSING = b"{}"
_MAX_FAILURES = 20_000
_MAX_WORK = 1_000_000_000
"""Failures times characters of one broken line: the decoder counts the lines before each fault."""
_decode = json.JSONDecoder(strict=False).raw_decode


class Flaw(Struct, frozen=True):
    """Something on a line that could not be read as it should: what, and where."""

    kind: str
    """`torn_line`, `corrupt_line`, `glued_line` or `not_an_object`."""
    line: int


class Parsed(Struct, frozen=True):
    """The records of a file in file order, and what was wrong with its lines."""

    records: tuple[Record, ...]
    flaws: tuple[Flaw, ...]

    def count(self, kind: str) -> int:
        """How many lines have this flaw."""
        return Counter(flaw.kind for flaw in self.flaws)[kind]


def parse_transcript(content: bytes) -> Parsed:
    """All records of a transcript.

    A last line without its newline counts when it is whole. After a broken part, reading goes on
    with the next whole record of the same line (cases/B01, B02).
    """
    records: list[Record] = []
    flaws: list[Flaw] = []
    view, end = memoryview(content), len(content)
    start = number = 0
    while start < end:
        number += 1
        stop = content.find(b"\n", start)
        last = stop < 0
        if last:
            stop = end
        first, behind = start, stop
        if stop > start and (content[start] != _OPENING or content[stop - 1] != _CLOSING):
            first, behind = _without_filler(content, start, stop)
        if behind > first:
            try:
                records.append(parse_span(content, view, first, behind, number))
            except ValueError:
                found, broken = _recover(content[first:behind], number)
                records += found
                if broken:
                    flaws.append(
                        Flaw("torn_line" if last and not found else "corrupt_line", number)
                    )
                if len(found) > 1 or (found and broken):
                    flaws.append(Flaw("glued_line", number))
        start = stop + 1
    return Parsed(tuple(records), tuple(flaws))


def _without_filler(content: bytes, start: int, stop: int) -> tuple[int, int]:
    line = content[start:stop]
    return stop - len(line.lstrip(_FILLER)), start + len(line.rstrip(_FILLER))


def _recover(line: bytes, number: int) -> tuple[list[Record], bool]:
    """The whole records of a line that is not one object, and whether anything else was on it."""
    text = line.decode("utf-8", "replace")
    found: list[Record] = []
    broken = False
    position = failures = 0
    most = min(_MAX_FAILURES, max(_MAX_WORK // max(len(text), 1), 20))
    while position < len(text):
        opening = text.find("{", position)
        if opening < 0 or failures > most:
            broken = broken or bool(text[position:].strip("\x00 \t\r"))
            break
        broken = broken or bool(text[position:opening].strip("\x00 \t\r"))
        try:
            value, stop = _decode(text, opening)
        except (ValueError, RecursionError):
            broken = True
            failures += 1
            position = opening + 1
            continue
        if _is_record(value, text[stop : stop + 1]):
            raw = text[opening:stop].encode("utf-8", "surrogatepass")
            found.append(parse_record(raw, number))
        else:
            broken = True
        position = stop
    return found, broken


def _is_record(value: object, following: str) -> bool:
    """Whether a decoded value is a record of its own and not a part of a cut one.

    What lies inside a cut record is followed by a comma or a bracket; a record by the end of the
    line, by another record, or by filler.
    """
    if not isinstance(value, dict) or following not in ("", "{", "\x00", " ", "\t", "\r"):
        return False
    return isinstance(cast("JsonObject", value).get("type"), str)
