from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len

from app.sessions.glance import SessionSummary
from app.sessions.search import Hit
from widgets.glyphs import ASCII, UNICODE, Glyphs
from widgets.sessions.rows import Row, columns_for, head_cells, row_cells, text_cells
from widgets.words import ago_in_words

FILE = Path("/p/00000001-0000-4000-8000-000000000000.jsonl")
SESSION = SessionSummary(
    FILE.stem, FILE, 123_456, 0, title="A title", first_prompt="How it began", status="complete"
)


def line(row: Row, width: int, glyphs: Glyphs = UNICODE) -> str:
    return "".join(text for text, _ in row_cells(row, width, 90.0, glyphs, chosen=False))


@pytest.mark.parametrize("width", [12, 20, 40, 60, 80, 99, 100, 120, 200])
@pytest.mark.parametrize("title", ["short", "日本語" * 40, "👍🏽" * 50, "x" * 300])
def test_a_row_is_as_wide_as_its_head_and_no_wider(width: int, title: str) -> None:
    row = Row(SessionSummary(FILE.stem, FILE, 1, 0, title=title, first_prompt=title * 2))
    head = "".join(text for text, _ in head_cells(width, "first prompt", "…"))
    assert cell_len(line(row, width)) == cell_len(head) <= max(width, 5)


def test_columns_drop_from_the_right() -> None:
    names = [[name for name, _ in columns_for(width)] for width in (20, 30, 45, 80)]
    assert names == [
        [],
        ["last"],
        ["last", "br.", "size"],
        ["last", "br.", "size", "cost", "status"],
    ]


def test_what_is_not_known_yet_is_not_told_as_nothing() -> None:
    assert line(Row(SESSION), 120).split()[-5:] == ["min", "…", "123.5k", "…", "complete"]
    exact = SessionSummary(FILE.stem, FILE, 1, 0, branches=2, is_exact=True)
    assert line(Row(exact), 120).split()[-4:] == ["2", "1", "$?", "unreadable"]
    assert line(Row(SESSION), 120, ASCII).isascii()


def test_the_words_that_were_found_stay_in_sight() -> None:
    snippet = "before " * 20 + "needle" + " after" * 20
    row = Row(SESSION, Hit(FILE.stem, FILE, "u", "tool", snippet, (140, 146)))
    cells = text_cells(row, 40, "…")
    assert [colour for _, colour in cells] == ["muted", "hit", "muted"]
    assert cells[1][0] == "needle"
    assert sum(cell_len(text) for text, _ in cells) == 40
    title = Row(SESSION, Hit(FILE.stem, FILE, "", "title", "A title", (0, 1)), folder="~/shop")
    assert text_cells(title, 30, "…") == [("~/shop  How it began".ljust(30), "muted")]


def test_how_long_ago() -> None:
    day = 86_400
    steps = (
        -5,
        0,
        59,
        60,
        3_599,
        3_600,
        day - 1,
        day,
        14 * day - 1,
        14 * day,
        700 * day,
        740 * day,
    )
    assert [ago_in_words(seconds) for seconds in steps] == [
        "now", "now", "now", "1 min", "59 min", "1 h", "23 h", "1 d", "13 d", "2 w", "100 w", "2 y",
    ]  # fmt: skip
