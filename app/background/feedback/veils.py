"""A text as a person reads it: colours taken out, `%3D` and `&quot;` read as what they stand for.

A name that is split by a colour or spelt in an address names a secret all the same.
"""

from __future__ import annotations

import bisect
import html
import re
from typing import Final, NamedTuple

_VEIL: Final = re.compile(
    r"\x1b\[[0-9;?]{0,20}[ -/]?[@-~]|[\u200b-\u200f\u2060\ufeff\u00ad]"
    r"|%(?:25){0,3}(?P<hex>[2-7][0-9A-Fa-f])|(?P<entity>&(?:quot|apos|amp|#34|#39);)"
    r"|\\{1,15}u00(?P<code>[2-7][0-9A-Fa-f])|(?P<wide>[\uff01-\uff5e])"
)


class Unveiled(NamedTuple):
    """The lines of a text that something is veiled in, as they read, and where they stand."""

    text: str
    starts: list[int]
    """Where each piece begins, in `text`."""
    pieces: list[tuple[int, int, bool]]
    """Where each piece stands in the text that was given, and whether it reads as it stands."""

    def place(self, start: int, stop: int) -> tuple[int, int]:
        """Where a part of `text` stands in the text that was given."""
        first = bisect.bisect_right(self.starts, start) - 1
        last = bisect.bisect_right(self.starts, stop - 1) - 1
        begin, _, is_same = self.pieces[first]
        begin += (start - self.starts[first]) if is_same else 0
        end_begin, end, is_same = self.pieces[last]
        return begin, (end_begin + stop - self.starts[last]) if is_same else end


def unveiled(text: str) -> Unveiled | None:
    """The lines with something veiled in them; None when there are none."""
    parts: list[str] = []
    starts: list[int] = []
    pieces: list[tuple[int, int, bool]] = []
    size = 0
    done = line_end = 0

    def add(part: str, start: int, stop: int, is_same: bool) -> None:
        nonlocal size
        if part:
            parts.append(part)
            starts.append(size)
            pieces.append((start, stop, is_same))
            size += len(part)

    for veil in _VEIL.finditer(text):
        if veil.start() >= line_end:
            add(text[done:line_end], done, line_end, True)
            done = text.rfind("\n", line_end, veil.start()) + 1 or line_end
            line_end = text.find("\n", veil.end()) + 1 or len(text)
        add(text[done : veil.start()], done, veil.start(), True)
        add(_read(veil), veil.start(), veil.end(), False)
        done = veil.end()
    add(text[done:line_end], done, line_end, True)
    return Unveiled("".join(parts), starts, pieces) if parts else None


def _read(veil: re.Match[str]) -> str:
    code = veil["hex"] or veil["code"]
    if code:
        return chr(int(code, 16))
    if veil["entity"]:
        return html.unescape(veil["entity"])
    return chr(ord(veil["wide"]) - 0xFEE0) if veil["wide"] else ""
