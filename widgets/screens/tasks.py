"""The tasks: what runs and ran in the background, why the rest does not, and what it costs."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType

from widgets.cells import Cell
from widgets.looks import glyphs_of
from widgets.notices import NoticeRows
from widgets.screens.dialogs.help import HelpScreen, key_sections
from widgets.screens.dreams import DreamsScreen
from widgets.screens.tasks_view import PARTS, Part, TasksView
from widgets.tasks.detail import detail_lines
from widgets.tasks.gates import why_lines
from widgets.tasks.spend import spend_lines
from widgets.tree.tree_list import TreeList

COPIED = 200
"""Cells of a line of the gates and the spend as they are copied."""
WHOLE = 100_000
"""The same of a task's details, whose lines are copied as they are."""


class TasksScreen(TasksView):
    """Three parts; every key acts on the one that is shown."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "part('list')", "Tasks", id="tasks.list"),
        Binding("2", "part('why')", "Why not", id="tasks.why"),
        Binding("3", "part('spend')", "Spend", id="tasks.spend"),
        Binding("tab", "next_part(1)", "Next part", id="tasks.next_part"),
        Binding("shift+tab", "next_part(-1)", "Part before", id="tasks.part_before"),
        Binding("enter", "read", "Details", id="tasks.open"),
        Binding("d", "dreams", "Dreams", id="tasks.dreams"),
        Binding("k", "kill", "Kill", id="tasks.kill"),
        Binding("space", "switch", "Switch on or off", id="tasks.switch"),
        Binding("y", "copy", "Copy", id="tasks.copy"),
        Binding("slash", "filter", "Filter", id="tasks.filter"),
        Binding("up", "move(-1)", "Before", id="tasks.up"),
        Binding("down,j", "move(1)", "Next", id="tasks.down"),
        Binding("pageup", "page(-1)", "Page up", id="tasks.page_up"),
        Binding("pagedown", "page(1)", "Page down", id="tasks.page_down"),
        Binding("home,g", "end(-1)", "First", id="tasks.first"),
        Binding("end,G", "end(1)", "Last", id="tasks.last"),
        Binding("f1", "help", "Help", id="tasks.help"),
        Binding("escape,f2", "close", "Back", id="tasks.back"),
        Binding("ctrl+c", "give_up", show=False, priority=True),
    ]

    # What is shown

    def action_part(self, part: Part) -> None:
        """Show the tasks, the gates or the spend."""
        self._part, self._is_reading = part, False
        self._draw()

    def action_next_part(self, step: int) -> None:
        self.action_part(PARTS[(PARTS.index(self._part) + step) % len(PARTS)])

    def action_read(self) -> None:
        """Let the keys scroll the details, or give them back to the list.

        Of a dream that is completed, show what it has changed.
        """
        task = self.chosen
        if task is not None and task.kind == "dream" and task.status == "completed":
            self.action_dreams()
        elif self._part == "list" and self.chosen is not None:
            self._is_reading = not self._is_reading
            self._draw(anew=self._is_reading)

    def action_dreams(self) -> None:
        """Show what dreams have changed, the newest one first."""
        task = self.chosen
        if self._part == "list" and task is not None and task.kind == "dream":
            dreams = self._controller.desks.background.dreams
            self.app.push_screen(DreamsScreen(self._controller, dreams))

    # The cursor

    @property
    def _scrolls(self) -> bool:
        return self._is_reading or self._part == "spend"

    def action_move(self, step: int) -> None:
        if self._scrolls:
            self.pane.scroll_lines(step)
        elif self._part == "why":
            self._go_to_stop(self._stops_from(step)[:1])
        else:
            self._go(self._position + step)

    def action_page(self, step: int) -> None:
        if self._scrolls:
            self.pane.scroll_pages(step)
        elif self._part == "why":
            self._go_to_stop(self._stops_from(step)[: self.gates.page])
        else:
            self._go(self._position + step * self.list.page)

    def action_end(self, step: int) -> None:
        if self._scrolls:
            self.pane.scroll_to_end(step)
        elif self._part == "why":
            self._go_to_stop(self._stops_from(step))
        else:
            self._go(len(self._tasks) if step > 0 else 0)

    def _go(self, index: int) -> None:
        if self._tasks:
            self._chosen = self._tasks[min(max(index, 0), len(self._tasks) - 1)].id
            self._draw(anew=True)

    def _stops_from(self, step: int) -> list[int]:
        """The lines of the gates where the cursor stops on its way, the nearest first."""
        at, count = self._stop_at, len(self._why)
        way = range(at + 1, count) if step > 0 else range(at - 1, -1, -1)
        return [index for index in way if self._why[index].is_stop]

    def _go_to_stop(self, way: list[int]) -> None:
        if way:
            line = self._why[way[-1]]
            self._stop = line.mechanism, line.gate
            self._draw()

    @on(TreeList.Clicked, "#tasks-list")
    def _task_clicked(self, message: TreeList.Clicked) -> None:
        self._go(message.index)
        if message.opened:
            self.action_read()

    @on(TreeList.Clicked, "#tasks-why")
    def _gate_clicked(self, message: TreeList.Clicked) -> None:
        self._go_to_stop([i for i in range(message.index + 1) if self._why[i].is_stop])

    # What is done

    def action_kill(self) -> None:
        """End the chosen task; what it has done so far stays."""
        task = self.chosen
        if self._part == "list" and task is not None and task.status == "running":
            self._desk.kill(task.id)

    def action_switch(self) -> None:
        """Switch the mechanism under the cursor on or off, for good."""
        mechanism = self.mechanism
        if self._part != "why" or mechanism is None:
            return
        if mechanism.setting:
            self._desk.switch(mechanism.setting)
        else:
            self._controller.notice(f"{mechanism.title} has no switch.")

    async def action_copy(self) -> None:
        """Copy the details of what is shown as text."""
        text = self._text()
        if text:
            self.app.copy_to_clipboard(text)
            await self._controller.writing.copy(text)
            self._controller.notice(f"Copied {len(text)} characters.")

    def _text(self) -> str:
        glyphs, lines = glyphs_of(self.app), list[list[Cell]]()
        if self._part == "list" and self.chosen is not None:
            lines = detail_lines(self.chosen, WHOLE, self._moment, glyphs)
        elif self._part == "why":
            found = why_lines(self._background, COPIED, self._moment.now, glyphs, "")
            lines = [line.cells for line in found if line.mechanism == self._stop[0]]
        elif self._part == "spend":
            lines = spend_lines(self._background, COPIED, glyphs)
        return "\n".join("".join(text for text, _ in line).rstrip() for line in lines).strip("\n")

    # The line

    def action_filter(self) -> None:
        """List the tasks that hold some words, as they are typed."""
        self._part, self._is_reading, self._asked = "list", False, True
        self.line.ask(self._sought)
        self._draw()

    def action_line_take(self) -> None:
        """Keep the filter and give the keys back to the list."""
        self._asked = False
        self.line.rest()
        self._draw()

    def action_line_leave(self) -> None:
        """List all tasks again."""
        self.action_line_take()
        self._use_filter("")

    # Leaving

    def action_help(self) -> None:
        """Show every key of this screen."""
        nodes = (("In the tasks", self), ("While you filter", self.line))
        self.app.push_screen(HelpScreen(key_sections(nodes)))

    def action_close(self) -> None:
        """Give the keys back to the list, list all again, else leave."""
        if self._is_reading:
            self.action_read()
        elif self._sought and self._part == "list":
            self._use_filter("")
        else:
            self.dismiss(None)

    def action_give_up(self) -> None:
        """Leave at once."""
        self.dismiss(None)

    @on(NoticeRows.Read)
    def _notice_read(self, message: NoticeRows.Read) -> None:
        self._controller.notices.dismiss(message.notice_id)
