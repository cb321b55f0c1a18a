"""A document as it is read: its Markdown drawn by line, at the place where it is edited."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from widgets.conversation.blocks import Block, CodeBlock, NoteBlock, ProseBlock
from widgets.conversation.markdown_split import split
from widgets.memory.markdown_lines import FRONT_LINES, OUTSIDE, state_after
from widgets.tree.preview import BlockPane

LONG = 120_000
"""Characters of a text of which only the part around the cursor is drawn; memory holds less."""
AROUND = 300
"""Lines of such a part before the cursor, and behind it."""
MORE = "(There is more; the preview shows the part around the cursor.)"
Rendered = tuple[list[Block], list[int]]
"""Blocks, and the row of the text in which each begins."""


class PreviewPane(BlockPane):
    """The document as it will be read."""

    def __init__(self) -> None:
        super().__init__(id="memory-preview")
        self._rows: Sequence[int] = ()

    def show_text(self, rendered: Rendered, *, anew: bool) -> None:
        """Show a text: from its beginning, or in the place of what it was before."""
        blocks, self._rows = rendered
        if anew:
            self.show(blocks)
            return
        before, self.blocks = self.blocks, blocks
        pairs = zip(before, blocks, strict=False)
        same = next((i for i, (old, new) in enumerate(pairs) if old != new), None)
        first = min(len(before), len(blocks)) if same is None else same
        self.following = False
        self.blocks_changed(range(first, max(len(before), len(blocks))))

    def follow_row(self, row: int) -> None:
        """Bring into sight what a row of the text became."""
        index = bisect_right(self._rows, row) - 1
        if index >= 0 and self.size.width:
            self.show_block(index)


def render_around(lines: Sequence[str], row: int) -> Rendered:
    """The part of a long text around a row; it says where there is more."""
    first = max(row - AROUND, 0)
    while first and lines[first].strip():
        first -= 1
    last = min(row + AROUND, len(lines))
    fence = OUTSIDE
    for number in range(first):
        fence = state_after(fence, lines[number], number)
    part = [fence, *lines[first:last]] if fence else lines[first:last]
    blocks, rows = render("\n".join(part))
    rows = [max(first + each - bool(fence), 0) for each in rows]
    if first:
        blocks.insert(0, NoteBlock(MORE))
        rows.insert(0, 0)
    if last < len(lines):
        blocks.append(NoteBlock(MORE))
        rows.append(last)
    return blocks, rows


def render(text: str) -> Rendered:
    """The blocks of a text; front matter is shown as it stands."""
    blocks: list[Block] = []
    rows: list[int] = []
    start = _front_matter(text)
    if start:
        front = text[:start].strip("\n").split("\n")[1:-1]
        blocks.append(CodeBlock("\n".join(front), "yaml"))
        rows.append(0)
    place, row = start, text.count("\n", 0, start)
    for piece in split(text[start:]):
        found = text.find(piece.text, place)
        row += text.count("\n", place, found)
        rows.append(row)
        row += piece.text.count("\n")
        place = found + len(piece.text)
        if piece.kind == "code":
            blocks.append(CodeBlock(piece.text, piece.language, continues=piece.continues))
        else:
            blocks.append(ProseBlock(piece.text, joined=piece.joined))
    return blocks, rows


def _front_matter(text: str) -> int:
    """Where the text begins behind its front matter; 0 where it has none."""
    if not text.startswith("---\n"):
        return 0
    end = 4
    for _ in range(FRONT_LINES):
        stop = text.find("\n", end)
        line = text[end:] if stop < 0 else text[end:stop]
        end = len(text) if stop < 0 else stop + 1
        if line.rstrip() in {"---", "..."}:
            return end
        if stop < 0:
            return 0
    return 0
