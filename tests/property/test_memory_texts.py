"""Laws of what the editor shows, and of merges."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from app.memory.edit_text import shown, stored
from app.memory.merge import merge
from app.plain_text import plain

TEXTS = st.text(st.characters(codec=None) | st.sampled_from("\n\r\t\x85\u2028\x1b\ufeff␍ab"))
LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n", "\n"]), max_size=12)


@given(TEXTS)
def test_what_is_shown_is_stored_as_it_was(text: str) -> None:
    seen, shape = shown(text)
    assert stored(seen, shape) == text
    assert plain(seen) == seen
    assert "\r" not in seen
    assert len(seen.splitlines()) == len(seen.removesuffix("\n").split("\n")) - (seen == "")


@given(TEXTS, st.text("xyz \n", max_size=5), st.integers(0, 40))
def test_what_is_typed_between_changes_nothing_else(text: str, typed: str, place: int) -> None:
    seen, shape = shown(text)
    place = min(place, len(seen))
    before, after = stored(seen[:place], shape), stored(seen[place:], shape)
    mark = "\ufeff" if shape.has_bom else ""
    added = typed.replace("\n", "\r\n") if shape.is_crlf else typed
    whole = stored(seen[:place] + typed + seen[place:], shape)
    assert whole == mark + before.removeprefix(mark) + added + after.removeprefix(mark)


@given(LINES, LINES)
def test_a_change_of_one_side_is_taken(base: list[str], side: list[str]) -> None:
    old, new = "".join(base), "".join(side)
    for mine, theirs in ((new, old), (old, new), (new, new)):
        merged = merge(old, mine, theirs)
        assert (merged.text, merged.conflicts) == (new, 0)


@given(LINES, LINES, LINES)
def test_no_line_that_a_side_has_added_is_lost(
    base: list[str], mine: list[str], theirs: list[str]
) -> None:
    merged = merge("".join(base), "".join(mine), "".join(theirs))
    lines = Counter(merged.text.splitlines(keepends=True))
    for side in (mine, theirs):
        assert not Counter(side) - Counter(base) - lines
    other = merge("".join(base), "".join(theirs), "".join(mine))
    assert merged.conflicts == other.conflicts


def test_conflicts_stand_between_marks_with_the_text_s_own_line_ends() -> None:
    merged = merge("a\r\nb\r\nc\r\n", "a\r\nmine\r\nc\r\n", "a\r\ntheirs\r\nc\r\n")
    assert merged.conflicts == 1
    assert merged.text == (
        "a\r\n<<<<<<< mine\r\nmine\r\n=======\r\ntheirs\r\n>>>>>>> theirs\r\nc\r\n"
    )
    assert merge("a", "b", "c").text == "<<<<<<< mine\nb\n=======\nc\n>>>>>>> theirs\n"
