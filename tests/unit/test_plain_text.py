from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.plain_text import cut, laid_bare, plain, plain_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("grüße 東京 👩‍👩‍👧", "grüße 東京 👩‍👩‍👧"),
        ("a\r\nb\rc\u0085d", "a\nb\nc\nd"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("\x00\x7f\x9b31m", "␀␡<9b>31m"),
        ("abc\u202edef", "abc<202e>def"),
        ("half \ud83d", "half \ufffd"),
    ],
)
def test_control_characters_are_shown(text: str, shown: str) -> None:
    assert plain(text) == shown


@given(st.text())
def test_nothing_reaches_the_terminal_but_text(text: str) -> None:
    for letter in plain_line(text):
        assert unicodedata.category(letter) not in {"Cc", "Cs", "Zl", "Zp"}


def test_what_a_person_decides_on_has_nothing_out_of_sight() -> None:
    assert laid_bare("pass\u200bword \U000e0041\ufeff") == "pass<200b>word <e0041><feff>"
    assert laid_bare("\x1b[4111m\u00ad") == "␛[4111m<ad>"
    assert laid_bare("grüße 東京") == "grüße 東京"


@given(st.text())
def test_laid_bare_text_has_no_character_without_a_shape(text: str) -> None:
    for letter in laid_bare(text):
        assert letter in "\n\t" or unicodedata.category(letter) not in {"Cc", "Cs", "Cf"}


def test_lines_and_cuts() -> None:
    assert plain_line("a\n\tb") == "a  b"
    assert cut("abcdef", 4) == "abc…"
    assert cut("abc", 3) == "abc"
    assert cut("abc", 0) == "…"
