"""The card of what happened while the person was away."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style

from app.plain_text import plain_line
from widgets.conversation.blocks import AwayBlock
from widgets.conversation.wrap import wrap
from widgets.glyphs import Glyphs

TITLE = "while you were away"
KEYS = "enter details · x dismiss · o turn off"
MOST_LINES = 40


def away_lines(
    block: AwayBlock, width: int, glyphs: Glyphs, text: Style, accent: Style, muted: Style
) -> list[list[Segment]]:
    """The card's lines; `width` is that of the conversation, in cells."""
    if block.fold == "folded" or width < len(KEYS) + 8:
        return [_one_line(block, width, glyphs, text, muted)]
    inner = min(width - 6, 100)
    upper, lower = ("╭╮", "╰╯") if glyphs.rule == "─" else ("++", "++")
    rule, bar = glyphs.rule, glyphs.bar
    body = [(line, text) for line in wrap(block.text, inner, MOST_LINES)]
    if block.fold == "full":
        body += [(line, muted) for turn in block.turns for line in wrap(turn, inner, 2)]
    head = f" {TITLE}{'  ' + block.at if block.at else ''} "
    lines = [[Segment(f" {upper[0]}{head}{rule * (inner + 2 - cell_len(head))}{upper[1]}", accent)]]
    for line, style in body:
        gap = " " * (inner - cell_len(line))
        lines.append(
            [Segment(f" {bar} ", accent), Segment(line, style), Segment(f"{gap} {bar}", accent)]
        )
    foot = f" {KEYS} "
    lines.append(
        [Segment(f" {lower[0]}{rule * (inner + 1 - cell_len(foot))}{foot}{rule}{lower[1]}", accent)]
    )
    return lines


def _one_line(
    block: AwayBlock, width: int, glyphs: Glyphs, text: Style, muted: Style
) -> list[Segment]:
    lead = f"   {glyphs.folded} {TITLE}  {block.at}  "
    room = max(width - cell_len(lead) - 2, 0)
    words = plain_line(block.text)
    shown = (
        words if cell_len(words) <= room else set_cell_size(words, max(room - 1, 0)) + glyphs.more
    )
    return [Segment(lead, muted), Segment(shown, text)]
