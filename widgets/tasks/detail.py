"""Everything that is known of one task."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from app.models.provider import Usage
from app.state.background import Task
from widgets.cells import Cell
from widgets.glyphs import Glyphs
from widgets.tasks.task_rows import COLOURS, Moment, ended_at, mark, took
from widgets.tasks.words import kind_in_words, moment_in_words, wrapped
from widgets.words import cost_in_words, seconds_in_words, tokens_in_words

LABEL: Final = 10
"""Cells of what stands in front of a value."""


def detail_lines(
    task: Task, width: int, moment: Moment, glyphs: Glyphs, kill: str = ""
) -> list[list[Cell]]:
    """The lines, each at most `width` cells; `kill` names the key that ends a running task."""
    running = task.status == "running"
    head: list[Cell] = [
        (f" {mark(task.status, glyphs)} ", COLOURS[task.status]),
        (kind_in_words(task.kind), "text"),
        (f"  {task.status}", COLOURS[task.status]),
        (f"   {kill}" if running else "", "muted"),
    ]
    lines: list[list[Cell]] = [head]
    lines += [[(f"   {line}", "text")] for line in wrapped(task.title, width - 3)]
    lines.append([])
    for label, values, colour in _fields(task, moment):
        for position, value in enumerate(_all_wrapped(values, width - LABEL - 3)):
            lead = label if position == 0 else ""
            lines.append([(f"   {lead:<{LABEL}}", "muted"), (value, colour)])
    if task.lines:
        lines += [[], [("   progress", "muted")]]
        lines += [[(f"   {line}", "text")] for line in _all_wrapped(task.lines, width - 3)]
    return lines


def _all_wrapped(values: Iterable[str], width: int) -> list[str]:
    return [line for value in values for line in wrapped(value, width)]


def _fields(task: Task, moment: Moment) -> list[tuple[str, tuple[str, ...], str]]:
    ended = ended_at(task)
    so_far = " so far" if task.ended is None else ""
    counted = task.calls > 0 or task.usage != Usage()
    has_price = counted or task.cost_usd != 0
    cost = "unknown price" if task.cost_usd is None else cost_in_words(task.cost_usd)
    fields: list[tuple[str, str | tuple[str, ...], str]] = [
        ("error" if task.status == "failed" else "result", task.detail,
         "error" if task.status == "failed" else "text"),
        ("phase", task.phase, "text"),
        ("began", moment_in_words(task.began, moment.now) if task.began else "not noted", "text"),
        ("ended", "" if ended is None else moment_in_words(ended, moment.now), "text"),
        ("took", f"{seconds_in_words(took(task, moment))}{so_far}", "text"),
        ("session", task.session_id, "text"),
        ("calls", str(task.calls) if counted else "no model call", "text"),
        ("tokens", _tokens(task.usage) if counted else (), "text"),
        ("cost", cost if has_price else "", "warn" if task.cost_usd is None else "text"),
        ("files", task.files, "text"),
    ]  # fmt: skip
    return [
        (label, (value,) if isinstance(value, str) else value, colour)
        for label, value, colour in fields
        if value
    ]


def _tokens(usage: Usage) -> tuple[str, ...]:
    counts = {
        "in": usage.input,
        "out": usage.output,
        "cache read": usage.cache_read,
        "cache write": usage.cache_write,
    }
    return tuple(f"{tokens_in_words(count):>6} {name}" for name, count in counts.items())
