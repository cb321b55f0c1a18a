from __future__ import annotations

from pathlib import Path

import pytest

from app.memory.edit_text import Shape, shown, stored

CASE = Path(__file__).parents[2] / "data" / "cases" / "B27-editor-crlf-bom"


def read(folder: str, name: str) -> str:
    return (CASE / folder / name).read_bytes().decode("utf-8")


@pytest.mark.parametrize("name", ["bom.md", "crlf.md", "mixed.md"])
def test_one_word_changes_and_no_other_byte(name: str) -> None:
    text, shape = shown(read("in", name))
    assert stored(text, shape) == read("in", name)
    assert stored(text.replace("beta", "BETA"), shape) == read("want", name)


def test_a_plain_text_is_shown_as_it_is() -> None:
    assert shown("# a\n\n\t- ü\n") == ("# a\n\n\t- ü\n", Shape())
    assert shown("") == ("", Shape())


def test_new_lines_of_a_crlf_text_become_crlf() -> None:
    text, shape = shown("a\r\nb\r\n")
    assert text == "a\nb\n"
    assert stored("a\nnew\nb\n", shape) == "a\r\nnew\r\nb\r\n"


def test_a_text_with_both_line_ends_shows_the_rare_ones() -> None:
    text, shape = shown("a\r\nb\nc\rd")
    assert text == "a␍\nb\nc␍d"
    assert stored(text + "\n", shape) == "a\r\nb\nc\rd\n"


def test_only_the_first_mark_is_taken_off() -> None:
    text, shape = shown("\ufeff\ufeffa")
    assert (text, shape.has_bom) == ("\ufeffa", True)
    assert stored(text, shape) == "\ufeff\ufeffa"


def test_a_sign_that_the_text_holds_stands_for_itself() -> None:
    original = "␛ and \x1b, ␀ and \x00"
    text, shape = shown(original)
    assert "␛ and " in text and text.count("␛") == 1 and "\x1b" not in text
    assert stored(text, shape) == original


@pytest.mark.parametrize("hidden", [*"\x00\x07\x0b\x0c\x1b\x1c\x7f\x85\x9b\u2028\u202e\ud800"])
def test_what_ends_a_line_or_commands_the_terminal_is_not_shown(hidden: str) -> None:
    text, shape = shown(f"a{hidden}b\n")
    assert hidden not in text and len(text) == 4
    assert text.splitlines() == [text[:3]] and text[1].isprintable() != (text[1] >= "\ue000")
    assert stored(text, shape) == f"a{hidden}b\n"


def test_signs_differ_also_where_all_of_private_use_are_taken() -> None:
    original = "".join(map(chr, range(0xE000, 0xF900))) + "\x9b\u2028\u2029"
    text, shape = shown(original)
    assert len({sign for sign, _ in shape.stand_ins}) == 3
    assert stored(text, shape) == original
