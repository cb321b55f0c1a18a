from __future__ import annotations

from app.memory.merge import merge
from app.memory.pages import Merged

BASE = "one\ntwo\nthree\nfour\nfive\n"


def test_changes_in_different_places_come_together() -> None:
    mine, theirs = BASE.replace("one", "ONE"), BASE.replace("five", "FIVE")
    assert merge(BASE, mine, theirs) == Merged("ONE\ntwo\nthree\nfour\nFIVE\n", 0)


def test_the_same_change_on_both_sides_is_no_conflict() -> None:
    both = BASE.replace("two", "2")
    assert merge(BASE, both, both) == Merged(both, 0)


def test_changes_of_the_same_line_stand_between_marks() -> None:
    merged = merge(BASE, BASE.replace("two", "2"), BASE.replace("two", "II"))
    marks = "<<<<<<< mine\n2\n=======\nII\n>>>>>>> theirs\n"
    assert merged == Merged(f"one\n{marks}three\nfour\nfive\n", 1)


def test_marks_take_the_line_ends_of_the_text() -> None:
    merged = merge("a\r\n", "b\r\n", "c\r\n")
    assert merged.text == "<<<<<<< mine\r\nb\r\n=======\r\nc\r\n>>>>>>> theirs\r\n"


def test_a_last_line_without_an_end_gets_one_before_a_mark() -> None:
    merged = merge("a", "b", "c")
    assert merged.text == "<<<<<<< mine\nb\n=======\nc\n>>>>>>> theirs\n"
    assert merge("a\nb", "A\nb", "a\nb").text == "A\nb"


def test_a_text_that_was_deleted_against_one_that_was_changed_is_a_conflict() -> None:
    assert merge("a\n", "", "b\n").conflicts == 1
    assert merge("", "mine\n", "theirs\n").conflicts == 1
    assert merge("", "", "") == Merged("", 0)
