"""In which order the keys of the memory screen act, and what it asks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from app.plain_text import cut
from app.state.model import Memory, Severity
from widgets.ask.choices import Choice, ChoiceRow
from widgets.follow import Follow
from widgets.memory.buffers import Buffer
from widgets.memory.desk import MemoryDesk
from widgets.memory.editor import Editor
from widgets.memory.key_line import KeyLine
from widgets.memory.rows import Row
from widgets.ring import RingScreen

if TYPE_CHECKING:
    from app.controller import Controller

QUIET = 0.3
"""Seconds without a key before a question comes that nobody asked for."""
Mode: TypeAlias = Literal["list", "edit", "search", "name", "find", "replace", "history", "choice"]
MODES: tuple[Mode, ...] = (
    "list",
    "edit",
    "search",
    "name",
    "find",
    "replace",
    "history",
    "choice",
)


class Question(Struct, frozen=True):
    """What is asked in the place of the line."""

    title: str
    body: Sequence[str]
    choices: Sequence[Choice]
    answer: Callable[[str], Awaitable[None]]
    """Gets the value of the choice, empty when it was given up."""


class MemoryKeys(Follow, RingScreen):
    """Keys go to the list, the line or the editor whose turn it is, in the order of typing."""

    def __init__(self, controller: Controller, desk: MemoryDesk) -> None:
        super().__init__()
        self._controller = controller
        self._desk = desk
        self._memory = Memory()
        self._rows: list[Row] = []
        self._cursor = 0
        self._held = ("", "")
        """Kind and name of the line that the cursor goes with."""
        self._buffers: dict[str, Buffer] = {}
        self._shown: Buffer | None = None
        """The document in the editor."""
        self._mode: Mode = "list"
        self._back: tuple[Mode, str, str] = ("list", "", "")
        """What a question interrupted: the mode, the words in front of the line, the line."""
        self._said = ""
        self._question: Question | None = None
        self._asked_at = 0.0
        """When a question came that nobody asked for, by the clock that stamps keys; else 0."""
        self._asks_later = False
        self._keys = 0
        """Keys so far: a question waits until they pause."""
        self._turn = asyncio.Lock()
        """One at a time reads and writes documents; who wants both locks takes `_order` first."""
        self._has_preview = True
        """Whether the preview stands beside the rest where there is room."""
        self._reads = False
        """Whether it stands in the place of the list where there is none."""
        self._is_read = False
        self._words: dict[str, str | Content] = {}
        self._gauge: tuple[int, int, str] | None = None
        """Of the entry's unsaved text: lines, code units, what of it is left out."""

    @property
    def line(self) -> KeyLine:
        """The line that has the focus when no editor has it."""
        return self.query_one(KeyLine)

    def draw(self) -> None:
        """Bring what is seen up to date."""
        raise NotImplementedError

    # Keys, each in its turn

    async def act_on(self, event: events.Key | events.Paste) -> None:
        self._keys += 1
        if self._question is not None and event.time < self._asked_at:
            self._go_back()  # typed before the question was there: it belongs to the text
            self.ask_when_quiet()
        target = self.target
        if isinstance(event, events.Paste):
            await target.pasted(event.text)
        elif self._question is None or not await self._answered_by(event):
            await target.typed(event)

    @property
    def target(self) -> KeyLine | Editor:
        if self._mode == "edit" and self._shown is not None:
            return self._shown.editor
        return self.line

    async def press(self, action: str) -> None:
        """Carry out the action of a key; nothing else touches the documents meanwhile."""
        async with self._turn:
            await self.run_action(action)

    def _enter(self, mode: Mode, said: str = "", text: str = "", *, chosen: bool = False) -> None:
        """Let the keys be those of a mode; `said` stands in front of the line, `text` in it."""
        self._mode, self._said = mode, said
        if mode in {"search", "name", "find", "replace"}:
            self.line.ask(f"memory_{mode}.", text, chosen=chosen)
        elif mode == "list":
            self.line.rest(self, "memory.")
        else:
            self.line.rest(self.line, f"memory_{mode}.")
        for each in MODES:
            self.set_class(each == mode, f"-{each}")
        self.set_class(self.line.is_asking, "-asking")
        self.draw()
        self.settle_focus()

    # What is asked

    def late_question(self) -> Question | None:
        """What there is to ask that nobody asked for."""
        raise NotImplementedError

    def ask_when_quiet(self) -> None:
        """Ask what nobody asked for as soon as the keys pause."""
        if not self._asks_later:
            self._asks_later = True
            self.run_worker(self._ask_when_quiet, group="question")

    async def _ask_when_quiet(self) -> None:
        try:
            seen = -1
            while seen != self._keys:
                seen = self._keys
                await self._controller.here.clock.sleep(QUIET)
                async with self._order, self._turn:
                    if seen == self._keys:
                        await self._ask_late()
        finally:
            self._asks_later = False

    async def _ask_late(self) -> None:
        is_free = self.is_current and self._question is None
        question = self.late_question() if is_free else None
        if question is not None:
            await self.ask(question)
            self._asked_at = Message().time

    async def ask(self, question: Question) -> None:
        """Show choices in the place of the line."""
        if self._question is not None:
            return
        self._question, self._asked_at = question, 0.0
        self._back = (self._mode, self._said, self.line.value)
        holder = self.query_one("#memory-choices")
        await holder.remove_children()
        await holder.mount(ChoiceRow(question.choices))
        body = "".join(f"\n{cut(line, 400)}" for line in question.body)
        asked = Content.assemble(Content.styled(question.title, "bold"), body)
        self.query_one("#memory-asked", Static).update(asked)
        self._enter("choice")
        self._fit_question()

    def _fit_question(self) -> None:
        for row in self.query(ChoiceRow):
            row.fit(self.size.width - 4, max(self.size.height - 10, 1))

    async def _answered_by(self, event: events.Key) -> bool:
        for choice in self._question.choices if self._question else ():
            if choice.key in {event.key, event.character}:
                async with self._turn:
                    await self._answer(choice.value)
                return True
        return False

    async def _answer(self, value: str) -> None:
        question = self._question
        if question is not None:
            self._go_back()
            await question.answer(value)

    def _go_back(self) -> None:
        """Put the question away; what was typed into the line stays, the cursor behind it."""
        self._question = None
        self._enter(*self._back)

    async def action_take_choice(self) -> None:
        if self._question is not None:
            await self._answer(self._question.choices[self.query_one(ChoiceRow).chosen].value)

    async def action_give_up(self) -> None:
        await self._answer("")

    def action_move_choice(self, step: int) -> None:
        row = self.query_one(ChoiceRow)
        row.chosen = (row.chosen + step) % len(row.choices)

    def tell(self, words: str, severity: Severity = "info") -> None:
        """Say a sentence that belongs to no document."""
        self._controller.notice(words, severity)

    def untell(self, words: str) -> None:
        """Take a sentence away that is not true any more."""
        for notice in self._controller.state.notices:
            if notice.text == words:
                self._controller.notices.dismiss(notice.id)
