"""What an editor can show of a text, and back again without a byte lost (cases/B27).

An editor ends a line at `\\n` and sends what it shows to the terminal. So a byte-order mark is
taken off, `\\r\\n` becomes `\\n` where all lines end so, and every character that would end a line
or command the terminal is shown as another one that stands in for it.
"""

from __future__ import annotations

from collections.abc import Container
from itertools import chain

from msgspec import Struct

from app.plain_text import plain

BOM = "\ufeff"
_PRIVATE = (range(0xE000, 0xF900), range(0xF0000, 0x10FFFE))
_ALL = range(0xA0, 0x110000)


class Shape(Struct, frozen=True):
    """What is not seen of a text in the editor."""

    has_bom: bool = False
    is_crlf: bool = False
    """Whether every line ends in `\\r\\n`; new ones will."""
    stand_ins: tuple[tuple[str, str], ...] = ()
    """What is shown, and the character that it stands for."""


def shown(text: str) -> tuple[str, Shape]:
    """The text with `\\n` as its only line end and no control character but tabs."""
    body = text.removeprefix(BOM)
    is_crlf = 0 < body.count("\n") == body.count("\r\n")
    lines = body.replace("\r\n", "\n") if is_crlf else body
    stand_ins: dict[str, str] = {}
    if not lines.isascii() or not lines.replace("\n", "").isprintable():
        stand_ins = _stand_ins(set(lines))
        lines = lines.translate({ord(hidden): sign for hidden, sign in stand_ins.items()})
    pairs = tuple((sign, hidden) for hidden, sign in stand_ins.items())
    return lines, Shape(len(body) < len(text), is_crlf, pairs)


def stored(text: str, shape: Shape) -> str:
    """The text as it is written: `stored(*shown(text))` is `text`."""
    table = {ord(sign): hidden for sign, hidden in shape.stand_ins}
    if shape.is_crlf:
        table[ord("\n")] = "\r\n"
    return (BOM if shape.has_bom else "") + (text.translate(table) if table else text)


def _stand_ins(characters: set[str]) -> dict[str, str]:
    """A sign for each of the characters that must not be shown as they are."""
    taken = set(characters)
    signs: dict[str, str] = {}
    for hidden in sorted(character for character in characters if _must_hide(character)):
        signs[hidden] = _sign_for(hidden, taken)
        taken.add(signs[hidden])
    return signs


def _must_hide(character: str) -> bool:
    return plain(character) != character


def _sign_for(hidden: str, taken: Container[str]) -> str:
    """The control picture of a character; where it has none that is free, one of private use.

    The last resort is any character at all: only a text of megabytes can hold those before.
    """
    code = ord(hidden)
    picture = chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else ""
    if picture and picture not in taken:
        return picture
    candidates = map(chr, chain(*_PRIVATE, _ALL))
    return next(sign for sign in candidates if sign not in taken and not _must_hide(sign))
