"""The panel at the side: what runs in the background, what it costs, and why the rest is quiet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static

from app.clock import Clock
from app.state import select
from app.state.background import Background, Task
from widgets.cells import Cell
from widgets.follow import Follow
from widgets.keys import hint
from widgets.looks import glyphs_of
from widgets.tasks.gates import held_lines
from widgets.tasks.spend import today_cells
from widgets.tasks.task_rows import Moment, ordered, panel_rows
from widgets.tasks.words import spread

LOOK = 5.0
"""Seconds between two looks at the gates and the spend."""
EMPTY = ("Nothing runs in the background.", "What the model sends there shows here.")
Line = list[Cell]


class TaskPanel(Follow, Static, can_focus=True):
    """One task is chosen by its id, so that news move no cursor; `k` ends it at once."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Before", id="tasks.up"),
        Binding("down,j", "move(1)", "Next", id="tasks.down"),
        Binding("k", "kill", "Kill", id="tasks.kill"),
        Binding("enter", "open", "Details", id="tasks.open"),
        Binding("d", "dreams", "Dreams", id="tasks.dreams"),
        Binding("escape", "leave", "Back", id="tasks.back"),
    ]

    class KillAsked(Message):
        """The person wants a task ended."""

        def __init__(self, task_id: str) -> None:
            super().__init__()
            self.task_id = task_id

    class OpenAsked(Message):
        """The person wants to see everything, a task first; its id is empty where there is none."""

        def __init__(self, task_id: str) -> None:
            super().__init__()
            self.task_id = task_id

    class DreamsAsked(Message):
        """The person wants to see what dreams have changed."""

    class LookAsked(Message):
        """What is shown may be out of date."""

    class LeaveAsked(Message):
        """The person wants the panel closed."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(id="tasks")
        self._clock = clock
        self._tasks: list[Task] = []
        self._background = Background()
        self._chosen = ""
        """The id of the task under the cursor."""
        self._first = 0
        """The first task in sight."""
        self._drawn: list[str] = []
        """The id of the task that each line belongs to, empty for other lines."""
        self._ticking: tuple[Timer, ...] = ()

    def on_mount(self) -> None:
        self._ticking = (
            self.set_interval(1, self.refresh, pause=True),
            self.set_interval(LOOK, self._look, pause=True),
        )
        self.follow(select.tasks, self._show)
        self.follow(select.background, self._show_background)

    def _show(self, tasks: Mapping[str, Task]) -> None:
        position = self._position
        self._tasks = ordered(tasks.values())
        if self._tasks and self._chosen not in tasks:
            self._chosen = self._tasks[min(position, len(self._tasks) - 1)].id
        self.refresh()

    def _show_background(self, background: Background) -> None:
        self._background = background
        self.refresh()

    def on_show(self) -> None:
        for timer in self._ticking:
            timer.resume()

    def on_hide(self) -> None:
        for timer in self._ticking:
            timer.pause()

    def _look(self) -> None:
        if self.screen.is_current:
            self.post_message(self.LookAsked())

    @property
    def _position(self) -> int:
        ids = (index for index, task in enumerate(self._tasks) if task.id == self._chosen)
        return next(ids, 0)

    @property
    def chosen(self) -> Task | None:
        """The task under the cursor."""
        return self._tasks[self._position] if self._tasks else None

    def choose_newest_running(self) -> None:
        """Put the cursor on the newest task that still runs."""
        self._chosen = self._tasks[0].id if self._tasks else ""
        self.refresh()

    # Drawing

    def render(self) -> Content:
        width, height = self.content_size
        if not width or not height:
            return Content("")
        glyphs = glyphs_of(self.app)
        today = today_cells(self._background, glyphs)
        head: Line = spread([("tasks", "accent")], today, width, glyphs.more)
        foot: Line = [("  ".join(self._keys()), "muted")]
        gap = 1 if height > 14 else 0
        room = height - 2 - gap
        why = self._why(width, max(room - 2 * max(len(self._tasks), 1), room // 2))
        rows = self._rows(width, room - len(why))
        blank = [("", [])] * max(room - len(why) - len(rows), 0)
        lines: list[tuple[str, Line]] = [("", head), *([("", [])] * gap), *rows, *blank]
        lines += [("", line) for line in (*why, foot)]
        self._drawn = [task_id for task_id, _ in lines]
        return Content("\n").join(self._line(task_id, line) for task_id, line in lines[:height])

    def _line(self, task_id: str, line: Line) -> Content:
        ground = " on $r-raised" if task_id and task_id == self._chosen else ""
        return Content.assemble(*[(text, f"$r-{colour}{ground}") for text, colour in line])

    def _keys(self) -> Sequence[str]:
        task = self.chosen
        is_over = task is not None and task.kind == "dream" and task.status == "completed"
        opens = "Changes" if is_over else ""
        kill = hint(self, "tasks.kill") if task is not None and task.status == "running" else ""
        keys = (kill, hint(self, "tasks.open", opens), hint(self, "tasks.back"))
        return [key for key in keys if key]

    def _why(self, width: int, most: int) -> list[Line]:
        held = held_lines(self._background, width, self._clock.now().astimezone())
        if not held or most < 3:
            return []
        lines: list[Line] = [[("why not?", "accent")], *held, []]
        if len(lines) > most:
            more = hint(self, "tasks.open", "shows the rest")
            lines = [*lines[: most - 2], [(f" {more}", "muted")], []]
        return lines

    def _rows(self, width: int, room: int) -> list[tuple[str, Line]]:
        """The tasks in sight, the chosen one among them, and how many are not."""
        if not self._tasks:
            return [("", [(words, "muted")]) for words in EMPTY]
        count = len(self._tasks)
        fit = room // 2 if 2 * count <= room else (room - 1) // 2
        fit = max(fit, 1)
        position = self._position
        self._first = max(min(self._first, position, count - fit), position - fit + 1, 0)
        moment = Moment(self._clock.now().astimezone(), self._clock.monotonic())
        rows: list[tuple[str, Line]] = []
        for task in self._tasks[self._first : self._first + fit]:
            chosen = task.id == self._chosen
            pair = panel_rows(task, width, moment, glyphs_of(self.app), chosen=chosen)
            rows += [(task.id, line) for line in pair]
        if fit < count:
            below = max(count - self._first - fit, 0)
            rows.append(("", [(f"   {self._first} above, {below} below", "muted")]))
        return rows

    # Keys

    def action_move(self, step: int) -> None:
        if self._tasks:
            self._chosen = self._tasks[(self._position + step) % len(self._tasks)].id
            self.refresh()

    def action_kill(self) -> None:
        task = self.chosen
        if task is not None and task.status == "running":
            self.post_message(self.KillAsked(task.id))

    def action_open(self) -> None:
        task = self.chosen
        if task is not None and task.kind == "dream" and task.status == "completed":
            self.post_message(self.DreamsAsked())
        else:
            self.post_message(self.OpenAsked(self._chosen))

    def action_dreams(self) -> None:
        task = self.chosen
        if task is not None and task.kind == "dream":
            self.post_message(self.DreamsAsked())

    def action_leave(self) -> None:
        self.post_message(self.LeaveAsked())

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None or offset.y >= len(self._drawn) or not self._drawn[offset.y]:
            return
        chosen = self._drawn[offset.y]
        if chosen == self._chosen and event.chain > 1:
            self.action_open()
        self._chosen = chosen
        self.refresh()
