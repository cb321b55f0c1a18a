"""The rows of a dream's changes: laid out once for a width, marked when they are drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from app.background.dream.record import Dream, DreamStatus, FileState
from app.plain_text import plain_line
from widgets.cells import Cell, cut_cells
from widgets.dreams.diff import FileDiff, Hunk, NumberedLine, file_in_words, first_line
from widgets.dreams.dream_rows import count_in_words, head_lines
from widgets.dreams.review import Review
from widgets.glyphs import Glyphs
from widgets.tasks.words import wrapped

MOST_ROWS: Final = 5_000
"""Rows of one document that are drawn."""
MOST_EVIDENCE: Final = 20
"""Of one document; the rest is counted."""
MARKS: Final = {"all": "[x] ", "some": "[-] ", "none": "[ ] "}
STATES: Final[dict[FileState, Cell]] = {
    "staged": ("not published", "muted"),
    "published": ("published", "ok"),
    "conflict": ("conflict", "warn"),
    "refused": ("refused", "muted"),
    "reverted": ("taken back", "muted"),
}

CONFLICT: Final = "Left as it is: somebody changed the memory since the dream read it."


class Row(Struct, frozen=True):
    """One row; `hunk` and `file` are the numbers of what it belongs to, -1 for none."""

    cells: Sequence[Cell]
    file: int = -1
    hunk: int = -1
    is_head: bool = False
    """Whether a mark stands in front of it."""


def rows_of(
    dream: Dream, diffs: Sequence[FileDiff], width: int, now: datetime, glyphs: Glyphs
) -> list[Row]:
    """Everything that is told of a dream, each row at most `width` cells."""
    rows = [Row(line) for line in head_lines(dream, width, now, glyphs)]
    for number, diff in enumerate(diffs):
        rows.append(Row((), number - 1))
        rows += _file_rows(number, diff, dream.status, width, glyphs)
    return rows


def _file_rows(
    number: int, diff: FileDiff, status: DreamStatus, width: int, glyphs: Glyphs
) -> list[Row]:
    state, colour = STATES[diff.file.state]
    if diff.file.state == "staged" and status == "held":
        state = ""
    counts = f"  {file_in_words(diff)}  "
    room = max(width - len(counts) - len(state or "[x]  refused") - 6, 8)
    name = cut_cells(plain_line(diff.file.name), room, glyphs.more)
    head = [(name, "accent"), (counts, "muted"), (state, colour)]
    rows = [Row(head, number, is_head=True)]
    if diff.file.state == "conflict":
        rows += [Row([(f"    {line}", colour)], number) for line in wrapped(CONFLICT, width - 4)]
    for words in _evidence(diff):
        rows += [Row([(f"    {line}", "muted")], number) for line in wrapped(words, width - 4)]
    if not diff.hunks:
        rows.append(Row([("    no line is changed", "muted")], number))
    digits = len(str(max((line[0] for hunk in diff.hunks for line in _all(hunk)), default=1)))
    for index, hunk in enumerate(diff.hunks):
        if len(rows) >= MOST_ROWS:
            rest = count_in_words(len(diff.hunks) - index, "more hunk")
            said = f"{rest} not drawn; a copy has all."
            if status == "held":
                said += " They are accepted unless the whole file is refused."
            rows += [Row([(f"    {line}", "warn")], number) for line in wrapped(said, width - 4)]
            break
        rows += _hunk_rows(number, index, diff, hunk, width, digits)
    return rows


def _evidence(diff: FileDiff) -> list[str]:
    known = diff.file.evidence
    lines = [f"seen in: {plain_line(words)}" for words in known[:MOST_EVIDENCE]]
    rest = len(known) - MOST_EVIDENCE
    return [*lines, f"seen in: {rest} more places"] if rest > 0 else lines


def _all(hunk: Hunk) -> Iterator[NumberedLine]:
    for lines in (hunk.above, hunk.old, hunk.new, hunk.below):
        yield from lines[-1:]


def _hunk_rows(
    number: int, index: int, diff: FileDiff, hunk: Hunk, width: int, digits: int
) -> list[Row]:
    title = f"hunk {index + 1} of {len(diff.hunks)}, line {first_line(hunk)}"
    rows = [Row([(title, "text")], number, index, is_head=True)]
    for lines, sign, colour in (
        (hunk.above, " ", "muted"),
        (hunk.old, "−", "removed"),
        (hunk.new, "+", "added"),
        (hunk.below, " ", "muted"),
    ):
        for at, text in lines:
            for position, part in enumerate(wrapped(text, width - digits - 7)):
                lead = f"    {at if position == 0 else '':>{digits}} "
                cells: list[Cell] = [(lead, "muted"), (f"{sign} {part}", colour)]
                rows.append(Row(cells, number, index))
                if len(rows) > MOST_ROWS:
                    rows.append(Row([("    the rest of this hunk is not drawn", "warn")], number))
                    return rows
    return rows


def marked(
    row: Row, diffs: Sequence[FileDiff], review: Review | None, cursor: str
) -> Sequence[Cell]:
    """The cells of a row as they are drawn; `review` is None where nothing is to be decided.

    `cursor` is the sign of the row that the keys act on, else a space.
    """
    if not row.is_head:
        first, *rest = row.cells or [("  ", "muted")]
        return [(cursor, "accent"), (first[0][1:], first[1]), *rest]
    mark, said = "", ""
    if review is not None:
        diff = diffs[row.file]
        is_refused = (diff.file.name, row.hunk) in review.refused
        share = review.share(diff) if row.hunk < 0 else "none" if is_refused else "all"
        mark, said = MARKS[share], "refused" if share == "none" else ""
    lead = "   " if row.hunk >= 0 else " "
    said = f"  {said}" if said and row.hunk >= 0 else said
    return [(cursor, "accent"), (f"{lead}{mark}", "text"), *row.cells, (said, "warn")]
