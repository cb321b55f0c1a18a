"""How the tasks screen is drawn; `TasksScreen` puts the keys on top of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static

from app.plain_text import plain_line
from app.state import select
from app.state.background import Background, Mechanism, Task
from widgets.ask.choices import CRAMPED
from widgets.cells import Cell, cut_cells
from widgets.follow import Follow
from widgets.keys import hint
from widgets.looks import glyphs_of
from widgets.notices import NoticeRows
from widgets.tasks.detail import detail_lines
from widgets.tasks.gates import WhyLine, why_lines
from widgets.tasks.line import FilterLine
from widgets.tasks.line_pane import LinePane, Lines
from widgets.tasks.panel import LOOK
from widgets.tasks.spend import DAYS, spark, spend_lines, today_cells
from widgets.tasks.task_rows import Moment, filtered, list_row, ordered
from widgets.tree.around import foot
from widgets.tree.tree_list import TreeList

if TYPE_CHECKING:
    from app.controller import Controller

WIDE = 100
"""Columns from which on the details stand beside the list."""
Part: TypeAlias = Literal["list", "why", "spend"]
PARTS: tuple[Part, ...] = get_args(Part)
FOOT: dict[Part, tuple[str, ...]] = {
    "list": ("kill", "open", "dreams", "copy", "filter", "next_part"),
    "why": ("switch", "copy", "next_part"),
    "spend": ("copy", "next_part"),
}
"""The keys that the last line names, as far as there is room; help and the way back always are."""
READING = ("kill", "up", "down", "page_up", "page_down", "copy")
"""The same while the keys scroll the details."""


class TasksView(Follow, Screen[None]):
    """Tasks, gates or spend, and what stands around them."""

    CSS_PATH = "../../styles/tasks.tcss"

    def __init__(self, controller: Controller, task_id: str = "") -> None:
        """`task_id` is the task to begin with; empty for the first one."""
        super().__init__()
        self._controller = controller
        self._desk = controller.desks.background
        self._clock = controller.here.clock
        self._part: Part = "list"
        self._all: Sequence[Task] = ()
        self._tasks: list[Task] = []
        """Those that are listed."""
        self._background = Background()
        self._chosen = task_id
        """The id of the task under the cursor."""
        self._sought = ""
        self._asked = False
        self._is_reading = False
        """Whether the keys scroll the details."""
        self._why: list[WhyLine] = []
        self._stop = ("", "")
        """The mechanism and the gate under the cursor."""

    def compose(self) -> ComposeResult:
        yield Static(id="tasks-head")
        with Container(id="tasks-body"):
            yield TreeList(self._row, id="tasks-list")
            yield LinePane(self._detail, id="tasks-detail")
        yield TreeList(self._gate_row, id="tasks-why")
        yield LinePane(self._spend, id="tasks-spend")
        yield NoticeRows()
        with Horizontal(id="tasks-ask"):
            yield Static(id="tasks-said")
            yield FilterLine(self, self)
        yield Static(id="tasks-foot")

    @property
    def line(self) -> FilterLine:
        """The line that has the focus."""
        return self.query_one(FilterLine)

    @property
    def list(self) -> TreeList:
        """The tasks."""
        return self.query_one("#tasks-list", TreeList)

    @property
    def pane(self) -> LinePane:
        """What the keys scroll: the details, or what was spent."""
        name = "spend" if self._part == "spend" else "detail"
        return self.query_one(f"#tasks-{name}", LinePane)

    @property
    def gates(self) -> TreeList:
        """The mechanisms and their gates."""
        return self.query_one("#tasks-why", TreeList)

    def on_mount(self) -> None:
        self.line.focus()
        self.follow(select.tasks, self._tasks_changed)
        self.follow(select.background, self._background_changed)
        self.set_interval(1, self._tick)
        self.set_interval(LOOK, self._look)
        self._look()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < WIDE, "-narrow")
        self.set_class(event.size.height < CRAMPED, "-short")
        self._draw()

    async def press(self, action: str) -> None:
        """A key was pressed; what was typed before it counts first."""
        if self.is_current:
            self._follow_line()
            await self.run_action(action)

    @on(Input.Changed, "FilterLine")
    def _typed(self) -> None:
        self._follow_line()

    def _follow_line(self) -> None:
        if self._asked and self.line.value != self._sought:
            self._use_filter(self.line.value)

    def _use_filter(self, words: str) -> None:
        self._sought = words
        self._choose_again()
        self._draw(anew=True)

    def _look(self) -> None:
        if self.is_current:
            self._desk.look()

    def _tick(self) -> None:
        """What runs has run for another second."""
        if self.is_current and any(task.status == "running" for task in self._tasks):
            self.list.refresh()
            self.query_one("#tasks-detail", LinePane).show()

    # What the store says

    def _tasks_changed(self, tasks: Mapping[str, Task]) -> None:
        self._all = ordered(tasks.values())
        self._choose_again()
        self._draw()

    def _background_changed(self, background: Background) -> None:
        self._background = background
        self._draw()

    def _choose_again(self) -> None:
        """List what is sought; the cursor stays on its task, else on the same line."""
        position = self._position
        self._tasks = filtered(self._all, self._sought)
        if self._tasks and self._chosen not in {task.id for task in self._tasks}:
            self._chosen = self._tasks[min(position, len(self._tasks) - 1)].id

    @property
    def _position(self) -> int:
        ids = (index for index, task in enumerate(self._tasks) if task.id == self._chosen)
        return next(ids, 0)

    @property
    def chosen(self) -> Task | None:
        """The task under the cursor."""
        return self._tasks[self._position] if self._tasks else None

    @property
    def mechanism(self) -> Mechanism | None:
        """The mechanism under the cursor."""
        known = (each for each in self._background.mechanisms if each.name == self._stop[0])
        return next(known, None)

    @property
    def _moment(self) -> Moment:
        return Moment(self._clock.now().astimezone(), self._clock.monotonic())

    # Drawing

    def _draw(self, *, anew: bool = False) -> None:
        """Draw everything; `anew` where the details are those of another task."""
        if not self.is_mounted or not self.size:
            return
        for part in PARTS:
            name = "body" if part == "list" else part
            self.query_one(f"#tasks-{name}").display = part == self._part
        self.set_class(self._is_reading, "-reading")
        self.set_class(self._asked, "-asking")
        self.list.show(len(self._tasks), self._position, self._empty())
        if self._part == "why":
            self._draw_why()
        else:
            self.pane.show(anew=anew)
        self.query_one("#tasks-head", Static).update(self._head())
        self.query_one("#tasks-said", Static).update(Content(self._said()))
        self.query_one("#tasks-foot", Static).update(Content(self._foot()))

    def _draw_why(self) -> None:
        key = hint(self, "tasks.switch").partition(" ")[0]
        width, glyphs = self.size.width - 1, glyphs_of(self.app)
        self._why = why_lines(self._background, width, self._moment.now, glyphs, key)
        at = self._stop_at
        end = next((i for i in range(at + 1, len(self._why)) if self._why[i].is_stop), None)
        last = len(self._why) - 1 if end is None else end - 1
        self.gates.show(len(self._why), max(last, 0), ("Nothing is known yet.",))
        self.gates.move(at)
        if self._why:
            self._stop = self._why[at].mechanism, self._why[at].gate

    @property
    def _stop_at(self) -> int:
        """The line of the gates that the cursor is on."""
        lines = enumerate(self._why)
        found = (i for i, line in lines if (line.mechanism, line.gate) == self._stop)
        return next(found, 0)

    def _row(self, index: int, width: int) -> Sequence[Cell]:
        task = self._tasks[index]
        chosen = task.id == self._chosen
        return list_row(task, width, self._moment, glyphs_of(self.app), chosen=chosen)

    def _gate_row(self, index: int, _width: int) -> Sequence[Cell]:
        cells = self._why[index].cells
        if index != self._stop_at:
            return cells
        (lead, colour), *rest = cells
        return [(glyphs_of(self.app).prompt, "accent"), (lead[1:], colour), *rest]

    def _detail(self, width: int) -> Lines:
        task = self.chosen
        if task is None:
            return []
        kill = hint(self, "tasks.kill")
        return detail_lines(task, width, self._moment, glyphs_of(self.app), kill)

    def _spend(self, width: int) -> Lines:
        return spend_lines(self._background, width, glyphs_of(self.app))

    def _empty(self) -> Sequence[str]:
        if self._sought:
            return ("No task holds these words.", f"{hint(self, 'tasks.back')}: show all.")
        return (
            "Nothing has run in the background.",
            "Commands of the model show here,",
            "and what the app does by itself.",
            f"{hint(self, 'tasks.why')}: what holds each of them back.",
        )

    def _head(self) -> Content:
        """The name, the parts, then today's spend and the spark as far as they have room."""
        glyphs, width = glyphs_of(self.app), self.size.width
        name: list[Cell] = [(" tasks ", "accent")]
        for part in PARTS:
            words = hint(self, f"tasks.{part}") or part
            chosen = part == self._part
            name.append((f"[{words}]" if chosen else f" {words} ", "text" if chosen else "muted"))
        today = today_cells(self._background, glyphs)[:1]
        levels = spark(self._background, glyphs)
        sparks: list[Cell] = [(f" {levels}", "accent")] if levels else []
        days: list[Cell] = [(f" {DAYS} days", "muted")] if levels else []
        room = width - sum(cell_len(text) for text, _ in name) - 2
        right: list[Cell] = []
        for more in (today, sparks, days):
            size = sum(cell_len(text) for text, _ in (*right, *more))
            if size > room:
                break
            right += more
        gap = room + 1 - sum(cell_len(text) for text, _ in right)
        cells = [*name, (" " * max(gap, 0), "muted"), *right]
        return Content.assemble(*[(text, f"$r-{colour}") for text, colour in cells])

    def _said(self) -> str:
        """What is asked in the line, else what is listed."""
        if self._asked:
            return " filter "
        if self._part != "list":
            return ""
        if self._sought:
            count = f"{len(self._tasks)} of {len(self._all)}"
            words = f" filter: {plain_line(self._sought)}, {count}"
        else:
            running = sum(1 for task in self._all if task.status == "running")
            count = f"{len(self._all)} task{'' if len(self._all) == 1 else 's'}"
            words = f" {count}, {running} running" if self._all else ""
        return cut_cells(words, self.size.width - 1, glyphs_of(self.app).more)

    def _foot(self) -> str:
        width = self.size.width
        if self._asked:
            keys = [hint(self.line, f"tasks_line.{name}") for name in ("take", "leave", "next")]
            return foot(keys, (), width)
        keys = [hint(self, f"tasks.{name}") for name in self._named()]
        return foot(keys, [hint(self, "tasks.back"), hint(self, "tasks.help")], width)

    def _named(self) -> Sequence[str]:
        names = READING if self._is_reading else FOOT[self._part]
        task = self.chosen
        if self._part == "list" and task is None:
            return ("filter", "next_part") if self._sought else ("next_part",)
        has = {
            "kill": task is not None and task.status == "running",
            "dreams": task is not None and task.kind == "dream",
        }
        return [name for name in names if has.get(name, True)]
