"""Blocks to strips: once for a width, then cached by whoever asked."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from widgets.conversation.away_card import away_lines
from widgets.conversation.blocks import (
    AwayBlock,
    Block,
    CardBlock,
    CodeBlock,
    NoteBlock,
    PromptBlock,
    ProseBlock,
    ShellBlock,
    ThinkingBlock,
)
from widgets.conversation.cards import BodyLine, body_lines
from widgets.conversation.wrap import wrap
from widgets.glyphs import Glyphs
from widgets.palette import Palette

if TYPE_CHECKING:
    from widgets.conversation.markdown_style import MarkdownPainter

PROSE_WIDTH = 100
"""Cells of prose at most (spec/look.md, Language)."""
MARGIN = 3
BRIEF_LINES = 12
LONGEST_BODY = 2_000
"""Lines of one block at most; the whole is a keystroke away in the editor."""
LONGEST_TEXT = 200_000
"""Characters of one block at most that are laid out."""
NAME_WIDTH = 6


class Renderer:
    """Draws blocks for one palette; `width` is the whole line."""

    def __init__(self, palette: Palette, glyphs: Glyphs) -> None:
        self._palette = palette
        self._glyphs = glyphs
        self._text = Style.parse(palette.text)
        self._muted = Style.parse(palette.muted)
        self._user = Style.parse(palette.user)
        self._tool = Style(color=palette.tool)
        self._tones = {
            "plain": self._text,
            "muted": self._muted,
            "warn": Style.parse(palette.warn),
            "error": Style.parse(palette.error),
            "accent": Style.parse(palette.accent),
            "added": Style.parse(palette.added),
            "removed": Style.parse(palette.removed),
        }

    @cached_property
    def _painter(self) -> MarkdownPainter:
        # Here and not at the top: rich's Markdown and the lexers take 45 ms to import, and the
        # first frame shows neither.
        from widgets.conversation.markdown_style import MarkdownPainter

        return MarkdownPainter(self._palette)

    def render(self, block: Block, width: int) -> list[Strip]:
        """The lines of a block, none wider than `width` cells; at least one."""
        width = max(width, 1)
        narrow = width <= MARGIN + 2
        lines = self._narrow(block, width) if narrow else self._lines(block, width)
        strips = [Strip(line).crop(0, width).simplify() for line in lines]
        return strips or [Strip.blank(0)]

    def _narrow(self, block: Block, width: int) -> list[list[Segment]]:
        text = getattr(block, "text", "") or getattr(block, "title", "") or ""
        return [[Segment(line, self._text)] for line in wrap(text[:1000], width, 50)]

    def _lines(self, block: Block, width: int) -> list[list[Segment]]:
        column = min(width - MARGIN - 1, PROSE_WIDTH)
        match block:
            case PromptBlock():
                return self._prompt(block, width, column)
            case ProseBlock():
                return self._indented(self._painter.prose(block.text[:LONGEST_TEXT], column))
            case CodeBlock():
                return self._code(block, column)
            case ThinkingBlock():
                return self._thinking(block, column)
            case CardBlock():
                return self._card(block, width)
            case ShellBlock():
                return self._shell(block, width)
            case AwayBlock():
                accent = self._tones["accent"]
                return away_lines(block, width, self._glyphs, self._text, accent, self._muted)
            case NoteBlock():
                style = self._tones[block.tone]
                return self._indented(
                    [[Segment(line, style)] for line in wrap(block.text, column, LONGEST_BODY)]
                )

    def _indented(self, lines: list[list[Segment]]) -> list[list[Segment]]:
        margin = Segment(" " * MARGIN)
        return [[margin, *line] for line in lines]

    def _prompt(self, block: PromptBlock, width: int, column: int) -> list[list[Segment]]:
        rail = Segment(f" {self._glyphs.rail} ", self._user)
        pictures = f"[{block.pictures} picture{'s' if block.pictures > 1 else ''}]"
        text = "\n".join(part for part in (block.text, pictures if block.pictures else "") if part)
        body = wrap(text[:LONGEST_TEXT], min(column, width - MARGIN - 8), LONGEST_BODY)
        lines = [[rail, Segment(line, self._text + Style(bold=True))] for line in body]
        if block.at and lines:
            used = MARGIN + cell_len(body[0])
            room = width - 1 - used - len(block.at)
            if room > 0:
                lines[0] += [Segment(" " * room), Segment(block.at, self._muted)]
        return lines

    def _code(self, block: CodeBlock, column: int) -> list[list[Segment]]:
        bar = Segment(f"{self._glyphs.bar} ", self._muted)
        text = block.text[:LONGEST_TEXT]
        lines = [[bar, *line] for line in self._painter.code(text, block.language, column - 2)]
        if block.language and not block.continues:
            lines.insert(0, [bar, Segment(block.language[:30], self._muted)])
        return self._indented(lines)

    def _thinking(self, block: ThinkingBlock, column: int) -> list[list[Segment]]:
        glyph = self._glyphs.open if block.fold == "full" else self._glyphs.folded
        words = len(block.text.split())
        name = "thinking" if block.live else "thought"
        style = self._muted + Style(italic=True)
        head = [Segment(f"{glyph} {name}  {words} words", style)]
        if block.fold != "full":
            return self._indented([head])
        body = wrap(block.text[:LONGEST_TEXT], column - 4, LONGEST_BODY)
        return self._indented([head, *([Segment("    "), Segment(line, style)] for line in body)])

    def _card(self, block: CardBlock, width: int) -> list[list[Segment]]:
        note = block.note
        mark, tone = self._mark(block)
        right = f"{mark} {note}".strip() if note else mark
        body = body_lines(block.name, block.arguments, block.details, block.output)
        is_open = block.fold != "folded" and bool(body)
        glyph = self._glyphs.open if is_open else self._glyphs.folded
        head = self._card_line(f"{glyph} ", block.name, block.title, right, tone, width)
        if not is_open:
            return [head]
        failed = block.state in {"error", "denied"}
        shown = body if block.fold == "full" else _brief(body, tail=block.state == "running")
        return [head, *self._body(shown, width, failed=failed)]

    def _card_line(
        self, lead: str, name: str, title: str, right: str, tone: Style, width: int
    ) -> list[Segment]:
        label = name if len(name) >= NAME_WIDTH else name.ljust(NAME_WIDTH)
        used = MARGIN + cell_len(lead) + cell_len(label) + 1
        room = width - used - cell_len(right) - 3
        shown = set_cell_size(title, max(room, 0)) if cell_len(title) > room else title
        if cell_len(title) > room and room > 1:
            shown = set_cell_size(title, room - 1) + self._glyphs.more
        gap = max(width - 1 - used - cell_len(shown) - cell_len(right), 1)
        return [
            Segment(" " * MARGIN),
            Segment(lead, self._muted),
            Segment(label, self._tool),
            Segment(" "),
            Segment(shown, self._text),
            Segment(" " * gap),
            Segment(right, tone),
        ]

    def _mark(self, block: CardBlock) -> tuple[str, Style]:
        marks = {
            "queued": ("waiting", self._muted),
            "asking": ("asks", self._tones["warn"]),
            "running": (f"running {self._glyphs.more}", self._tones["accent"]),
            "error": (f"{self._glyphs.bad} failed", self._tones["error"]),
            "denied": (f"{self._glyphs.bad} not allowed", self._tones["warn"]),
            "ok": (self._glyphs.good if block.name == "Bash" else "", self._muted),
        }
        return marks[block.state]

    def _body(self, body: list[BodyLine], width: int, *, failed: bool) -> list[list[Segment]]:
        numbers = [line.number for line in body if line.number is not None]
        digits = len(str(max(numbers))) if numbers else 0
        indent = MARGIN + 4
        column = max(width - indent - (digits + 1 if digits else 0) - 1, 1)
        lines: list[list[Segment]] = []
        for line in body:
            style = (
                self._tones["error"] if failed and line.tone == "plain" else self._tones[line.tone]
            )
            number = "" if line.number is None else str(line.number)
            for part_number, part in enumerate(wrap(line.text, column, LONGEST_BODY)):
                gutter = (number if part_number == 0 else "").rjust(digits)
                lead = [Segment(gutter + " ", self._muted)] if digits else []
                lines.append([Segment(" " * indent), *lead, Segment(part, style)])
            if len(lines) >= LONGEST_BODY:
                note = f"{self._glyphs.more} the rest is not drawn; e opens all of it"
                lines.append([Segment(" " * indent), Segment(note, self._muted)])
                break
        return lines

    def _shell(self, block: ShellBlock, width: int) -> list[list[Segment]]:
        rail = Segment(f" {self._glyphs.rail} ", self._user)
        command = wrap(f"! {block.command}", max(width - MARGIN - 2, 1), 50)
        lines = [[rail, Segment(line, self._text + Style(bold=True))] for line in command]
        text = block.output.rstrip("\n")
        body = [BodyLine(line) for line in text.split("\n")] if text else []
        if block.running and not body:
            body = [BodyLine(f"running {self._glyphs.more}", "muted")]
        if block.fold == "folded":
            return lines
        shown = body if block.fold == "full" else _brief(body, tail=block.running)
        return lines + self._body(shown, width, failed=block.failed)


def _brief(body: list[BodyLine], *, tail: bool) -> list[BodyLine]:
    if len(body) <= BRIEF_LINES:
        return body
    hidden = len(body) - BRIEF_LINES + 1
    note = BodyLine(f"… {hidden} more lines (enter shows all)", "muted")
    if tail:
        return body[-BRIEF_LINES:]
    return [*body[: BRIEF_LINES - 1], note]


def estimated_height(block: Block, width: int) -> int:
    """Lines a block will probably take, without drawing it."""
    column = max(min(width - MARGIN - 1, PROSE_WIDTH), 1)
    text = block.text if isinstance(block, PromptBlock | ProseBlock | CodeBlock | NoteBlock) else ""
    if text:
        text = text[:LONGEST_TEXT]
        return min(1 + text.count("\n") + len(text) // column, LONGEST_BODY)
    if isinstance(block, CardBlock) and block.fold != "folded":
        return min(1 + block.output.count("\n") + (1 if block.output else 0), BRIEF_LINES + 1)
    return 1
