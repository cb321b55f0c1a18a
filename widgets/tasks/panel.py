"""What runs in the background: one row a task, the newest running one chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

from app.plain_text import plain_line
from app.state import select
from app.state.model import Task
from widgets.follow import Follow
from widgets.looks import glyphs_of


class TaskPanel(Follow, Static, can_focus=True):
    """The panel at the side; `k` ends the chosen task at once."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Before", show=False),
        Binding("down,j", "move(1)", "Next", show=False),
        Binding("k", "kill", "Kill", id="tasks.kill"),
        Binding("escape", "leave", "Back", id="tasks.back"),
    ]

    chosen: reactive[int] = reactive(0)

    class KillAsked(Message):
        """The person wants a task ended."""

        def __init__(self, task_id: str) -> None:
            super().__init__()
            self.task_id = task_id

    class LeaveAsked(Message):
        """The person wants the panel closed."""

    def __init__(self) -> None:
        super().__init__(id="tasks")
        self._tasks: list[Task] = []

    def on_mount(self) -> None:
        self.follow(select.tasks, self._show)

    def _show(self, tasks: Mapping[str, Task]) -> None:
        self._tasks = list(tasks.values())[::-1]
        self.refresh(layout=True)

    def choose_newest_running(self) -> None:
        """Put the cursor on the newest task that still runs."""
        running = (i for i, task in enumerate(self._tasks) if task.status == "running")
        self.chosen = next(running, 0)

    def render(self) -> Content:
        glyphs = glyphs_of(self.app)
        marks = {"running": glyphs.on, "completed": glyphs.good, "failed": glyphs.bad}
        rows: list[Content | str] = [Content.styled("tasks", "bold"), "\n\n"]
        for position, task in enumerate(self._tasks):
            mark = marks.get(task.status, "–")
            text = f" {mark} {task.kind}  {task.status}  {plain_line(task.title)}  {task.detail}"
            rows += [Content.styled(text, "reverse" if position == self.chosen else ""), "\n"]
        if not self._tasks:
            rows.append("Nothing runs in the background.\nWhat the model sends there shows here.\n")
        rows += ["\n", Content.styled("k Kill   esc Back", "$r-muted")]
        return Content.assemble(*rows)

    def action_move(self, step: int) -> None:
        if self._tasks:
            self.chosen = (self.chosen + step) % len(self._tasks)

    def action_kill(self) -> None:
        if self.chosen < len(self._tasks):
            self.post_message(self.KillAsked(self._tasks[self.chosen].id))

    def action_leave(self) -> None:
        self.post_message(self.LeaveAsked())
