from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from app.state.background import Background, Spend, Task
from tests.fakes.clock import START
from tests.fakes.tasks import (
    ABORTED,
    ALL,
    AT,
    AWAY,
    DOCS,
    DREAM,
    FAILED,
    MECHANISMS,
    POST_TURN,
    REFUSED,
    SERVER,
    SKIPPED,
    SPEND,
    SUGGESTION,
    counted,
    day,
    spent,
)
from widgets.cells import Cell
from widgets.glyphs import ASCII, UNICODE, Glyphs
from widgets.tasks.detail import detail_lines
from widgets.tasks.gates import held_lines, why_lines
from widgets.tasks.spend import spark, spend_lines, today_cells, total_in_words
from widgets.tasks.task_rows import Moment, filtered, list_row, ordered, panel_rows
from widgets.tasks.words import SIGNS, kind_in_words, moment_in_words, sign_of

MOMENT = Moment(START, 0.0)
WIDTHS = [1, 8, 20, 39, 44, 68, 79, 119, 200]
NASTY = replace(
    DREAM,
    title="日本語" * 60 + " [bold]x[/bold] \x1b[2J\x07",
    phase="\u202egnp.exe",
    detail="👍🏽" * 80,
    lines=("\x9b31m" + "x" * 300, "two\nlines"),
    files=("日本" * 50 + ".md",),
)


def text(cells: Sequence[Cell]) -> str:
    return "".join(part for part, _ in cells)


def texts(lines: Sequence[Sequence[Cell]]) -> list[str]:
    return [text(line).rstrip() for line in lines]


def row(task: Task, width: int = 79, glyphs: Glyphs = UNICODE) -> str:
    return text(list_row(task, width, MOMENT, glyphs, chosen=False))


def background(*spend: Spend, budget: float | None = 0.5, today: str = day(0)) -> Background:
    return Background(MECHANISMS, budget, today, counted(*spend).spend)


def test_what_runs_comes_first_then_what_ended_last() -> None:
    pending = replace(SERVER, id="p", status="pending", started=0.0)
    found = ordered((*ALL, pending))
    assert found == [SERVER, DREAM, pending, SUGGESTION, FAILED, DOCS, ABORTED, SKIPPED]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("", list(ALL)),
        ("COMMAND", [DOCS, SERVER]),
        ("command docs", [DOCS]),
        ("aborted", [ABORTED]),
        ("same of the clock", [SUGGESTION, DREAM]),
        ("nothing like it", []),
    ],
)
def test_tasks_are_filtered_by_kind_state_and_words(words: str, found: list[Task]) -> None:
    expected = [DREAM] if words == "same of the clock" else found
    assert filtered(ALL, words) == expected


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("task", [*ALL, NASTY], ids=lambda task: task.id)
def test_no_row_is_wider_than_its_place(task: Task, width: int) -> None:
    if width >= 20:
        assert cell_len(row(task, width)) == width
        for line in panel_rows(task, width, MOMENT, UNICODE, chosen=True):
            assert cell_len(text(line)) == width
    if width >= 39:
        for line in detail_lines(task, width, MOMENT, UNICODE, "k Kill"):
            assert cell_len(text(line)) <= width


def test_nothing_that_a_task_says_reaches_the_terminal_as_a_control_character() -> None:
    lines = [
        row(NASTY, 200),
        *texts(panel_rows(NASTY, 200, MOMENT, UNICODE, chosen=False)),
        *texts(detail_lines(NASTY, 200, MOMENT, UNICODE)),
    ]
    assert all(character.isprintable() for line in lines for character in line)
    assert any("[bold]x[/bold]" in line for line in lines)


def test_a_row_of_a_list_gives_way_from_the_details_to_the_kind() -> None:
    assert row(SUGGESTION, 79).split()[1:4] == ["suggestion", "completed", "08:33"]
    assert row(SUGGESTION, 79).endswith("$0.01")
    assert "08:33" not in row(SUGGESTION, 56) and row(SUGGESTION, 56).endswith("$0.01")
    assert "completed" in row(SUGGESTION, 48) and "$0.01" not in row(SUGGESTION, 48)
    assert "completed" not in row(SUGGESTION, 39)


def test_what_a_task_is_about_depends_on_how_far_it_is() -> None:
    assert "consolidate, go through what was learnt" in row(DREAM, 119)
    assert "make docs, exit 0" in row(DOCS)
    assert "“fix the same clock in session.py”" in row(SUGGESTION, 119)
    assert "what happened" not in row(FAILED, 119)


