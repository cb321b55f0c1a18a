from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from app.plain_text import plain
from widgets.conversation.line_map import LineMap
from widgets.conversation.wrap import wrap
from widgets.palette import PALETTES, contrast
from widgets.prompt import graphemes
from widgets.prompt.completion import Wanted, best_commands, best_paths, wanted_at
from widgets.prompt.pastes import Pastes
from widgets.words import cost_in_words, gauge, seconds_in_words, tokens_in_words

CASES = Path(__file__).parents[2] / "data" / "cases"
COLOURS = (
    "text",
    "muted",
    "accent",
    "user",
    "tool",
    "ok",
    "warn",
    "error",
    "added",
    "removed",
    "dream",
)


@pytest.mark.parametrize("name", PALETTES)
@pytest.mark.parametrize("behind", ["surface", "panel", "raised"])
def test_every_colour_is_readable(name: str, behind: str) -> None:
    palette = PALETTES[name]
    least = 7.0 if name == "ink" else 4.5
    for colour in COLOURS:
        assert contrast(getattr(palette, colour), getattr(palette, behind)) >= least, colour


@given(st.text(max_size=300), st.integers(1, 60))
def test_wrapped_lines_fit_and_hold_all_words(text: str, width: int) -> None:
    clean = plain(text)
    lines = wrap(clean, width, 10_000)
    if width >= 2:
        assert all(cell_len(line) <= width for line in lines)
    kept = "".join("".join(line.split()) for line in lines)
    assert kept == "".join(clean.split())


def test_a_very_long_text_is_cut_and_says_so() -> None:
    lines = wrap("x\n" * 100, 10, 20)
    assert len(lines) == 20
    assert "e opens all" in lines[-1]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9)), max_size=60))
def test_the_line_map_agrees_with_plain_sums(steps: list[tuple[int, int]]) -> None:
    lines = LineMap()
    heights: list[int] = []
    for wanted, height in steps:
        if wanted >= len(heights):
            heights.append(1)
            lines.resize(len(heights))
        index = min(wanted, len(heights) - 1)
        heights[index] = height
        lines.set(index, height, exact=True)
        assert lines.total == sum(heights)
        for line in range(sum(heights)):
            found = lines.locate(line)
            assert lines.start(found) <= line < lines.start(found) + heights[found]


@pytest.mark.parametrize(
    "line",
    (CASES / "B39-narrow-and-wide-graphemes" / "graphemes.txt").read_text("utf-8").split("\n"),
)
def test_the_cursor_never_parts_a_visible_character(line: str) -> None:
    column, stops = 0, [0]
    while column < len(line):
        column = graphemes.after(line, column)
        stops.append(column)
    assert stops[-1] == len(line)
    back = [len(line)]
    while back[-1] > 0:
        back.append(graphemes.before(line, back[-1]))
    assert back[::-1] == stops
    for stop in stops[1:-1]:
        assert line[stop] not in "\u200d\ufe0f"


@given(st.text(max_size=40))
def test_graphemes_step_over_any_text(line: str) -> None:
    column = 0
    while column < len(line):
        following = graphemes.after(line, column)
        assert following > column
        column = following


@pytest.mark.parametrize(
    ("text", "column", "want"),
    [
        ("/he", 3, Wanted("command", "he", 0)),
        ("/", 1, Wanted("command", "", 0)),
        ("say /he", 7, None),
        ("/usr/bin", 8, None),
        ("look at @src/ma", 15, Wanted("path", "src/ma", 8)),
        ("@", 1, Wanted("path", "", 0)),
        ("me@example", 10, None),
        ("@a b", 4, None),
    ],
)
def test_what_is_being_completed(text: str, column: int, want: Wanted | None) -> None:
    assert wanted_at(text, column, first_line=True) == want


def test_commands_complete_on_the_first_line_only() -> None:
    assert wanted_at("/he", 3, first_line=False) is None


def test_paths_rank_by_name_before_letters() -> None:
    paths = ["src/mainly/x.py", "src/main.py", "docs/m_a_i_n.md", "main.py"]
    assert [offer.text for offer in best_paths("main", paths)] == [
        "main.py", "src/main.py", "src/mainly/x.py", "docs/m_a_i_n.md",
    ]  # fmt: skip


def test_commands_that_begin_with_the_word_come_first() -> None:
    commands = [("demo", ""), ("mode", ""), ("model", "")]
    assert [offer.text for offer in best_commands("mo", commands)] == ["mode", "model", "demo"]


def test_large_pastes_are_sent_whole() -> None:
    pastes = Pastes()
    text = "\n".join(f"line {n}" for n in range(50))
    chip = pastes.fold(text)
    assert "\n" not in chip and "50 lines" in chip
    assert pastes.unfold(f"see {chip} end") == f"see {text} end"
    assert pastes.fold("short") == "short"
    assert pastes.unfold("[pasted #9, 3 lines]") == "[pasted #9, 3 lines]"


def test_numbers_in_words() -> None:
    assert [tokens_in_words(n) for n in (840, 12_400, 1_200_000)] == ["840", "12.4k", "1.2M"]
    assert [cost_in_words(c) for c in (None, 0.0, 0.31, 0.0004)] == [
        "$?",
        "$0.00",
        "$0.31",
        "$0.0004",
    ]
    assert [seconds_in_words(s) for s in (7, 252, 3723)] == ["7 s", "4:12", "1:02:03"]
    assert gauge(0.38, "#", ".") == "###....."
    assert gauge(0.001, "#", ".") == "#......."


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("a\x9bb", "a<9b>b"),
        ("a\u202eb", "a<202e>b"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("tab\tkept", "tab\tkept"),
        ("\ud83d", "\ufffd"),
        ("\x00\x7f", "␀␡"),
        ("日本語 🙂", "日本語 🙂"),
    ],
)
def test_untrusted_text_is_shown_and_never_sent(raw: str, shown: str) -> None:
    assert plain(raw) == shown


def test_markup_stays_text() -> None:
    file = CASES / "B36-markup-in-untrusted-text" / "strings.jsonl"
    for line in file.read_text("utf-8").splitlines():
        text = json.loads(line)["s"]
        assert plain(text) == text


def test_a_flag_is_one_character() -> None:
    line = "\U0001f1eb\U0001f1f7\U0001f1e9\U0001f1ea"
    assert [graphemes.before(line, column) for column in (4, 2)] == [2, 0]
    assert [graphemes.after(line, column) for column in (0, 2)] == [2, 4]
