from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from app.background.dream.publish import hunks_of, with_hunks
from app.background.dream.record import Dream, DreamFile
from tests.fakes.dreams import (
    COMPLETED,
    CONFLICT,
    FAILED,
    FILES,
    HELD,
    PARTLY,
    as_state,
    night,
)
from widgets.dreams.diff import diff_text, diffs_of, line_in_words
from widgets.dreams.diff_rows import MOST_EVIDENCE, MOST_ROWS, Row, marked, rows_of
from widgets.dreams.dream_rows import MOST_SAID, head_lines, list_row
from widgets.dreams.review import Review
from widgets.glyphs import ASCII, UNICODE

NOW = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)


def text(cells: Any) -> str:
    return "".join(part for part, _ in cells).rstrip()


def listed(dream: Dream, width: int = 90) -> str:
    return text(list_row(dream, width, NOW, UNICODE, chosen=False))


def told(dream: Dream, width: int = 76) -> str:
    return "\n".join(text(line) for line in head_lines(dream, width, NOW, UNICODE))


def rows(dream: Dream, width: int = 76) -> list[Row]:
    return rows_of(dream, diffs_of(dream), width, NOW, UNICODE)


def drawn(dream: Dream, review: Review | None = None, width: int = 76) -> list[str]:
    diffs = diffs_of(dream)
    return [text(marked(row, diffs, review, " ")) for row in rows(dream, width)]


def file(before: str | None, after: str | None, name: str = "a.md", **more: Any) -> DreamFile:
    return DreamFile(name, before, after, **more)


def of(*files: DreamFile) -> Dream:
    return replace(HELD, files=files)


# The list


def test_a_dream_is_one_line_with_its_reason() -> None:
    row = (
        "  ○ 02:10        held        3 files  $0.04   It would remove 61 % of what is remembered."
    )
    assert listed(HELD) == row
    assert "31 Oct 02:10 completed" in listed(night(COMPLETED, 31))
    assert "$?" in listed(FAILED) and "0 files" in listed(FAILED)
    assert "partly back" in listed(PARTLY)


def test_columns_give_way_from_the_right_but_never_time_and_status() -> None:
    assert listed(HELD, 48).endswith("$0.04")
    assert listed(HELD, 40).endswith("3 files")
    assert listed(HELD, 32).endswith("held")
    assert listed(HELD, 10).endswith("held")


def test_the_chosen_dream_has_the_cursor_and_signs_are_ascii_where_asked() -> None:
    assert text(list_row(FAILED, 60, NOW, ASCII, chosen=True)).startswith("> x 02:10")


def test_a_time_that_is_none_leaves_its_column_empty() -> None:
    assert "held" in listed(replace(HELD, started="soon", ended=""))
    assert "began" not in told(replace(HELD, started="soon"))


# What is told of a dream


def test_the_head_tells_what_the_dream_came_to() -> None:
    lines = told(HELD)
    for words in (
        "dream  held",
        "It would remove 61 % of what is remembered.",
        "began     02:10, took 4:12",
        "model     claude-haiku-5-5",
        "calls     9",
        "tokens    12.4k in, 840 out, 180.0k cache read, 6.0k cache write",
        "cost      $0.04",
        "reviewed  6 sessions",
        "logs      log-2026-11-01.md",
        "said      I merged the two notes",
    ):
        assert words in lines
    assert "unknown price" in told(FAILED) and "said" not in told(FAILED)


def test_long_words_and_many_logs_are_cut_with_a_sentence() -> None:
    said = told(replace(HELD, said="line\n" * 90, daily_logs=tuple(f"{i}.md" for i in range(30))))
    assert f"({91 - MOST_SAID} more lines are not drawn)" in said
    assert "10 more" in said


# The changes


def test_lines_are_numbered_on_both_sides_with_what_stands_around_them() -> None:
    lines = drawn(of(file("a\nb\nc\nd\ne\nf\ng\nh\ni\n", "a\nB\nB2\nc\nd\ne\nf\ng\ni\n")))
    at = lines.index("    hunk 1 of 2, line 2")
    assert lines[at + 1 :] == [
        "    1   a",
        "    2 − b",
        "    2 + B",
        "    3 + B2",
        "    4   c",
        "    5   d",
        "    hunk 2 of 2, line 8",
        "    7   f",
        "    8   g",
        "    8 − h",
        "    9   i",
    ]


def test_lines_between_two_near_hunks_are_shown_once() -> None:
    lines = drawn(of(file("a\nb\nc\n", "A\nb\nC\n")))
    assert sum(line.endswith("  b") for line in lines) == 1


def test_hunks_have_the_numbers_that_the_desk_knows_them_by() -> None:
    for each in FILES:
        (diff,) = diffs_of(of(each))
        assert [len(hunk.new) for hunk in diff.hunks] == [len(new) for _, new, _ in hunks_of(each)]
    kept = with_hunks(
        FILES[0], Review().toggled("MEMORY.md", 0).accepted(diffs_of(HELD))["MEMORY.md"]
    )
    assert kept.after is not None and "rules for time" in kept.after and "Old" not in kept.after


