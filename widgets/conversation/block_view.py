"""Blocks drawn by line: a block is laid out once, whatever the length of the whole.

Heights of blocks that were never on screen are estimates; they are corrected when the blocks come
into sight, with what is on screen held still (ARCHITECTURE.md, The store).
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from widgets.conversation.blocks import Block, CardBlock, CodeBlock, ProseBlock
from widgets.conversation.line_map import LineMap
from widgets.conversation.render import Renderer, estimated_height
from widgets.looks import glyphs_of, palette_of

MOST_STRIPS = 3_000
"""Blocks whose lines are kept."""


class BlockView(ScrollView, can_focus=True):
    """A long column of blocks that follows its end unless it was scrolled up."""

    class Missed(Message):
        """How many blocks are new below what is on screen; 0 at the end."""

        def __init__(self, count: int) -> None:
            super().__init__()
            self.count = count

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self.blocks: list[Block] = []
        self.cursor: int | None = None
        self.following = True
        self._map = LineMap()
        self._strips: dict[int, list[Strip]] = {}
        self._renderer: Renderer | None = None
        self._seen = 0
        self._missed = 0
        self._holding = False
        self._base = Style.null()
        self._drawn: dict[int, tuple[Strip, Strip]] = {}
        """By line: the block's own strip, and what was made of it for the screen."""

    def on_mount(self) -> None:
        self._new_renderer()
        self.watch(self.app, "theme", self._theme_changed, init=False)

    def _new_renderer(self) -> None:
        self._renderer = Renderer(palette_of(self.app), glyphs_of(self.app))

    def _theme_changed(self) -> None:
        self._new_renderer()
        self._strips.clear()
        self.refresh()

    def reset_blocks(self) -> None:
        """All blocks are other ones: show their end."""
        self._map = LineMap()
        self._strips.clear()
        self.cursor = None
        self.following = True
        self._seen = len(self.blocks)
        self.blocks_changed(range(len(self.blocks)))

    def blocks_changed(self, indices: Iterable[int]) -> None:
        """Blocks changed: forget their lines, keep what is on screen where it is."""
        self._map.resize(len(self.blocks))
        width = self._width
        for index in indices:
            self._strips.pop(index, None)
            if index < len(self.blocks):
                height = self._gap(index) + estimated_height(self.blocks[index], width)
                self._map.set(index, height, exact=False)
        for index in [i for i in self._strips if i >= len(self.blocks)]:
            del self._strips[index]
        if self.cursor is not None and self.cursor >= len(self.blocks):
            self.cursor = len(self.blocks) - 1 if self.blocks else None
        self.settle()

    def blocks_prepended(self, count: int) -> None:
        """This many blocks were put in front: what is on screen stays where it is."""
        old_first = self._map.height(0) if len(self._map) else 0
        self._map.insert_front(count)
        self._strips = {index + count: strips for index, strips in self._strips.items()}
        self._seen += count
        if self.cursor is not None:
            self.cursor += count
        for index in range(count):
            height = self._gap(index) + estimated_height(self.blocks[index], self._width)
            self._map.set(index, height, exact=False)
        if count < len(self._map):
            kept = old_first - 1 + self._gap(count)  # the first block of all had one line above it
            self._map.set(count, kept, exact=self._map.is_exact(count))
            moved = self._map.start(count) + kept - old_first
            self._fix_size()
            self._holding = True
            self.scroll_to(y=self.scroll_y + moved, animate=False, immediate=True, force=True)
            self._holding = False
        self.settle()

    @property
    def _width(self) -> int:
        return max(self.scrollable_content_region.width, 1)

    @property
    def _page(self) -> int:
        return max(self.scrollable_content_region.height, 1)

    def settle(self) -> None:
        """Know the heights of what is in sight, then fix the size and the place."""
        if not self.is_attached or self.size.width == 0:
            return
        if self.following:
            self._measure_end()
        else:
            self._measure(round(self.scroll_y))
        self._fix_size()
        if self.following:
            self.scroll_to(y=self.max_scroll_y, animate=False, immediate=True, force=True)
            self._seen = len(self.blocks)
        self._count_missed()
        self.refresh()

    def _fix_size(self) -> None:
        size = Size(self._width, self._map.total)
        if self.virtual_size != size:
            # Without the layout that an assignment asks for: the widget itself keeps its size.
            self._holding = True
            self.set_reactive(ScrollView.virtual_size, size)  # pyright: ignore[reportArgumentType] - typed as its value
            self._scroll_update(size)
            self._holding = False

    def _measure_end(self) -> None:
        """Lay out the last blocks until they fill the page."""
        lines = 0
        for index in range(len(self.blocks) - 1, -1, -1):
            self._lay_out(index)
            lines += self._map.height(index)
            if lines >= self._page:
                break

    def _measure(self, top: int) -> None:
        """Lay out the blocks on the page that starts at a line."""
        index = self._map.locate(top)
        if index < 0:
            return
        while index < len(self.blocks) and self._map.start(index) < top + self._page:
            self._lay_out(index)
            index += 1

    def _lay_out(self, index: int) -> list[Strip]:
        strips = self._strips.get(index)
        if strips is None:
            if self._renderer is None:
                return []
            strips = self._renderer.render(self.blocks[index], self._width)
            if len(self._strips) >= MOST_STRIPS:
                for old in list(self._strips)[: MOST_STRIPS // 3]:
                    del self._strips[old]
            self._strips[index] = strips
            self._map.set(index, self._gap(index) + len(strips), exact=True)
        return strips

    def _gap(self, index: int) -> int:
        """Blank lines above a block."""
        if index == 0:
            return 1
        block, before = self.blocks[index], self.blocks[index - 1]
        if isinstance(block, CardBlock) and isinstance(before, CardBlock):
            return 0
        if isinstance(block, ProseBlock) and block.joined:
            return 0
        return 0 if isinstance(block, CodeBlock) and block.continues else 1

    # Scrolling

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        if not self._holding and self.is_attached and self.blocks:
            self._hold(round(old_value), round(new_value))
        super().watch_scroll_y(old_value, self.scroll_y)

    def _hold(self, old: int, new: int) -> None:
        """Lay out what comes into sight; when that moves the blocks on screen, move with them."""
        self.following = new >= self.max_scroll_y
        bottom = new + self._page - 1
        anchor = self._map.locate(bottom if new < old else new)
        before = self._map.start(anchor)
        self._measure(new)
        shift = self._map.start(anchor) - before
        self._fix_size()
        if new < self._page:
            self.near_start()
        if shift:
            self._holding = True
            self.set_reactive(ScrollView.scroll_y, max(new + shift, 0))
            self.scroll_target_y = self.scroll_y
            self._measure(round(self.scroll_y))
            self._fix_size()
            self._holding = False
        self._count_missed()

    def near_start(self) -> None:
        """The first page is in sight, or about to be."""

    def _count_missed(self) -> None:
        if self.following:
            self._seen = len(self.blocks)
        missed = max(len(self.blocks) - self._seen, 0)
        if missed != self._missed:
            self._missed = missed
            self.post_message(self.Missed(missed))

    def on_resize(self, event: events.Resize) -> None:
        top = self._map.locate(round(self.scroll_y))
        self._strips.clear()
        width = self._width
        for index, block in enumerate(self.blocks):
            self._map.set(index, self._gap(index) + estimated_height(block, width), exact=False)
        if not self.following and top >= 0:
            self._measure(self._map.start(top))
            self._fix_size()
            self.scroll_to(y=self._map.start(top), animate=False, immediate=True, force=True)
        self.settle()

    # Drawing

    def render_lines(self, crop: Region) -> list[Strip]:
        # Found once a paint: the property walks up all ancestors, which cost more than the lines.
        base = self.rich_style
        if base != self._base or len(self._drawn) > MOST_STRIPS:
            self._drawn.clear()
        self._base = base
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        line = self.scroll_offset.y + y
        index = self._map.locate(line)
        if index < 0 or line >= self._map.total:
            return self.empty_line(y) if not self.blocks else Strip.blank(width, self._base)
        inside = line - self._map.start(index) - self._gap(index)
        strips = self._lay_out(index)
        if not 0 <= inside < len(strips):
            return Strip.blank(width, self._base)
        source = strips[inside]
        plain = (index != self.cursor or not self.has_focus) and self.text_selection is None
        if plain and (known := self._drawn.get(line)) is not None and known[0] is source:
            return known[1]
        strip = source.extend_cell_length(width).crop(0, width)
        if index == self.cursor and self.has_focus:
            strip = strip.apply_style(Style(bgcolor=palette_of(self.app).raised))
        else:
            strip = strip.apply_style(self._base)
        strip = self._with_selection(strip, line).apply_offsets(0, line)
        if plain:
            self._drawn[line] = (source, strip)
        return strip

    def empty_line(self, y: int) -> Strip:
        """A row of the view while there is no block."""
        return Strip.blank(self.size.width, self._base)

    def _with_selection(self, strip: Strip, line: int) -> Strip:
        selection = self.text_selection
        span = None if selection is None else selection.get_span(line)
        if span is None:
            return strip
        style = self.screen.get_component_rich_style("screen--selection")
        start, end = span
        return Strip(_highlighted(list(strip), start, end, style), strip.cell_length)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        lines: list[str] = []
        last = self._map.total - 1
        first_line = 0 if selection.start is None else selection.start.y
        last_line = last if selection.end is None else min(selection.end.y, last)
        for line in range(first_line, last_line + 1):
            text = self._line_text(line)
            start, end = selection.get_span(line) or (0, -1)
            lines.append(text[start : None if end == -1 else end].rstrip())
        return "\n".join(lines), "\n"

    def _line_text(self, line: int) -> str:
        index = self._map.locate(line)
        if index < 0:
            return ""
        strips = self._lay_out(index)
        inside = line - self._map.start(index) - self._gap(index)
        return strips[inside].text if 0 <= inside < len(strips) else ""

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    # Places

    def show_block(self, index: int) -> None:
        """Scroll so that a block is in sight, its beginning first."""
        self._lay_out(index)
        start, height = self._map.start(index), self._map.height(index)
        top = round(self.scroll_y)
        if start < top:
            self._go(start)
        elif start + height > top + self._page:
            self._go(max(start + height - self._page, 0) if height <= self._page else start)
        self.refresh()

    def _go(self, line: int) -> None:
        self._fix_size()
        self.scroll_to(y=line, animate=False, immediate=True, force=True)

    def block_at(self, y: int) -> int:
        """The block on a row of the widget, -1 where there is none."""
        line = self.scroll_offset.y + y
        return self._map.locate(line) if line < self._map.total else -1

    def is_first_line(self, y: int, index: int) -> bool:
        """Whether a row of the widget shows the first line of a block."""
        return self.scroll_offset.y + y == self._map.start(index) + self._gap(index)

    def first_in_sight(self) -> int:
        """The block at the top of the page, -1 when there are none."""
        return self._map.locate(round(self.scroll_y))

    def ends_below(self, index: int) -> bool:
        """Whether a block goes on below the page."""
        end = self._map.start(index) + self._map.height(index)
        return end > round(self.scroll_y) + self._page


def _highlighted(segments: list[Segment], start: int, end: int, style: Style) -> list[Segment]:
    """The segments with one more style on the characters from `start` to `end` (-1: the rest)."""
    out: list[Segment] = []
    position = 0
    for text, old, _ in segments:
        stop = position + len(text)
        first = min(max(start - position, 0), len(text))
        last = len(text) if end == -1 else min(max(end - position, 0), len(text))
        if first >= last:
            out.append(Segment(text, old))
        else:
            marked = style if old is None else old + style
            parts = ((text[:first], old), (text[first:last], marked), (text[last:], old))
            out += [Segment(part, kind) for part, kind in parts if part]
        position = stop
    return out
