"""How the screen of dreams is read and drawn; `DreamsScreen` puts the keys on top of it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from textual import events
from textual.app import ComposeResult
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import Worker, WorkerError

from app.background.dream.record import Dream
from app.errors import ReverieError
from app.state import select
from app.state.background import Task
from app.state.model import Severity
from widgets.ask.choices import CRAMPED, Choice
from widgets.cells import Cell, cut_cells
from widgets.dreams.desk import DreamsDesk
from widgets.dreams.diff import FileDiff, diffs_of
from widgets.dreams.diff_pane import DiffPane
from widgets.dreams.diff_rows import Row, marked, rows_of
from widgets.dreams.dream_rows import count_in_words, list_row
from widgets.dreams.review import Review
from widgets.follow import Follow
from widgets.keys import hint
from widgets.looks import glyphs_of
from widgets.notices import NoticeRows
from widgets.resting_line import RestingLine
from widgets.tasks.words import spread
from widgets.tree.around import foot
from widgets.tree.tree_list import TreeList

if TYPE_CHECKING:
    from app.controller import Controller

WIDE: Final = 100
"""Columns from which on the changes stand beside the list."""
HELD = ("accept", "discard")
COMPLETED = ("revert", "revert_all")
LEAVING = frozenset({"close", "give_up"})
"""What keys do that wait for no reading."""


@dataclass(slots=True)
class Question:
    """What is asked before something is done."""

    words: str
    yes: str
    """What the answers are called."""
    no: str
    action: Literal["discard", "revert"]
    chosen: int = 0

    @property
    def choices(self) -> tuple[Choice, Choice]:
        """The answers in their order."""
        return Choice("yes", self.yes, "yes"), Choice("no", self.no, "no")


class DreamsView(Follow, Screen[None]):
    """The dreams, what the chosen one has changed, and what stands around them."""

    CSS_PATH = "../../styles/dreams.tcss"

    def __init__(self, controller: Controller, desk: DreamsDesk) -> None:
        super().__init__()
        self._controller = controller
        self._desk = desk
        self._clock = controller.here.clock
        self._dreams: list[Dream] = []
        self._is_read = False
        self._chosen = ""
        """The id of the dream under the cursor; empty for the newest one."""
        self._told: Dream | None = None
        """The dream whose changes are laid out."""
        self._diffs: list[FileDiff] = []
        self._rows: list[Row] = []
        self._laid_out = 0
        """The width that the rows were made for."""
        self._row = 0
        """The row under the cursor."""
        self._is_reading = False
        """Whether the keys move in the changes."""
        self._reviews: dict[str, Review] = {}
        self._question: Question | None = None
        self._reader: Worker[None] | None = None
        self._looker: Worker[None] | None = None
        self._doer: Worker[None] | None = None
        """Does something to a dream."""
        self._done_so_far = 0
        self._seen: frozenset[tuple[str, str]] = frozenset()
        """The tasks that dream, each with its status."""

    def compose(self) -> ComposeResult:
        yield Static(id="dreams-head")
        with Container(id="dreams-body"):
            yield TreeList(self._dream_cells, id="dreams-list")
            yield DiffPane(self._row_cells, self._draw, id="dreams-diff")
        yield NoticeRows()
        yield Static(id="dreams-question")
        with Horizontal(id="dreams-ask"):
            yield Static(id="dreams-said")
            yield RestingLine(self, self, "dreams.", "dreams_line.")
        yield Static(id="dreams-foot")

    @property
    def line(self) -> RestingLine:
        """The line that has the focus."""
        return self.query_one(RestingLine)

    @property
    def list(self) -> TreeList:
        """The dreams."""
        return self.query_one("#dreams-list", TreeList)

    @property
    def diff(self) -> DiffPane:
        """What the chosen dream has changed."""
        return self.query_one(DiffPane)

    def on_mount(self) -> None:
        self.line.focus()
        self.follow(select.tasks, self._tasks_changed)
        if self._reader is None:
            self.read_again()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < WIDE, "-narrow")
        self.set_class(event.size.height < CRAMPED, "-short")
        self._draw()

    # Keys, each in its turn

    async def press(self, action: str) -> None:
        """A key was pressed; it waits for what those before it have begun."""
        if not self.is_current:
            return
        await self.wait_for(self._doer)
        if action not in LEAVING:
            await self.wait_for(self._reader)
            await self.wait_for(self._looker)
        await self.run_action(action)

    async def wait_for(self, worker: Worker[None] | None) -> None:
        """Wait until it has ended, one way or another."""
        if worker is not None:
            with contextlib.suppress(WorkerError):
                await worker.wait()

    # What is shown

    def _tasks_changed(self, tasks: Mapping[str, Task]) -> None:
        """A dream has begun or ended: there may be another one to show."""
        seen = frozenset((each.id, each.status) for each in tasks.values() if each.kind == "dream")
        if seen != self._seen:
            self._seen = seen
            self.read_again()

    def read_again(self) -> None:
        """Ask for the dreams once more."""
        self._reader = self.run_worker(self._read(), group="dreams", exclusive=True)

    async def _read(self) -> None:
        so_far = -1
        while so_far != self._done_so_far:  # what was read before something was done is old
            so_far = self._done_so_far
            try:
                dreams = await self._desk.dreams()
            except ReverieError as error:
                self.tell(str(error), "error")
                break
            if so_far == self._done_so_far:
                self._dreams = dreams
        self._is_read = True
        await self._look()

    async def replace(self, made: Dream) -> None:
        """Show a dream as it has become."""
        self._done_so_far += 1
        self._dreams = [made if each.id == made.id else each for each in self._dreams]
        self._reviews.pop(made.id, None)
        await self._look()

    def choose(self, index: int) -> None:
        """Put the cursor on a dream."""
        if self._dreams:
            self._chosen = self._dreams[min(max(index, 0), len(self._dreams) - 1)].id
            self._looker = self.run_worker(self._look(), group="look", exclusive=True)

    async def _look(self) -> None:
        """Lay the chosen dream out; hunks of long documents take a while to find."""
        dream = self.chosen
        if dream != self._told:
            self._draw()
            diffs = [] if dream is None else await asyncio.to_thread(diffs_of, dream)
            if dream != self.chosen:
                return  # another look has begun since
            is_same = dream is not None and self._told is not None and dream.id == self._told.id
            self._told, self._diffs, self._laid_out = dream, diffs, 0
            if not is_same:
                self._row = 0
        self._draw()

    @property
    def position(self) -> int:
        """Which of the dreams is chosen."""
        ids = (index for index, dream in enumerate(self._dreams) if dream.id == self._chosen)
        return next(ids, 0)

    @property
    def chosen(self) -> Dream | None:
        """The dream under the cursor."""
        return self._dreams[self.position] if self._dreams else None

    @property
    def review(self) -> Review:
        """What of the chosen dream is accepted."""
        return self._reviews.get(self._told.id if self._told else "", Review())

    @property
    def under_cursor(self) -> Row | None:
        """The row of the changes under the cursor."""
        return self._rows[self._row] if self._row < len(self._rows) else None

    def tell(self, words: str, severity: Severity = "info") -> None:
        """Say a sentence."""
        self._controller.notice(words, severity)

    # Drawing

    def _draw(self) -> None:
        if not self.is_mounted or not self.size or self not in self.app.screen_stack:
            return
        self.set_class(self._is_reading, "-reading")
        self.set_class(not self._dreams, "-none")
        self.list.show(len(self._dreams), self.position, self._empty())
        self._lay_out()
        self.diff.has_cursor = self._is_reading
        self.diff.show(len(self._rows), self._row, ("reading…",) if self._dreams else ())
        self.query_one("#dreams-head", Static).update(self._head())
        asked = self.query_one("#dreams-question", Static)
        asked.display = self._question is not None
        asked.update(self._asked())
        self.query_one("#dreams-said", Static).update(Content(self._said()))
        self.draw_foot()

    def draw_foot(self) -> None:
        """Name the keys of the row under the cursor."""
        self.query_one("#dreams-foot", Static).update(Content(self._foot()))

    def _lay_out(self) -> None:
        width = self.diff.scrollable_content_region.width
        if self._told is None or self.chosen is None or self._told.id != self.chosen.id:
            self._rows, self._laid_out = [], 0
        elif width and width != self._laid_out:
            now = self._clock.now().astimezone()
            held = self.under_cursor if self._rows else None
            self._rows = rows_of(self._told, self._diffs, width, now, glyphs_of(self.app))
            self._laid_out = width
            if held is not None:
                self._row = self.find(held.file, held.hunk) or self.find(held.file, -1)
        self._row = min(self._row, max(len(self._rows) - 1, 0))

    def find(self, file: int, hunk: int) -> int:
        """The row that a document or a hunk begins with; the first one where there is none."""
        heads = (
            index
            for index, row in enumerate(self._rows)
            if row.is_head and (row.file, row.hunk) == (file, hunk)
        )
        return next(heads, 0)

    def _dream_cells(self, index: int, width: int) -> Sequence[Cell]:
        now, glyphs = self._clock.now().astimezone(), glyphs_of(self.app)
        chosen = index == self.position
        return list_row(self._dreams[index], width, now, glyphs, chosen=chosen)

    def _row_cells(self, index: int, _width: int) -> Sequence[Cell]:
        is_held = self._told is not None and self._told.status == "held"
        here = self._is_reading and index == self._row
        cursor = glyphs_of(self.app).prompt if here else " "
        return marked(self._rows[index], self._diffs, self.review if is_held else None, cursor)

    def _empty(self) -> Sequence[str]:
        if not self._is_read:
            return ("reading…",)
        return (
            "There has been no dream yet.",
            "A dream puts memory in order",
            "while you are away; here you see",
            "what it changed and take it back.",
            "/dream begins one now.",
        )

    def _head(self) -> Content:
        held = sum(1 for dream in self._dreams if dream.status == "held")
        waits = f"{held} wait{'s' * (held == 1)} for you " if held else ""
        count = f"  {count_in_words(len(self._dreams), 'dream')}" if self._dreams else ""
        left: list[Cell] = [(" dreams ", "accent"), (count, "muted")]
        cells = spread(left, [(waits, "warn")], self.size.width, glyphs_of(self.app).more)
        return Content.assemble(*[(text, f"$r-{colour}") for text, colour in cells])

    def _asked(self) -> Content:
        question = self._question
        if question is None:
            return Content("")
        parts: list[Content | str] = [Content.styled(f" {question.words}", "$r-warn"), "\n "]
        for index, choice in enumerate(question.choices):
            label = f" {hint(self, f'dreams.{choice.key}', choice.label)} "
            parts += [Content.styled(label, "reverse" if index == question.chosen else ""), " "]
        return Content.assemble(*parts)

    def _said(self) -> str:
        """How much of a dream that is held is accepted."""
        if self._told is None or self._told.status != "held" or not self._rows:
            return ""
        accepted = self.review.accepted(self._diffs)
        count = sum(len(diff.hunks) for diff in self._diffs)
        words = f" accepted: {sum(map(len, accepted.values()))} of {count_in_words(count, 'hunk')}"
        return cut_cells(words, self.size.width - 1, glyphs_of(self.app).more)

    def _foot(self) -> str:
        if self._question is not None:
            keys = [hint(self, "dreams.open", "Choose"), hint(self, "dreams.back", "Cancel")]
            return foot(keys, (), self.size.width)
        words = {"toggle": "Accept" if self._is_refused else "Refuse"}
        keys = [hint(self, f"dreams.{name}", words.get(name, "")) for name in self._named()]
        last = [hint(self, "dreams.back"), hint(self, "dreams.help")]
        return foot(keys, last, self.size.width)

    @property
    def _is_refused(self) -> bool:
        """Whether what is under the cursor is refused as a whole."""
        row = self.under_cursor
        if row is None or row.file < 0:
            return False
        diff = self._diffs[row.file]
        if row.hunk >= 0:
            return (diff.file.name, row.hunk) in self.review.refused
        return self.review.share(diff) == "none"

    def _named(self) -> Sequence[str]:
        """The keys that the last line names, as far as there is room."""
        dream = self.chosen
        if dream is None:
            return ()
        names: list[str] = [] if self._is_reading else ["open"]
        if dream.status == "held":
            names += [*(("toggle", "toggle_file") if self._is_reading else ()), *HELD]
        elif dream.touched:
            names += COMPLETED if self._is_reading else COMPLETED[1:]
        if dream.files:
            names += ["next_hunk", "copy"] if self._is_reading else ["copy"]
        return names
