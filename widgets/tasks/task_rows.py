"""The rows of tasks: in the panel two lines each, on the tasks screen one."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from msgspec import Struct
from rich.cells import cell_len

from app.plain_text import plain_line
from app.state.background import Task, TaskStatus
from widgets.cells import Cell, cut_cells
from widgets.glyphs import Glyphs
from widgets.tasks.words import kind_in_words, moment_in_words, spread
from widgets.words import ago_in_words, cost_in_words, seconds_in_words

COLOURS: Final[dict[TaskStatus, str]] = {
    "pending": "muted",
    "running": "accent",
    "completed": "ok",
    "failed": "error",
    "aborted": "warn",
    "skipped": "muted",
}
KIND, STATUS, WHEN, COST = 14, 10, 8, 8
"""Cells of the columns of a list."""
LEAD: Final = 4
"""Cells of the cursor and the mark."""
LEAST_ABOUT: Final = 16
"""Cells of what a task is about for which the columns give way."""


class Moment(Struct, frozen=True):
    """When something is drawn."""

    now: datetime
    """In the zone in which times are told."""
    monotonic: float
    """Seconds of the clock that tasks start and end by."""


def ordered(tasks: Iterable[Task]) -> list[Task]:
    """What is not over first, the newest one first; then what has ended last first."""
    known = list(tasks)
    live = [task for task in known if task.ended is None]
    over = [task for task in known if task.ended is not None]
    live.sort(key=lambda task: (task.status == "running", task.started), reverse=True)
    over.sort(key=lambda task: task.ended or 0.0, reverse=True)
    return [*live, *over]


def filtered(tasks: Iterable[Task], words: str) -> list[Task]:
    """The tasks that hold every one of the words: in their kind, their state or what they say."""
    sought = words.casefold().split()
    return [task for task in tasks if all(word in _text(task) for word in sought)]


def _text(task: Task) -> str:
    parts = (kind_in_words(task.kind), task.status, task.phase, task.title, task.detail)
    return "\n".join((*parts, *task.lines, *task.files)).casefold()


def mark(status: TaskStatus, glyphs: Glyphs) -> str:
    """The sign of a status."""
    marks: dict[TaskStatus, str] = {
        "pending": glyphs.off,
        "running": glyphs.on,
        "completed": glyphs.good,
        "failed": glyphs.bad,
    }
    return marks.get(status, glyphs.gone)


def about(task: Task) -> str:
    """What a task does or what came of it, in one line."""
    if task.kind == "shell":
        words = [task.title, task.detail]
    elif task.ended is None:
        words = [task.phase, task.title]
    else:
        words = [task.detail or task.title]
    return plain_line(", ".join(word for word in words if word))


def cost_of(task: Task) -> str:
    """What its model calls cost; empty where it made none."""
    return cost_in_words(task.cost_usd) if task.calls or task.cost_usd != 0 else ""


def ended_at(task: Task) -> float | None:
    """Seconds since the epoch when it ended; None while it runs or where nobody noted it."""
    return task.began + task.ended - task.started if task.began and task.ended is not None else None


def took(task: Task, moment: Moment) -> float:
    """Seconds that it took, so far where it runs."""
    return (moment.monotonic if task.ended is None else task.ended) - task.started


def when(task: Task, moment: Moment) -> str:
    """How long it has been running, or when it ended: `14:33` today, else `2 d`.

    Where nobody noted when it began, how long it took.
    """
    ended = ended_at(task)
    if ended is None:
        return seconds_in_words(took(task, moment))
    words = moment_in_words(ended, moment.now)
    is_today = len(words) == len("14:33")
    return words if is_today else ago_in_words(moment.now.timestamp() - ended)


def panel_rows(
    task: Task, width: int, moment: Moment, glyphs: Glyphs, *, chosen: bool
) -> tuple[list[Cell], list[Cell]]:
    """A task as two lines of `width` cells."""
    left: list[Cell] = [
        (glyphs.prompt if chosen else " ", "accent"),
        (f"{mark(task.status, glyphs)} ", COLOURS[task.status]),
        (f"{kind_in_words(task.kind)}  ", "text"),
        (task.status, COLOURS[task.status]),
    ]
    end = "  ".join(part for part in (cost_of(task), when(task, moment)) if part)
    second = cut_cells(f"   {about(task)}", width, glyphs.more)
    below: list[Cell] = [(second + " " * max(width - cell_len(second), 0), "muted")]
    return spread(left, [(end, "muted")], width, glyphs.more), below


def list_row(task: Task, width: int, moment: Moment, glyphs: Glyphs, *, chosen: bool) -> list[Cell]:
    """A task as one line; columns give way from the right where it is narrow."""
    columns: list[tuple[str, int, str, bool]] = [
        (kind_in_words(task.kind), KIND, "text", False),
        (task.status, STATUS, COLOURS[task.status], False),
        (when(task, moment), WHEN, "muted", False),
        (cost_of(task), COST, "muted", True),
    ]
    while len(columns) > 1 and width - LEAD - sum(each[1] for each in columns) < LEAST_ABOUT:
        del columns[2 if len(columns) > 2 else 1]
    room = max(width - LEAD - sum(each[1] for each in columns), 0)
    cells: list[Cell] = [
        (f"{glyphs.prompt if chosen else ' '} ", "accent"),
        (f"{mark(task.status, glyphs)} ", COLOURS[task.status]),
    ]
    ends: list[Cell] = []
    for text, size, colour, is_number in columns:
        shown = cut_cells(text, size - 1, glyphs.more)
        if is_number:
            ends.append((" " * (size - cell_len(shown)) + shown, colour))
        else:
            cells.append((shown + " " * (size - cell_len(shown)), colour))
    words = cut_cells(about(task), room, glyphs.more)
    cells.append((words + " " * (room - cell_len(words)), "text"))
    return [*cells, *ends]
