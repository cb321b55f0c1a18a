"""The editor's wrapped document agrees with Textual's own, whatever is typed where."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from textual.geometry import Offset
from textual.widgets.text_area import Document, WrappedDocument

from widgets.memory.wrapped import QuickWrapped

TEXTS = st.text(st.sampled_from("ab \t\n字é👍"), max_size=60)
PLACES = st.integers(0, 70)


def place(document: Document, at: int) -> tuple[int, int]:
    for row, line in enumerate(document.lines):
        if at <= len(line):
            return row, at
        at -= len(line) + 1
    return document.end


def agrees(quick: WrappedDocument, own: WrappedDocument) -> None:
    assert quick.height == own.height
    for y in range(own.height + 2):
        for x in (0, 3, 9):
            at = Offset(x, y)
            assert quick.offset_to_location(at) == own.offset_to_location(at)
    for row, line in enumerate(own.document.lines):
        assert list(quick.get_offsets(row)) == own.get_offsets(row)
        assert list(quick.get_tab_widths(row)) == own.get_tab_widths(row)
        assert quick.get_sections(row) == own.get_sections(row)
        for column in range(len(line) + 1):
            where = (row, column)
            assert quick.location_to_offset(where) == own.location_to_offset(where)


@given(TEXTS, st.integers(0, 12), st.lists(st.tuples(PLACES, PLACES, TEXTS), max_size=4))
def test_wrapped_as_textual_wraps(text: str, width: int, edits: list[tuple[int, int, str]]) -> None:
    document = Document(text)
    quick, own = QuickWrapped(document), WrappedDocument(document)
    for each in (quick, own):
        each.wrap(width, 4)
    agrees(quick, own)
    for first, second, words in edits:
        start, end = sorted((place(document, first), place(document, second)))
        new_end = document.replace_range(start, end, words).end_location
        for each in (quick, own):
            each.wrap_range(start, end, new_end)
        agrees(quick, own)
