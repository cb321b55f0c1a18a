"""Markdown as blocks: whole, or while it arrives."""

from __future__ import annotations

from app.plain_text import plain
from widgets.conversation.blocks import Block, CodeBlock, ProseBlock
from widgets.conversation.markdown_split import Piece, Splitter


class ArrivingText:
    """One text block of a reply while it grows: cleaned and split once, whatever its length."""

    def __init__(self) -> None:
        self._splitter = Splitter()
        self._taken = 0
        self._clean = ""
        self._blocks: list[Block] = []

    def feed(self, text: str, *, ended: bool) -> list[Block]:
        """The blocks of all text so far; those that are final are the same objects as before."""
        stop = len(text) if ended else _safe_end(text, self._taken)
        self._clean += plain(text[self._taken : stop])
        self._taken = stop
        rest = self._splitter.feed(self._clean, ended=ended)
        closed = self._splitter.closed
        self._blocks += [piece_block(piece, "") for piece in closed[len(self._blocks) :]]
        return [*self._blocks, *(piece_block(piece, "") for piece in rest)]


def _safe_end(text: str, start: int) -> int:
    """Where the text can be cut without parting a line end or an escape sequence."""
    end = len(text)
    escape = text.rfind("\x1b", max(start, end - 32))
    if escape >= 0:
        return escape
    return end - 1 if end > start and text[-1] == "\r" else end


def piece_block(piece: Piece, uuid: str) -> Block:
    """A piece of a text as the block that is drawn."""
    if piece.kind == "code":
        return CodeBlock(piece.text, piece.language, uuid, piece.continues)
    return ProseBlock(piece.text, uuid, piece.joined)
