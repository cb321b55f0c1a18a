"""Untrusted text made fit for a terminal: every control character is shown, none is sent.

Text of a model, a tool or a file is data (ARCHITECTURE.md, Files and locks).
"""

from __future__ import annotations

import re

TAB_WIDTH = 4

_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_UNSAFE = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_BIDI}\ud800-\udfff\ufff9-\ufffb\u2028\u2029]")
_UNSEEN = re.compile(
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u206f\u3164\ufe00-\ufe0e"
    "\ufeff\uffa0\U0001bca0-\U0001bca3\U000e0000-\U000e0fff]"
)
_NEWLINES = re.compile(r"\r\n?|\u0085")
_COLOURS = re.compile(r"\x1b\[[0-9;:]*m")


def plain(text: str, *, show_colours: bool = False) -> str:
    """The text with newlines as `\\n`, tabs kept, and every other control character made visible.

    C0 controls become their Unicode pictures, C1 and direction controls their code in angle
    brackets, lone surrogates U+FFFD. Colour sequences, which programs print by the thousand, go,
    unless `show_colours` asks for them: where a person decides, nothing may be hidden.
    """
    if text.isascii() and text.isprintable():
        return text
    if not show_colours:
        text = _COLOURS.sub("", text)
    return _UNSAFE.sub(_picture, _NEWLINES.sub("\n", text))


def laid_bare(text: str) -> str:
    """As `plain` with all colours shown, and what has no width of its own shown by its code too:
    where a person decides on a text, nothing in it may be out of sight.
    """
    text = plain(text, show_colours=True)
    return text if text.isascii() else _UNSEEN.sub(lambda match: f"<{ord(match[0]):02x}>", text)


def plain_line(text: str) -> str:
    """As `plain`, on one line: newlines and tabs become spaces."""
    return plain(text).replace("\n", " ").replace("\t", " ")


def encodable(text: str) -> str:
    """The text with lone surrogates as U+FFFD: JSON may hold them, no file or screen can."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return f"<{code:02x}>"


def cut(text: str, characters: int) -> str:
    """At most this many characters, with `…` in place of what was left out."""
    return text if len(text) <= characters else text[: max(characters - 1, 0)] + "…"
