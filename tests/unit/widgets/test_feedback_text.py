"""A draft as a text to be edited, and what would leave as rows: nothing of either gets lost."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from app.background.feedback.drafts import Draft
from app.plain_text import encodable, laid_bare, plain
from widgets.feedback.preview_rows import Row, raw_rows, text_rows
from widgets.feedback.report_text import composed, parts_of

MARK = "[redacted: e-mail address]"
ODD = st.sampled_from([
    "\n", "\r\n", "\r", "\t", "--- evidence ---", "---- evidence ----", "a", " ", "\x0b", "\x85",
    "\u2028", "\ufeff", "\x1b[31m", "␛", "\u202e", "e\u0301", "漢字", "👩🏽\u200d💻", "🇩🇪",
    '"', "\\", MARK, "[redacted: ", "]", "\u200d", "\u0301", "\u00a0",
])  # fmt: skip
TEXTS = st.text(max_size=40).map(encodable) | st.lists(ODD, max_size=12).map("".join)
VALUES = st.recursive(
    TEXTS | st.none() | st.booleans() | st.integers(-9, 9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def draft(title: str = "T", body: str = "B", evidence: str = "") -> Draft:
    created = "2026-11-02T09:00:00.000Z"
    return Draft(id="fb-1", created=created, title=title, body=body, evidence=evidence)


def joined(row: Row) -> str:
    return "".join(text for text, _ in row)


def marked(rows: list[Row]) -> str:
    return "".join(text for row in rows for text, colour in row if colour == "removed")


@given(TEXTS, TEXTS, TEXTS)
def test_an_unedited_text_gives_back_the_draft(title: str, body: str, evidence: str) -> None:
    report = composed(draft(title=title, body=body, evidence=evidence))
    assert parts_of(report.text, report) == (" ".join(title.splitlines()), body, evidence)
    assert plain(report.text, show_colours=True) == report.text


@given(TEXTS, TEXTS)
def test_what_is_typed_at_either_end_changes_only_that_part(body: str, evidence: str) -> None:
    report = composed(draft(body=f"{body}b", evidence=f"{evidence}e"))
    found = parts_of(f"x{report.text}y", report)
    assert found == ("xT", f"{body}b", f"{evidence}ey")


@pytest.mark.parametrize(
    "text,parts",
    [
        ("", ("", "", "")),
        ("title", ("title", "", "")),
        ("title\nbody", ("title", "body", "")),
        ("title\n\n\nbody\n", ("title", "\nbody\n", "")),
        ("title\n\n--- evidence ---\n\ne", ("title", "", "e")),
        (
            "title\n\nb\n\n--- evidence ---\ne\n--- evidence ---",
            ("title", "b", "e\n--- evidence ---"),
        ),
        ("title\n\nb\n\n --- evidence ---", ("title", "b\n\n --- evidence ---", "")),
    ],
)
def test_an_edited_text_is_parted(text: str, parts: tuple[str, str, str]) -> None:
    report = composed(draft(evidence="e"))
    assert parts_of(text, report) == parts


def test_the_parts_of_a_report_stand_apart() -> None:
    assert composed(draft(evidence="E")).text == "T\n\nB\n\n--- evidence ---\n\nE"
    assert composed(draft()).text == "T\n\nB"
    assert composed(draft(body="")).text == "T"
    report = composed(draft(body="--- evidence ---", evidence="E"))
    assert report.line == "---- evidence ----"
    assert composed(draft(body="a\r\nb")).text == "T\n\na\nb"


@given(TEXTS, st.integers(2, 60))
def test_the_raw_rows_are_the_whole_text(text: str, width: int) -> None:
    data = msgspec.json.encode({"title": text, "body": "x"})
    rows = raw_rows(data, width)
    whole = laid_bare(data.decode())
    assert "".join(map(joined, rows)) == whole
    assert all(cell_len(joined(row)) <= width for row in rows)


@given(st.binary(max_size=60), st.integers(2, 20))
def test_bytes_that_are_no_text_are_shown_all_the_same(data: bytes, width: int) -> None:
    rows = raw_rows(data, width)
    shown = "".join(map(joined, rows))
    assert shown == laid_bare(data.decode("utf-8", "replace"))
    assert not {"\x1b", "\x07", "\r"} & set(shown)


@pytest.mark.parametrize("width", [2, 7, 26, 40, 200])
@pytest.mark.parametrize("before", ["", "ab ", "漢字", "👍🏽"])
def test_what_was_struck_out_is_told_apart_in_the_bytes(before: str, width: int) -> None:
    data = json.dumps(f"{before}{MARK} and {MARK}{MARK}.", ensure_ascii=False).encode()
    rows = raw_rows(data, width)
    assert marked(rows) == MARK * 3
    assert "".join(map(joined, rows)).encode() == data


@pytest.mark.parametrize("text", ["[redacted: Not one]", "[redacted: ]", "redacted: token"])
def test_what_only_looks_like_a_mark_is_text(text: str) -> None:
    assert not marked(raw_rows(json.dumps(text).encode(), 40))
    assert not marked(text_rows(json.dumps(text).encode(), 40))


@given(VALUES, st.integers(8, 60))
def test_no_row_of_the_text_is_wider_than_there_is_room(value: object, width: int) -> None:
    rows = text_rows(msgspec.json.encode(value), width)
    for row in rows:
        assert cell_len(joined(row)) <= width
        assert not {"\x1b", "\r", "\n", "\u202e"} & set(joined(row))


@given(VALUES, st.integers(8, 60))
def test_every_visible_character_of_the_texts_is_in_the_rows(value: object, width: int) -> None:
    shown = "".join("".join(joined(row)) for row in text_rows(msgspec.json.encode(value), width))
    for text in strings(value):
        words = "".join(laid_bare(text).replace("\u00a0", " ").split())
        assert words in "".join(shown.replace("\u00a0", " ").split())


def strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [each for pair in value.items() for part in pair for each in strings(part)]
    if isinstance(value, list):
        return [each for part in value for each in strings(part)]
    return []


def test_the_text_names_its_parts_and_keeps_its_lines() -> None:
    report = {
        "id": "fb-1",
        "body": f"one\n\n{MARK}",
        "client": {"name": "reverie", "empty": {}},
        "messages": [{"number": 1, "content": [{"text": "hello", "is_error": False}]}],
    }
    rows = text_rows(json.dumps(report).encode(), 40)
    assert [joined(row) for row in rows] == [
        "id  fb-1", "body", "  one", "  ", f"  {MARK}", "client", "  name  reverie",
        "  empty  {}", "messages", "  1", "    number  1", "    content", "      1",
        "        text  hello", "        is_error  false",
    ]  # fmt: skip
    assert marked(rows) == MARK
    narrow = text_rows(json.dumps({"body": f"so long a word {MARK} ends"}).encode(), 30)
    assert marked(narrow) == MARK