def test_a_command_has_no_cost_and_an_unknown_price_is_not_nothing() -> None:
    assert "$" not in row(SERVER) + row(DOCS)
    assert row(FAILED).endswith("$?")
    assert "unknown price" in " ".join(texts(detail_lines(FAILED, 79, MOMENT, UNICODE)))


def test_times_are_those_of_the_day_or_how_long_ago() -> None:
    assert (row(DREAM).split()[3], row(ABORTED).split()[4:6]) == ("4:10", ["1", "d"])
    assert moment_in_words(AT - 60, START) == "08:59"
    assert moment_in_words(AT + 15 * 3_600, START) == "00:00"
    assert moment_in_words(AT - 86_400, START) == "1 Nov 09:00"
    assert moment_in_words(AT + 2 * 86_400, START) == "4 Nov 09:00"


def test_the_details_say_everything_that_is_known() -> None:
    lines = texts(detail_lines(DREAM, 79, MOMENT, UNICODE, "k Kill"))
    assert lines[0] == " ● dream  running   k Kill"
    whole = "\n".join(lines)
    for words in ("phase     consolidate", "began     08:55", "took      4:10 so far",
                  "calls     3", "12.4k in", "840 out", "180.0k cache read", "6.0k cache write",
                  "cost      $0.04", "files     MEMORY.md", "             ops/deploy.md",
                  "progress", "wrote testing.md"):  # fmt: skip
        assert words in whole
    ended = "\n".join(texts(detail_lines(FAILED, 79, MOMENT, UNICODE, "k Kill")))
    assert "error     The service is overloaded." in ended and "k Kill" not in ended
    command = "\n".join(texts(detail_lines(DOCS, 79, MOMENT, UNICODE)))
    assert "no model call" in command and "cost" not in command and "not noted" in command


def test_every_kind_has_words_and_a_letter_of_its_own() -> None:
    letters = [sign_of(name)[0] for name in (*SIGNS, "watcher")]
    assert len(set(letters)) == len(letters) and letters[-1] == "W"
    assert [kind_in_words(kind) for kind in ("shell", "post_turn", "compact_ahead", "x_y\x1b")] == [
        "command", "turn summary", "summary ahead", "x y␛",
    ]  # fmt: skip


def test_the_panel_says_what_holds_each_mechanism_first_and_until_when() -> None:
    held = texts(held_lines(Background(MECHANISMS), 79, START))
    assert held == [
        " Away summary: 1 more turn needed (2 of 3)",
        " Suggestion: 40 of 1000 requests left, may hold at 09:20",
        " Session title: switched off in the settings",
    ]
    assert held_lines(Background((POST_TURN,)), 79, START) == []
    narrow = texts(held_lines(Background(MECHANISMS), 44, START))
    assert all(cell_len(line) <= 44 for line in narrow)
    assert narrow[1:3] == [" Suggestion: 40 of 1000 requests left, may", " hold at 09:20"]


def test_every_gate_is_shown_with_its_value_and_the_mechanism_with_its_switch() -> None:
    lines = why_lines(Background(MECHANISMS), 79, START, UNICODE, "space")
    shown = [text(line.cells).rstrip() for line in lines]
    assert shown[0].startswith("  Away summary  held since 08:50")
    assert shown[0].endswith("space Switch off")
    assert "  ✓ budget           $0.07 of $0.50 today" in shown
    assert "  ✗ away             you are here" in shown
    off = next(line for line in shown if line.startswith("  Session title"))
    assert "off since 1 Nov 08:00" in off and off.endswith("space Switch on")
    rules = next(line for line in shown if line.startswith("  Turn summary"))
    assert "ready" in rules and rules.endswith("has no switch")
    gates = sum(len(each.gates) for each in MECHANISMS)
    assert sum(line.is_stop for line in lines) == gates + len(MECHANISMS)


@pytest.mark.parametrize("width", [20, 39, 79])
def test_a_long_value_goes_on_below_and_belongs_to_its_gate(width: int) -> None:
    lines = why_lines(Background((REFUSED,)), width, START, UNICODE, "space")
    assert all(cell_len(text(line.cells)) <= max(width, 21) for line in lines)
    server = [line for line in lines if line.gate == "server"]
    assert [line.is_stop for line in server] == [True] + [False] * (len(server) - 1)
    words = " ".join(" ".join(text(line.cells) for line in lines).split())
    assert "silent:" in words and "00:00" in words


