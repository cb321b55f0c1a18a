from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from textual.widgets.text_area import Document

from app.memory.edit_text import shown, stored
from app.memory.merge import merge
from app.plain_text import plain
from widgets.memory.finding import find_all, replaced
from widgets.memory.markdown_lines import OUTSIDE, spans, state_after

ODD = "\r\n\t\x00\x0b\x1b\x85\u2028\u202e\ufeff␍␛\ue000 ab"
TEXTS = st.text(st.characters(codec=None)) | st.text(ODD)
LINES = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=8)
MARKDOWN = st.lists(
    st.text("`~#*_[]()<>!-+. 1ax:/\t", max_size=20)
    | st.sampled_from(["---", "```", "~~~~", "```x"])
)


def as_text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


@given(TEXTS)
def test_what_the_editor_shows_is_stored_as_it_was(text: str) -> None:
    assert stored(*shown(text)) == text


@given(TEXTS)
def test_the_editor_gets_no_control_character_and_no_other_line_end(text: str) -> None:
    seen = shown(text)[0]
    assert plain(seen, show_colours=True) == seen
    assert Document(seen).text == seen


@given(LINES, LINES)
def test_a_change_of_one_side_is_taken_as_it_is(base: list[str], changed: list[str]) -> None:
    before, after = as_text(base), as_text(changed)
    assert merge(before, after, before) == merge(before, before, after)
    assert (merge(before, after, before).text, merge(before, after, before).conflicts) == (after, 0)


@given(LINES, LINES, LINES)
def test_no_line_that_was_added_is_lost(
    base: list[str], mine: list[str], theirs: list[str]
) -> None:
    merged = merge(as_text(base), as_text(mine), as_text(theirs))
    lines = Counter(merged.text.split("\n"))
    for side in (mine, theirs):
        assert Counter(side) - Counter(base) - lines == Counter()


@given(LINES, LINES, LINES)
def test_both_sides_see_as_many_conflicts(
    base: list[str], mine: list[str], theirs: list[str]
) -> None:
    before, one, other = as_text(base), as_text(mine), as_text(theirs)
    assert merge(before, one, other).conflicts == merge(before, other, one).conflicts


@given(MARKDOWN)
def test_colours_lie_within_their_line(lines: list[str]) -> None:
    state = OUTSIDE
    for row, line in enumerate(lines):
        after = state_after(state, line, row)
        assert all(0 <= start < end <= len(line) for start, end, _ in spans(line, state, after))
        state = after


@given(
    st.lists(st.text("aAbİß ", max_size=9), min_size=1), st.text("aAbİß", min_size=1, max_size=2)
)
def test_every_hit_is_replaced(lines: list[str], words: str) -> None:
    hits = find_all(lines, words)
    assert replaced(lines, words, "#").count("#") == len(hits)
