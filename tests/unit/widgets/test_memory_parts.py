from __future__ import annotations

from datetime import UTC, datetime

import pytest
from rich.cells import cell_len

from app.memory.pages import Found, PastVersion
from app.state.model import Memory, MemoryDocument
from widgets.conversation.blocks import CodeBlock, NoteBlock, ProseBlock
from widgets.glyphs import ASCII, UNICODE
from widgets.memory.around import gauge_words, head, left_out, left_out_by_size
from widgets.memory.finding import find_all, next_hit, replaced
from widgets.memory.markdown_lines import FRONT, OUTSIDE, spans, state_after
from widgets.memory.preview import MORE, render, render_around
from widgets.memory.rows import (
    document_rows,
    hit_cells,
    moment_in_words,
    row_cells,
    size_in_words,
    version_cells,
)

NOW = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)


def kinds(line: str, before: str = OUTSIDE, after: str = OUTSIDE) -> list[tuple[str, str]]:
    return [(line[start:end], kind) for start, end, kind in spans(line, before, after)]


@pytest.mark.parametrize(
    ("line", "want"),
    [
        ("plain words", []),
        ("## A heading", [("## A heading", "heading")]),
        ("#no heading", []),
        ("---", [("---", "mark")]),
        ("> quoted", [("> quoted", "quote")]),
        ("- an item", [("-", "mark")]),
        ("  12. an item", [("  12.", "mark")]),
        ("- [ ] to do", [("- [ ]", "mark")]),
        ("a **b** and *c*", [("**b**", "strong"), ("*c*", "emphasis")]),
        ("snake_case_name", []),
        ("a `**code**` b", [("`**code**`", "code")]),
        ("[t](x.md)", [("[t]", "link"), ("(x.md)", "address")]),
        ("see https://a.example/b.", [("https://a.example/b.", "address")]),
        ("x" * 5_000 + " **b**", []),
    ],
)
def test_a_line_is_coloured_by_what_it_is(line: str, want: list[tuple[str, str]]) -> None:
    assert kinds(line) == want


def test_a_fence_ends_only_with_its_own_mark() -> None:
    states = [OUTSIDE]
    for row, line in enumerate(["a", "````md", "```", "~~~", "`````", "b"]):
        states.append(state_after(states[-1], line, row))
    assert states == [OUTSIDE, OUTSIDE, "````", "````", "````", OUTSIDE, OUTSIDE]
    assert kinds("# no heading", "```", "```") == [("# no heading", "code")]
    assert state_after(OUTSIDE, "``` and ` in one line", 3) == OUTSIDE


def test_front_matter_is_at_the_top_and_short() -> None:
    assert state_after(OUTSIDE, "---", 0) == FRONT and state_after(OUTSIDE, "---", 1) == OUTSIDE
    assert state_after(FRONT, "---", 2) == OUTSIDE and state_after(FRONT, "x", 30) == OUTSIDE
    assert kinds("name: x", FRONT, FRONT) == [("name: x", "meta")]


def test_the_preview_knows_the_row_of_each_block() -> None:
    text = "---\nname: x\n---\n# One\n\npara\n\n```py\na\nb\n```\nlast\n"
    blocks, rows = render(text)
    assert [type(block) for block in blocks] == [
        CodeBlock, ProseBlock, ProseBlock, CodeBlock, ProseBlock,
    ]  # fmt: skip
    lines = text.split("\n")
    assert [lines[row] for row in rows[1:]] == ["# One", "para", "a", "last"]
    assert rows[0] == 0 and blocks[0] == CodeBlock("name: x", "yaml")


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    blocks, rows = render("---\nnever closed")
    assert not isinstance(blocks[0], CodeBlock) and rows == [0]
    assert render("") == ([], [])


def test_of_a_long_text_the_part_around_the_cursor_is_drawn() -> None:
    lines = [f"line {number}" if number % 4 else "" for number in range(2_000)]
    blocks, rows = render_around(lines, 1_000)
    assert blocks[0] == blocks[-1] == NoteBlock(MORE) and rows[0] == 0 and rows[-1] == 1_300
    assert all(lines[row].startswith("line") for row in rows[1:-1])
    assert rows[1] <= 701 and rows[-2] >= 1_290
    assert render_around(lines[:100], 50) == render("\n".join(lines[:100]))


def test_a_part_that_begins_in_a_fence_is_code() -> None:
    lines = ["```", *["code", ""] * 600, "```", "prose"]
    blocks, rows = render_around(lines, 1_150)
    assert isinstance(blocks[1], CodeBlock) and lines[rows[1]] in {"code", ""}
    assert blocks[-1] == ProseBlock("prose")