@pytest.mark.parametrize(
    ("spend", "budget", "words", "colour"),
    [
        ((), None, "today $0.00", "muted"),
        ((spent(0, "dream", 0.07),), 0.5, "today $0.07 of $0.50 ▓░░░░░░░", "muted"),
        ((spent(0, "dream", 0.45),), 0.5, "today $0.45 of $0.50 ▓▓▓▓▓▓▓░", "warn"),
        ((spent(0, "dream", 0.52),), 0.5, "today $0.52 of $0.50 ▓▓▓▓▓▓▓▓", "error"),
        ((spent(0, "dream", None),), 0.5, "today $? of $0.50 ░░░░░░░░", "muted"),
        ((spent(0, "dream", None), spent(0, "recap", 0.07)), None, "today $0.07 + $?", "muted"),
        ((spent(1, "dream", 0.3),), 0.0, "today $0.00 of $0.00 ▓▓▓▓▓▓▓▓", "error"),
    ],
)
def test_todays_spend_beside_the_budget(
    spend: tuple[Spend, ...], budget: float | None, words: str, colour: str
) -> None:
    cells = today_cells(background(*spend, budget=budget), UNICODE)
    assert text(cells) == words
    assert {each for _, each in cells} == {colour}


def test_the_spark_has_a_level_for_each_day_and_does_not_guess() -> None:
    assert spark(background(*SPEND), UNICODE) == "▁▂▁▁▂▁▁█▁▂▁▁▄▃"
    assert spark(background(*SPEND), ASCII).isascii()
    assert spark(background(*SPEND, spent(0, "dream", None)), UNICODE)[-1] == "?"
    assert spark(background(), UNICODE) == "▁" * 14
    assert spark(background(*SPEND, today=""), UNICODE) == ""


def test_a_sum_says_that_a_part_of_it_is_unknown() -> None:
    assert total_in_words([]) == "$0.00"
    assert total_in_words([spent(0, "dream", None)]) == "$?"
    assert total_in_words([spent(0, "dream", None), spent(0, "recap", 0.2)]) == "$0.20 + $?"


def test_the_spend_is_told_by_day_and_mechanism() -> None:
    lines = texts(spend_lines(background(*SPEND), 79, UNICODE))
    whole = "\n".join(lines)
    assert "last 14 days: $0.65, 41 calls" in whole
    assert "Mon  2 Nov         $0.07  AAASSSSSSS" in whole
    assert "9.00" not in whole
    assert (
        "  27 Oct  dream               9   2.2k    810     369.0k        3.6k      $0.21" in lines
    )
    assert lines[-1].split() == ["total", "41", "9.8k", "3.7k", "1.7M", "16.4k", "$0.65"]
    assert "tokens" in "\n".join(texts(spend_lines(background(*SPEND), 60, UNICODE)))
    narrow = spend_lines(background(*SPEND), 39, UNICODE)
    assert all(cell_len(text(line)) <= 39 for line in narrow)


def test_unknown_spent_and_uncounted_are_said_in_words() -> None:
    unknown = "\n".join(texts(spend_lines(background(spent(0, "dream", None)), 79, UNICODE)))
    assert "so that the budget cannot be kept" in unknown and "D?" in unknown
    assert "$0.00" not in unknown
    over = "\n".join(texts(spend_lines(background(spent(0, "dream", 0.6)), 79, UNICODE)))
    assert "The daily budget of $0.50 is spent" in over
    assert texts(spend_lines(background(today=""), 79, UNICODE)) == ["  Nothing was counted yet."]
    none = "\n".join(texts(spend_lines(background(budget=None), 79, UNICODE)))
    assert "No call was made" in none and "background.daily_budget_usd" in none


def test_ascii_signs_are_ascii() -> None:
    shown = [row(task, 79, ASCII) for task in (SERVER, FAILED, ABORTED)]
    shown += texts(detail_lines(DREAM, 79, MOMENT, ASCII))
    shown += [text(line.cells) for line in why_lines(Background((AWAY,)), 79, START, ASCII, "x")]
    shown += texts(spend_lines(background(*SPEND), 79, ASCII))
    assert all(line.isascii() for line in shown)
