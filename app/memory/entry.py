"""The memory entry: how much of `MEMORY.md` enters a request (spec/memory.md, Entry budget)."""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

from msgspec import Struct

from app.storage.documents import DocumentStore
from app.storage.names import ENTRY
from app.storage.reading import BOM, decode

MOST_LINES: Final = 200
MOST_UNITS: Final = 25_000
"""UTF-16 code units."""
MOST_PROBED: Final = 100_000
"""Bytes that are read to tell whether the entry is over its budget."""


class Fitted(Struct, frozen=True):
    """The beginning of a text that is within the budget."""

    text: str
    lines: int
    code_units: int
    whole_lines: int
    whole_units: int
    first_line_cut: int
    """The number of the first line that is not all in `text`, counted from 1; 0 for none."""

    @property
    def is_cut(self) -> bool:
        """Whether something was left out."""
        return self.first_line_cut > 0


class Entry(Struct, frozen=True):
    """What of the entry enters a request, and what does not."""

    text: str = ""
    lines: int = 0
    code_units: int = 0
    whole_lines: int = 0
    """Lines of all that was read."""
    whole_units: int = 0
    """UTF-16 code units of all that was read."""
    is_cut: bool = False
    lines_left_out: int | None = 0
    """Lines that are not, or not wholly, in `text`; None where not all was read."""
    bytes_left_out: int = 0
    first_line_cut: int = 0
    modified: float = 0.0
    """Seconds since the epoch."""
    trouble: str = ""
    """Why there is no text though there is a file, as the end of a sentence about it."""


def load_entry(store: DocumentStore) -> Entry:
    """The entry of a memory; an empty one where there is none. Blocking."""
    read = store.head(ENTRY, MOST_PROBED)
    if read.is_missing:
        return Entry()
    modified = read.seconds
    decoded = decode(read)
    if decoded.trouble:
        return Entry(trouble=decoded.trouble, modified=modified)
    fitted = fit(decoded.text)
    loaded = len(fitted.text.encode()) + decoded.mark
    left_out = fitted.whole_lines - fitted.first_line_cut + 1 if fitted.is_cut else 0
    return Entry(
        text=fitted.text,
        lines=fitted.lines,
        code_units=fitted.code_units,
        whole_lines=fitted.whole_lines,
        whole_units=fitted.whole_units,
        is_cut=fitted.is_cut,
        lines_left_out=left_out if read.is_whole else None,
        bytes_left_out=max(read.size - loaded, 0) if fitted.is_cut else 0,
        first_line_cut=fitted.first_line_cut,
        modified=modified,
    )


def fit(text: str) -> Fitted:
    """The longest beginning of a text of at most 200 lines and 25 000 code units.

    Cut to the code unit, but never within a surrogate pair. A newline ends a line and begins none;
    a byte-order mark is not part of the text.
    """
    text = text.removeprefix(BOM)
    end = min(_end_of_lines(text), end_of_units(text, MOST_UNITS))
    kept = text[:end]
    lines, units = _measure(kept)
    whole_lines, whole_units = _measure(text) if end < len(text) else (lines, units)
    first_cut = kept.count("\n") + 1 if end < len(text) else 0
    return Fitted(kept, lines, units, whole_lines, whole_units, first_cut)


def gauge(text: str) -> tuple[int, int]:
    """Lines and UTF-16 code units of a text, for the gauge of the entry's budget."""
    return _measure(text.removeprefix(BOM))


def _measure(text: str) -> tuple[int, int]:
    lines = text.count("\n") + (text != "" and not text.endswith("\n"))
    return lines, code_units(text)


def code_units(text: str) -> int:
    """UTF-16 code units of a text."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def end_of_units(text: str, most: int) -> int:
    """How many characters of a text are within so many code units."""
    if len(text) <= most and code_units(text) <= most:
        return len(text)
    # A character has a unit at least, so that no more of them can be within.
    head = text[:most]
    return bisect_right(range(len(head) + 1), most, key=lambda end: code_units(head[:end])) - 1


def _end_of_lines(text: str) -> int:
    end = 0
    for _ in range(MOST_LINES):
        end = text.find("\n", end) + 1
        if end == 0:
            return len(text)
    return end