def test_new_and_deleted_files_and_states_are_said() -> None:
    assert "  a.md  new +1" in drawn(of(file(None, "x\n")))
    assert "  old.md  deleted −3  published" in drawn(COMPLETED)
    lines = drawn(CONFLICT)
    assert "  clock.md  +1 −1  conflict" in lines and "  old.md  deleted −3  refused" in lines
    assert "    Left as it is: somebody changed the memory since the dream read it." in lines
    assert "  MEMORY.md  +1 −3  not published" in drawn(replace(HELD, status="discarded"))
    back = as_state(HELD, "reverted", "reverted", "reverted")
    assert "  clock.md  +1 −1  taken back" in drawn(replace(back, status="reverted"))


def test_evidence_stands_below_its_file_and_is_counted_where_it_is_too_much() -> None:
    lines = drawn(HELD)
    at = lines.index("  clock.md  +1 −1")
    assert lines[at + 1] == "    seen in: src/cart/expiry.py line 41 uses clock.monotonic()"
    many = tuple(f"place {i}" for i in range(MOST_EVIDENCE + 7))
    assert "    seen in: 7 more places" in drawn(of(file("a\n", "b\n", evidence=many)))


def test_a_file_without_a_changed_line_says_so() -> None:
    assert "    no line is changed" in drawn(of(file(None, "")))


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("a\n", "a"),
        ("a", "a (no line end)"),
        ("a\r\n", "a␍"),
        ("a\x0c", "a␌"),
        ("\x1b[31ma\n", "a"),
        ("\x1b]0;x\x07\u202e\n", "␛]0;x␇<202e>"),
    ],
)
def test_a_line_is_shown_with_what_cannot_be_seen(line: str, shown: str) -> None:
    assert line_in_words(line) == shown


@pytest.mark.parametrize("width", [30, 47, 76])
def test_no_row_is_wider_than_its_column(width: int) -> None:
    wide = file("語" * 200, "👍🏽 " * 90 + "\n", "名" * 60 + ".md", evidence=("語" * 99,))
    for row in rows(of(wide, *FILES), width):
        assert sum(cell_len(part) for part, _ in row.cells) <= width


def test_what_is_too_much_to_draw_is_said() -> None:
    before = "".join(f"{i}\n" for i in range(6_000))
    many = of(file(before, "".join(f"{i}{'x' * (i % 2)}\n" for i in range(6_000))))
    lines = drawn(many)
    assert len(lines) < MOST_ROWS + 40
    assert "more hunks not drawn; a copy has all. They are accepted" in lines[-2]
    assert drawn(of(file(None, before)))[-1] == "    the rest of this hunk is not drawn"
    assert "5999x" in diff_text(diffs_of(many))


def test_the_text_to_copy_has_every_file_and_its_evidence() -> None:
    copied = diff_text(diffs_of(HELD))
    assert copied.startswith("MEMORY.md  +1 −3  staged\nseen in: the entry names clock.md twice\n")
    assert (
        "@@ line 8 @@\n  - [Tests](tests.md): how they run\n− - [Old](old.md): nothing\n" in copied
    )
    assert copied.endswith("− # Old\n− \n− Nothing of use.")


# The review


def test_marks_say_what_is_accepted_of_each_hunk_and_file() -> None:
    review = Review().toggled("MEMORY.md", 1).toggled_file(diffs_of(HELD)[2])
    lines = drawn(HELD, review)
    assert "  [-] MEMORY.md  +1 −3" in lines and "    [x] hunk 1 of 2, line 3" in lines
    assert "    [ ] hunk 2 of 2, line 8  refused" in lines
    assert "  [x] clock.md  +1 −1" in lines and "  [ ] old.md  deleted −3  refused" in lines


def test_a_file_is_refused_as_a_whole_and_accepted_again() -> None:
    diff = diffs_of(HELD)[0]
    some = Review().toggled("MEMORY.md", 1)
    none = some.toggled_file(diff)
    assert (some.share(diff), none.share(diff)) == ("some", "none")
    assert none.toggled_file(diff) == Review()
    assert some.toggled("MEMORY.md", 1) == Review()


def test_nothing_is_accepted_only_when_every_hunk_is_refused() -> None:
    diffs = diffs_of(HELD)
    review = Review()
    for diff in diffs:
        assert not review.accepts_nothing(diffs)
        review = review.toggled_file(diff)
    assert review.accepts_nothing(diffs)
    assert review.accepted(diffs) == {"MEMORY.md": [], "clock.md": [], "old.md": []}
    assert not review.accepts_nothing([*diffs, *diffs_of(of(file(None, "", "new.md")))])
