"""Steps over whole visible characters, whatever code points they are made of."""

from __future__ import annotations

from rich.cells import split_graphemes
from textual.geometry import Offset
from textual.widgets import TextArea

Location = tuple[int, int]


def before(line: str, column: int) -> int:
    """Where the visible character that ends at or around `column` begins."""
    if column <= 0:
        return 0
    if line[:column].isascii():
        return column - 1
    starts = [start for start, _, _ in _visible(line) if start < column]
    return starts[-1] if starts else 0


def after(line: str, column: int) -> int:
    """Where the visible character that begins at or around `column` ends."""
    if column >= len(line):
        return len(line)
    if line[column : column + 2].isascii():
        return column + 1
    return next((end for _, end, _ in _visible(line) if end > column), len(line))


def _visible(line: str) -> list[tuple[int, int, int]]:
    """Spans of graphemes; what has no width of its own belongs to the one before it."""
    spans: list[tuple[int, int, int]] = []
    for start, end, cells in split_graphemes(line)[0]:
        if spans and (
            cells == 0 or line[start] in "\u200d\ufe0f" or _ends_flag(line, spans[-1], start)
        ):
            spans[-1] = (spans[-1][0], end, spans[-1][2] + cells)
        else:
            spans.append((start, end, cells))
    return spans


def _ends_flag(line: str, before: tuple[int, int, int], start: int) -> bool:
    """Whether a letter of a flag is the second of its pair."""
    first = line[before[0] : before[1]]
    return len(first) == 1 and _is_flag_letter(first) and _is_flag_letter(line[start])


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


class GraphemeArea(TextArea):
    """A text area whose cursor steps over whole visible characters."""

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """As in Textual, but for the moment in which what was undone has taken the cursor's line
        away and the cursor has not moved yet.
        """
        if self.cursor_location[0] >= self.document.line_count:
            return Offset()
        return super().scroll_cursor_visible(center, animate)

    def get_cursor_left_location(self) -> Location:
        row, column = self.cursor_location
        if column == 0:
            return super().get_cursor_left_location()
        return row, before(self.document.get_line(row), column)

    def get_cursor_right_location(self) -> Location:
        row, column = self.cursor_location
        line = self.document.get_line(row)
        if column >= len(line):
            return super().get_cursor_right_location()
        return row, after(line, column)