def test_hits_go_round_from_a_place() -> None:
    hits = find_all(["ab ab", "", "AB"], "ab")
    assert hits == [((0, 0), (0, 2)), ((0, 3), (0, 5)), ((2, 0), (2, 2))]
    assert next_hit(hits, (0, 1), 1) == 1 and next_hit(hits, (2, 2), 1) == 0
    assert next_hit(hits, (0, 0), -1) == 2
    assert len(find_all(["ab", "AB"], "AB")) == 1 and find_all(["ab"], "") == []
    with pytest.raises(ValueError, match="nothing was found"):
        next_hit([], (0, 0), 1)


def test_a_replacement_is_taken_word_for_word() -> None:
    assert replaced(["a.a", "b"], "a", r"\1.") == "\\1..\\1.\nb"


def document(name: str, **fields: object) -> MemoryDocument:
    return MemoryDocument(name, 340, NOW.timestamp() - 120, "you", **fields)  # pyright: ignore[reportArgumentType] - named fields


def test_folders_indent_and_the_trash_comes_last() -> None:
    memory = Memory(
        "/m",
        (document("MEMORY.md"), document("a/b/c.md"), document("a/d.md"), document("e.md")),
        (document("old.md"),),
    )
    rows = document_rows(memory, ["new.md", "e.md"])
    assert [(row.kind, row.name, row.depth) for row in rows] == [
        ("document", "MEMORY.md", 0),
        ("folder", "a", 0),
        ("folder", "a/b", 1),
        ("document", "a/b/c.md", 2),
        ("document", "a/d.md", 1),
        ("document", "e.md", 0),
        ("document", "new.md", 0),
        ("trash", "", 0),
        ("trashed", "old.md", 1),
    ]


@pytest.mark.parametrize("width", [20, 30, 37, 60])
@pytest.mark.parametrize("name", ["a.md", "日本語のとても長い名前のメモ.md", "x" * 90 + ".md"])
def test_a_row_fills_its_width_and_keeps_who_wrote(width: int, name: str) -> None:
    for row in document_rows(Memory("/m", (document(name, is_orphan=True),)), ()):
        cells = row_cells(row, width, NOW.timestamp(), ASCII, chosen=True, dirty=True, clash=False)
        text = "".join(part for part, _ in cells)
        assert cell_len(text) == width and text.startswith(">*! ")
        assert ("orphan" in text) == (width > 25)


def test_sizes_have_room() -> None:
    sizes = (0, 999, 1_000, 9_999, 98_000, 999_999, 1_048_576)
    words = [size_in_words(size) for size in sizes]
    assert words == ["0", "999", "1.0k", "10k", "98k", "1.0M", "1.0M"]


def test_a_hit_shows_its_words_where_they_are() -> None:
    line = "x " * 60 + "the Clock rules" + " y" * 60
    cells = hit_cells(Found("a.md", 7, line), 60, "clock", UNICODE, chosen=True)
    assert ("Clock", "hit") in cells and cell_len("".join(text for text, _ in cells)) <= 60
    named = hit_cells(Found("clock.md", 0, "clock.md"), 60, "clock", UNICODE, chosen=False)
    assert "clock.md" in named[1][0] and ":" not in named[1][0]


def test_a_version_says_when_who_and_what() -> None:
    version = PastVersion(
        "1", "2026-11-02T08:10:00Z", "dream", "changed", "tidied\nup", "", "a.md", 3, 1, False, True
    )  # fmt: skip
    cells = version_cells(version, 60, NOW, UNICODE, chosen=True)
    text = "".join(part for part, _ in cells)
    assert "dream" in text and "+3" in text and "−1" in text and "deleted" in text
    assert "tidied up" in text


def test_moments_are_as_long_as_they_must_be() -> None:
    assert moment_in_words("2025-03-04T08:10:00Z", NOW) == "4 Mar 2025"
    assert ":" in moment_in_words("2026-11-02T08:10:00Z", NOW)
    assert moment_in_words("nonsense", NOW) == ""


def test_the_gauge_says_what_is_left_out() -> None:
    assert gauge_words(12, 340) == "12 / 200 lines, 340 / 25 000 units"
    assert left_out("a\n" * 200) == "" and left_out("a\n" * 201) == "left out from line 201 on"
    assert left_out("a\n" * 100 + "😀" * 12_500) == "left out from line 101 on"
    assert left_out_by_size(200, 25_000) == "" and left_out_by_size(3, 25_001)
    assert "201" in left_out_by_size(300, 9)


@pytest.mark.parametrize("width", [78, 80, 90, 120])
def test_the_head_says_what_is_left_out_before_all_else(width: int) -> None:
    cut = left_out_by_size(201, 12_345)
    line = head("some-project", gauge_words(201, 12_345), cut, "", width, "…").plain
    assert "201 / 200 lines, 12 345 / 25 000 units, left out from line 201 on" in line
    assert cell_len(line) == width and ("MEMORY.md" in line) == (width >= 100)


def test_a_narrow_head_keeps_the_project_and_the_gauge() -> None:
    line = head("some-project", gauge_words(12, 340), "", "", 70, "…").plain
    assert "some-proj" in line and line.endswith("MEMORY.md   12 / 200 lines, 340 / 25 000 units ")
