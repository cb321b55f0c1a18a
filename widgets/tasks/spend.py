"""What background work cost: today's line, the last days as a spark, a chart and a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Final

from rich.cells import cell_len

from app.models.provider import Usage
from app.state.background import Background, Spend
from widgets.cells import Cell
from widgets.glyphs import Glyphs
from widgets.tasks.words import kind_in_words, sign_of, wrapped
from widgets.words import cost_in_words, gauge, tokens_in_words

DAYS: Final = 14
"""Days that are shown, today included."""
BAR: Final = 40
"""Cells of the longest bar of the chart."""
DAY: Final = 12
COST: Final = 14

Column = tuple[str, int]
WIDE: Final[Sequence[Column]] = (
    ("calls", 6), ("in", 7), ("out", 7), ("cache read", 11), ("cache write", 12), ("cost", 11),
)  # fmt: skip
MIDDLE: Final[Sequence[Column]] = (("calls", 6), ("tokens", 8), ("cost", 12))
NARROW: Final[Sequence[Column]] = (("cost", 12),)
NAMES: Final = 23
"""Cells of the day and the mechanism."""


def days_of(background: Background) -> list[str]:
    """The ISO dates that are shown, oldest first; none where nothing was counted yet."""
    try:
        last = date.fromisoformat(background.today)
    except ValueError:
        return []
    return [(last - timedelta(days=back)).isoformat() for back in reversed(range(DAYS))]


def _by_day(background: Background) -> dict[str, list[Spend]]:
    found: dict[str, list[Spend]] = {day: [] for day in days_of(background)}
    for each in background.spend:
        if each.day in found:
            found[each.day].append(each)
    return found


def known_cost(spend: Iterable[Spend]) -> float:
    """USD of those whose price is known."""
    return sum(each.cost_usd for each in spend if each.cost_usd is not None)


def total_in_words(spend: Sequence[Spend]) -> str:
    """`$0.31`; `$0.31 + $?` where the price of some is unknown, `$?` where that of all is."""
    unknown = sum(1 for each in spend if each.cost_usd is None)
    if not unknown:
        return cost_in_words(known_cost(spend))
    if unknown == len(spend):
        return cost_in_words(None)
    return f"{cost_in_words(known_cost(spend))} + {cost_in_words(None)}"


def _today(background: Background) -> list[Spend]:
    return [each for each in background.spend if each.day == background.today]


def today_cells(background: Background, glyphs: Glyphs) -> list[Cell]:
    """`today $0.07 of $0.50` and a bar where there is a budget."""
    if not background.today:
        return []
    spend, budget = _today(background), background.budget_usd
    words = f"today {total_in_words(spend)}"
    if budget is None:
        return [(words, "muted")]
    spent = known_cost(spend)
    colour = "error" if spent >= budget else "warn" if spent >= 0.8 * budget else "muted"
    bar = gauge(spent / budget if budget else 1.0, glyphs.full, glyphs.empty)
    return [(f"{words} of {cost_in_words(budget)}", colour), (f" {bar}", colour)]


def spark(background: Background, glyphs: Glyphs) -> str:
    """The cost of each of the last days by height; `?` where a price is unknown."""
    by_day = _by_day(background)
    most = max((known_cost(spend) for spend in by_day.values()), default=0.0)
    return "".join(_level(spend, most, glyphs.levels) for spend in by_day.values())


def _level(spend: Sequence[Spend], most: float, levels: str) -> str:
    if any(each.cost_usd is None for each in spend):
        return "?"
    cost = known_cost(spend)
    if not cost:
        return levels[0]
    return levels[max(round(cost / most * (len(levels) - 1)), 1)]


def spend_lines(background: Background, width: int, glyphs: Glyphs) -> list[list[Cell]]:
    """Totals, the chart by day, the table by day and mechanism, newest first."""
    by_day = _by_day(background)
    if not by_day:
        return [[("  Nothing was counted yet.", "muted")]]
    shown = [each for spend in by_day.values() for each in spend]
    lines: list[list[Cell]] = [[("  ", "muted"), *today_cells(background, glyphs)]]
    for words, colour in _said(background, shown):
        lines += [[(f"  {part}", colour)] for part in wrapped(words, width - 2)]
    if not shown:
        return lines
    chart, legend = _chart(by_day, width), _legend(shown, width)
    return [*lines, [], *chart, [], *legend, [], *_table(by_day, width)]


def _said(background: Background, shown: Sequence[Spend]) -> list[tuple[str, str]]:
    calls = sum(each.calls for each in shown)
    if not shown:
        said = [(f"No call was made in the background in the last {DAYS} days.", "muted")]
    else:
        made = f"{calls:,} call{'' if calls == 1 else 's'}"
        said = [(f"last {DAYS} days: {total_in_words(shown)}, {made}", "text")]
    budget, today = background.budget_usd, _today(background)
    if budget is None:
        said.append(("No daily budget is set (background.daily_budget_usd).", "muted"))
    elif known_cost(today) >= budget:
        words = "is spent: nothing that costs runs in the background before tomorrow."
        said.append((f"The daily budget of {cost_in_words(budget)} {words}", "error"))
    elif any(each.cost_usd is None for each in today):
        said.append(("A price of today is unknown, so that the budget cannot be kept.", "warn"))
    if any(each.cost_usd is None for each in shown):
        said.append((f"{cost_in_words(None)}: the price of a model is unknown.", "warn"))
    return said


def _chart(by_day: Mapping[str, Sequence[Spend]], width: int) -> list[list[Cell]]:
    most = max(known_cost(spend) for spend in by_day.values())
    room = min(max(width - DAY - COST - 6, 4), BAR)
    lines: list[list[Cell]] = []
    for day, spend in by_day.items():
        cost = total_in_words(spend) if spend else ""
        named = f"{date.fromisoformat(day):%a} {_day_in_words(day):>6}"
        line: list[Cell] = [(f"  {named:<{DAY}}", "muted"), (f"{cost:>{COST - 2}}  ", "text")]
        for each in spend:
            letter, colour = sign_of(each.mechanism)
            if each.cost_usd is None:
                line.append((f"{letter}?", colour))
            elif each.cost_usd:
                line.append((letter * max(round(each.cost_usd / most * room), 1), colour))
        lines.append(line)
    return lines


def _legend(shown: Sequence[Spend], width: int) -> list[list[Cell]]:
    lines: list[list[Cell]] = []
    used = width
    for name in dict.fromkeys(each.mechanism for each in shown):
        letter, colour = sign_of(name)
        cost = total_in_words([each for each in shown if each.mechanism == name])
        words = f" {kind_in_words(name)} {cost}"
        size = cell_len(words) + 3
        if used + size > width:
            lines.append([(" ", "muted")])
            used = 1
        lines[-1] += [(f" {letter}", colour), (f"{words} ", "muted")]
        used += size
    return lines


def _table(by_day: Mapping[str, Sequence[Spend]], width: int) -> list[list[Cell]]:
    columns: Sequence[Column] = NARROW
    for wider in (MIDDLE, WIDE):
        if 2 + NAMES + sum(size for _, size in wider) <= width:
            columns = wider
    head = "".join(f"{name:>{size}}" for name, size in columns)
    lines: list[list[Cell]] = [[(f"  {'day':<8}{'mechanism':<{NAMES - 8}}{head}", "muted")]]
    for day in reversed(list(by_day)):
        for position, each in enumerate(by_day[day]):
            name = f"  {_day_in_words(day) if position == 0 else '':<8}"
            lines.append([(name, "muted"), *_row(kind_in_words(each.mechanism), [each], columns)])
    shown = [each for spend in by_day.values() for each in spend]
    lines.append([("  total   ", "accent"), *_row("", shown, columns)])
    return lines


def _row(name: str, spend: Sequence[Spend], columns: Sequence[Column]) -> list[Cell]:
    usage = sum((each.usage for each in spend), Usage())
    values = {
        "calls": f"{sum(each.calls for each in spend):,}",
        "in": tokens_in_words(usage.input),
        "out": tokens_in_words(usage.output),
        "cache read": tokens_in_words(usage.cache_read),
        "cache write": tokens_in_words(usage.cache_write),
        "tokens": tokens_in_words(usage.whole_input + usage.output),
        "cost": total_in_words(spend),
    }
    cells: list[Cell] = [(f"{name:<{NAMES - 8}}", "text")]
    for column, size in columns:
        unknown = column == "cost" and any(each.cost_usd is None for each in spend)
        cells.append((f"{values[column]:>{size}}", "warn" if unknown else "text"))
    return cells


def _day_in_words(day: str) -> str:
    parsed = date.fromisoformat(day)
    return f"{parsed.day} {parsed:%b}"
