from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from app.sessions.lanes import UNICODE_SIGNS, Row
from app.sessions.node_facts import Facts, FileChange
from app.sessions.outline import Node
from widgets.glyphs import UNICODE
from widgets.tree.around import fitting, foot, head
from widgets.tree.preview import facts_block
from widgets.tree.rows import Line, line_cells

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def drawn(
    width: int,
    *,
    text: str = "a prompt",
    tools: int = 0,
    facts: Facts | None = None,
    current: bool = False,
    label: str = "",
    shell_files: int = 0,
) -> str:
    node = Node("u", None, "prompt", text, tools=tools, on_branch=True, current=current)
    line = Line(Row(node, 0, "", ()), facts, label=label, shell_files=shell_files)
    cells = line_cells(line, width, NOW, UNICODE_SIGNS, UNICODE, marks=False)
    return "".join(words for words, _ in cells)


def changed(added: int, removed: int, cost: float = 0.0) -> Facts:
    return Facts(0, (FileChange("/a", added, removed),), cost)


@pytest.mark.parametrize(
    ("tools", "words"),
    [(1, " 1 tool "), (120, " 120 tools "), (1_000, " 1k tools "), (45_678, " 46k tools ")],
)
def test_a_count_of_tools_is_never_cut(tools: int, words: str) -> None:
    assert words in drawn(100, tools=tools)


@pytest.mark.parametrize(
    ("added", "removed", "words"),
    [
        (41, 2, " +41 −2"),
        (1_234, 567, " +1234 −567"),
        (12_345, 6_789, " +12k −7k"),
        (1_234, 5_678, " +1k −6k"),
        (999_999, 0, " +999999"),
        (123_456, 999_400, " +123k −999k"),
    ],
)
def test_lines_changed_are_never_cut(added: int, removed: int, words: str) -> None:
    line = drawn(100, facts=changed(added, removed))
    known = words in line
    left_out = "+" not in line and "−" not in line
    assert known or (left_out and cell_len(words) > 11)


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (0.0001, "  <$0.01 "),
        (0.31, " $0.31 "),
        (150.0, " $150.00 "),
        (1_234.57, " $1235 "),
        (12_345.6, " $12346 "),
        (1_234_567.0, " $1.2M "),
        (None, " $? "),
    ],
)
def test_a_cost_is_never_cut(cost: float | None, words: str) -> None:
    assert words in drawn(100, facts=Facts(0, (), cost))


def test_files_of_shell_commands_stand_where_there_is_no_edit() -> None:
    assert " 3 files" in drawn(100, shell_files=3) and " 1 file " in drawn(100, shell_files=1)
    assert "files" not in drawn(100, shell_files=3, facts=changed(1, 1))


@pytest.mark.parametrize("width", [28, 34, 40])
def test_a_narrow_line_has_what_it_has_room_for(width: int) -> None:
    assert "← here" in drawn(width, current=True)
    assert "[odd]" in drawn(width, label="odd")


def test_where_the_branch_ends_is_said_in_few_cells_too() -> None:
    line = drawn(20, text="a prompt that is far too long", current=True)
    assert "←" in line and "here" not in line and "a prompt" in line
    assert "a prompt that is far too long  ← here" in drawn(
        60, text="a prompt that is far too long", current=True
    )


def test_what_is_told_of_a_node_wraps_between_its_words() -> None:
    node = Node("u", None, "prompt", "x", timestamp="2026-11-02T09:00:00Z", tools=2)
    label = "a label of a good many words"
    text = facts_block(node, Facts(), label, "", cannot_restore=True).text
    assert label in text and "its files can no longer be restored" in text
    assert "2\N{NO-BREAK SPACE}tools" in text


@given(
    st.text(max_size=30),
    st.lists(st.sampled_from(["2 branches", "1 hit", "looking for forks…"]), max_size=4),
    st.integers(1, 120),
)
def test_what_stands_around_the_tree_fits(title: str, words: list[str], width: int) -> None:
    assert cell_len(head(title, words, "/ Search  . Filter", width, "…").plain) <= width
    assert cell_len(foot(words, ["esc Back", "f1 Help"], width)) <= max(width, 1)
    assert cell_len(fitting(words, width, "   ")) <= width


def test_the_foot_keeps_the_way_back_longest() -> None:
    keys, last = ["enter Switch", "r Rewind"], ["esc Back", "f1 Help"]
    assert foot(keys, last, 80) == " enter Switch  r Rewind  esc Back  f1 Help"
    assert foot(keys, last, 40) == " enter Switch  esc Back  f1 Help"
    assert foot(keys, last, 20) == " esc Back  f1 Help"
    assert foot(keys, last, 12) == " esc Back"
