"""Breaks plain text into lines of at most so many cells, at spaces where there are any."""

from __future__ import annotations

from rich.cells import cell_len, chop_cells

from app.plain_text import TAB_WIDTH


def wrap(text: str, width: int, most: int) -> list[str]:
    """The text's lines for a column of `width` cells; at most `most`, the last then says so."""
    lines: list[str] = []
    for line in text.split("\n"):
        lines += _wrapped(line.expandtabs(TAB_WIDTH) if "\t" in line else line, width)
        if len(lines) > most:
            del lines[most - 1 :]
            lines.append("… (the rest is not drawn; e opens all of it)")
            break
    return lines


def _wrapped(line: str, width: int) -> list[str]:
    if len(line) <= width and (line.isascii() or cell_len(line) <= width):
        return [line]
    if width < 4:
        return chop_cells(line, width) if width > 1 else list(line)
    out: list[str] = []
    current, used = "", 0
    for piece in _words(line):
        word = piece
        size = len(word) if word.isascii() else cell_len(word)
        if used + size <= width:
            current, used = current + word, used + size
            continue
        if current.strip():
            out.append(current.rstrip())
        current, used = "", 0
        word = piece.lstrip() if out else piece
        size = len(word) if word.isascii() else cell_len(word)
        if size > width:
            *full, current = chop_cells(word, width)
            out += full
            used = cell_len(current)
        else:
            current, used = word, size
    if current or not out:
        out.append(current)
    return out


def _words(line: str) -> list[str]:
    """The line in pieces of spaces followed by a word; joined they are the line again."""
    pieces: list[str] = []
    start, end = 0, len(line)
    while start < end:
        stop = start
        while stop < end and line[stop] == " ":
            stop += 1
        space = line.find(" ", stop)
        stop = end if space < 0 else space
        pieces.append(line[start:stop])
        start = stop
    return pieces
