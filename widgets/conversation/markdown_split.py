"""Cuts Markdown into blocks that are laid out once: all but the last are final while text arrives.

A block is a run of lines that renders the same whatever follows it. The cut depends on the text
alone, so that a streamed reply and the same reply read from disk give the same blocks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["prose", "code"]

MOST_LIST_ITEMS = 8
"""Top-level items of a list in one block."""
MOST_CODE_LINES = 16
"""Lines of code in one block; a longer fence goes on in the next."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")


@dataclass(frozen=True, slots=True)
class Piece:
    """A block: prose in Markdown, or the lines of a fence without its marks."""

    kind: Kind
    text: str
    language: str = ""
    continues: bool = False
    """Code that belongs to the same fence as the block before it."""
    joined: bool = False
    """Prose that goes on directly, such as the next items of a list."""


class Splitter:
    """Splits a growing text. `feed` takes all of it each time and looks only at what is new."""

    def __init__(self) -> None:
        self.closed: list[Piece] = []
        """The pieces that no further text can change."""
        self._start = 0
        self._fence: str | None = None
        self._language = ""
        self._part = 0
        self._joined = False

    def feed(self, text: str, *, ended: bool = False) -> list[Piece]:
        """The pieces that are still open after `text`; the closed ones are in `closed`."""
        while True:
            found = self._next(text, ended)
            if found is None:
                break
            piece, self._start = found
            if piece is not None:
                self.closed.append(piece)
        rest = text[self._start :]
        if not rest.strip():
            return []
        if self._fence is not None:
            return [Piece("code", rest.rstrip("\n"), self._language, self._part > 0)]
        return [Piece("prose", rest.rstrip("\n"), joined=self._joined)]

    def _next(self, text: str, ended: bool) -> tuple[Piece | None, int] | None:
        if self._start >= len(text):
            return None
        if self._fence is not None:
            return self._next_code(text, ended)
        return self._next_prose(text, ended)

    def _next_code(self, text: str, ended: bool) -> tuple[Piece | None, int] | None:
        position = self._start
        lines: list[str] = []
        while True:
            stop = text.find("\n", position)
            last = stop < 0
            if last and not ended:
                return None
            line = text[position:] if last else text[position:stop]
            if self._closes(line):
                piece = Piece("code", "\n".join(lines), self._language, self._part > 0)
                empty = not lines and self._part > 0
                self._fence, self._part, self._joined = None, 0, False
                return (None if empty else piece), len(text) if last else stop + 1
            lines.append(line)
            if last:
                piece = Piece("code", "\n".join(lines), self._language, self._part > 0)
                return piece, len(text)
            position = stop + 1
            if len(lines) >= MOST_CODE_LINES:
                piece = Piece("code", "\n".join(lines), self._language, self._part > 0)
                self._part += 1
                return piece, position

    def _closes(self, line: str) -> bool:
        match = _FENCE.match(line)
        if match is None or self._fence is None or match[2].strip():
            return False
        return match[1][0] == self._fence[0] and len(match[1]) >= len(self._fence)

    def _next_prose(self, text: str, ended: bool) -> tuple[Piece | None, int] | None:
        position = self._start
        items = 0
        blank = False
        has_text = False
        while True:
            stop = text.find("\n", position)
            if stop < 0 and not ended:
                return None
            line = text[position:] if stop < 0 else text[position:stop]
            fence = _FENCE.match(line)
            opens = fence is not None and not (fence[1][0] == "`" and "`" in fence[2])
            if has_text and (opens or self._begins_anew(line, blank)):
                return self._close(text, position, joined=False)
            if opens and fence is not None:
                self._fence, self._part = fence[1], 0
                self._language = fence[2].strip().split(" ")[0]
                return None, len(text) if stop < 0 else stop + 1
            if _ITEM.match(line):
                if items >= MOST_LIST_ITEMS:
                    return self._close(text, position, joined=not blank)
                items += 1
            has_text = has_text or bool(line.strip())
            blank = not line.strip()
            if stop < 0:
                return self._close(text, len(text), joined=False) if has_text else None
            position = stop + 1
            if has_text and _HEADING.match(line):
                return self._close(text, position, joined=False)

    def _begins_anew(self, line: str, after_blank: bool) -> bool:
        if not line.strip():
            return False
        if _HEADING.match(line):
            return True
        return after_blank and not line.startswith((" ", "\t")) and not _ITEM.match(line)

    def _close(self, text: str, end: int, *, joined: bool) -> tuple[Piece, int]:
        body = text[self._start : end].strip("\n")
        piece = Piece("prose", body, joined=self._joined)
        self._joined = joined
        return piece, end


def split(text: str) -> list[Piece]:
    """All pieces of a whole text."""
    splitter = Splitter()
    rest = splitter.feed(text, ended=True)
    return [*splitter.closed, *rest]
