"""Markdown and code drawn in the theme's colours, by rich."""

from __future__ import annotations

import io
from typing import ClassVar

from markdown_it import MarkdownIt
from rich.console import Console
from rich.markdown import Heading, Markdown, MarkdownElement
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax, SyntaxTheme
from rich.text import Text
from rich.theme import Theme

from widgets.palette import Palette

_PARSER = MarkdownIt("commonmark", {"html": False}).enable("strikethrough").enable("table")


class _PlainHeading(Heading):
    """A heading at the left margin, its level told by its `#`s."""

    def __rich_console__(self, console: Console, options: object):
        text = self.text
        text.justify = "left"
        marks = "#" * int(self.tag.removeprefix("h"))
        yield Text.assemble((f"{marks} ", "markdown.mark"), text)


class _OurMarkdown(Markdown):
    """Markdown whose HTML is shown as text and whose links show where they lead."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _PlainHeading,
    }

    def __init__(self, text: str, code_theme: SyntaxTheme) -> None:
        super().__init__("", hyperlinks=False)
        self.markup = text
        self.parsed = _PARSER.parse(text)
        self.code_theme = code_theme  # pyright: ignore[reportAttributeAccessIssue] - rich hands it to Syntax, which takes both


class _CodeTheme(SyntaxTheme):
    """The few colours that code needs, from the palette."""

    def __init__(self, palette: Palette) -> None:
        self._colours = {
            "Token.Comment": (palette.muted, True),
            "Token.Keyword": (palette.user, False),
            "Token.Operator.Word": (palette.user, False),
            "Token.Literal.String": (palette.ok, False),
            "Token.Literal.Number": (palette.warn, False),
            "Token.Name.Function": (palette.accent, False),
            "Token.Name.Class": (palette.warn, False),
            "Token.Name.Decorator": (palette.warn, False),
            "Token.Name.Builtin": (palette.tool, False),
            "Token.Name.Tag": (palette.accent, False),
            "Token.Name.Attribute": (palette.tool, False),
            "Token.Generic.Deleted": (palette.removed, False),
            "Token.Generic.Inserted": (palette.added, False),
            "Token.Generic.Heading": (palette.accent, False),
        }
        self._text = Style.parse(palette.text)
        self._cache: dict[object, Style] = {}

    def get_style_for_token(self, token_type: object) -> Style:
        style = self._cache.get(token_type)
        if style is None:
            style = self._cache[token_type] = self._find(str(token_type))
        return style

    def _find(self, name: str) -> Style:
        while name:
            if name in self._colours:
                colour, italic = self._colours[name]
                return Style(color=colour, italic=italic or None)
            name = name.rpartition(".")[0]
        return self._text

    def get_background_style(self) -> Style:
        return Style.null()


class MarkdownPainter:
    """Renders prose and code to lines of segments for one palette."""

    def __init__(self, palette: Palette) -> None:
        self._code_theme = _CodeTheme(palette)
        self._console = Console(
            file=io.StringIO(),
            force_terminal=True,
            color_system="truecolor",
            theme=_theme(palette),
            legacy_windows=False,
            highlight=False,
            markup=False,
            emoji=False,
            _environ={},
        )
        self._text = Style.parse(palette.text)

    def prose(self, text: str, width: int) -> list[list[Segment]]:
        """Markdown as lines at most `width` cells wide."""
        options = self._console.options.update(width=max(width, 1), height=None)
        markdown = _OurMarkdown(text, self._code_theme)
        lines = self._console.render_lines(markdown, options, style=self._text, pad=False)
        return _trimmed([_unlinked(line) for line in lines])

    def code(self, text: str, language: str, width: int) -> list[list[Segment]]:
        """Lines of code, wrapped at `width` cells."""
        options = self._console.options.update(width=max(width, 1), height=None)
        syntax = Syntax(
            text, language or "text", theme=self._code_theme, word_wrap=True, tab_size=4
        )
        return [_unlinked(line) for line in self._console.render_lines(syntax, options, pad=False)]


def _unlinked(line: list[Segment]) -> list[Segment]:
    """Text and style alone: no control segments, no padding at the end."""
    kept = [Segment(s.text, s.style) for s in line if not s.control and s.text]
    while kept and not kept[-1].text.strip() and not (kept[-1].style and kept[-1].style.bgcolor):
        kept.pop()
    if kept and kept[-1].text.endswith(" "):
        kept[-1] = Segment(kept[-1].text.rstrip(" "), kept[-1].style)
    return kept


def _trimmed(lines: list[list[Segment]]) -> list[list[Segment]]:
    def is_blank(line: list[Segment]) -> bool:
        return not any(segment.text.strip() for segment in line)

    start, end = 0, len(lines)
    while start < end and is_blank(lines[start]):
        start += 1
    while end > start and is_blank(lines[end - 1]):
        end -= 1
    return lines[start:end]


def _theme(palette: Palette) -> Theme:
    return Theme(
        {
            "markdown.mark": Style(color=palette.muted),
            "markdown.paragraph": Style(),
            "markdown.text": Style(),
            "markdown.emph": Style(italic=True),
            "markdown.em": Style(italic=True),
            "markdown.strong": Style(bold=True),
            "markdown.s": Style(strike=True),
            "markdown.code": Style(color=palette.tool),
            "markdown.code_inline": Style(color=palette.tool),
            "markdown.code_block": Style(color=palette.text),
            "markdown.block_quote": Style(color=palette.muted),
            "markdown.list": Style(),
            "markdown.item": Style(),
            "markdown.item.bullet": Style(color=palette.muted),
            "markdown.item.number": Style(color=palette.muted),
            "markdown.hr": Style(color=palette.muted),
            "markdown.link": Style(color=palette.accent, underline=True),
            "markdown.link_url": Style(color=palette.accent),
            "markdown.table.header": Style(bold=True),
            "markdown.table.border": Style(color=palette.muted),
            **{f"markdown.h{n}": Style(bold=True, color=palette.accent) for n in range(1, 7)},
            "markdown.h1.border": Style(),
        }
    )
