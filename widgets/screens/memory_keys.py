"""In which order the keys of the memory screen act, and what it asks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct
from textual import events
from textual.content import Content
from textual.screen import Screen
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

if TYPE_CHECKING:
    from app.controller import Controller

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


class MemoryKeys(Follow, Screen[None]):
    """Keys go to the list, the line or the editor whose turn it is, in the order of typing."""

    AUTO_FOCUS = ""

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
        self._keys = 0
        """Keys so far: a question waits until they pause."""
        self._waits_for_keys = False
        self._turn = asyncio.Lock()
        """One at a time reads and writes documents."""
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

    async def deliver(self, event: events.Key | events.Paste) -> None:
        """Hand what was typed to the one whose turn it is, whoever has the focus yet."""
        self._keys += 1
        if not self.is_current:
            self._pass_on(event)
            return
        target = self._target
        if isinstance(event, events.Paste):
            await target.pasted(event.text)
        elif self._question is None or not await self._answered_by(event):
            await target.typed(event)
        self._settle_focus()

    def _pass_on(self, event: events.Key | events.Paste) -> None:
        """Another screen was opened, or this one closed, by the key before."""
        screen = self.app.screen
        target = screen.focused or screen
        if isinstance(event, events.Paste):
            target.post_message(events.Paste(event.text))
        else:
            target.post_message(events.Key(event.key, event.character))

    @property
    def _target(self) -> KeyLine | Editor:
        if self._mode == "edit" and self._shown is not None:
            return self._shown.editor
        return self.line

    def _settle_focus(self) -> None:
        """Give the focus to the one whose turn it is, once the keys typed before have acted."""
        holder, target = self.focused, self._target
        if holder is target or self._waits_for_keys or not (self.is_current and self.is_mounted):
            return
        if holder is not None and holder.is_attached and holder.message_queue_size:
            self._waits_for_keys = holder.call_later(self._look_at_focus)
        else:
            self.set_focus(target, scroll_visible=False)

    def _look_at_focus(self) -> None:
        self._waits_for_keys = False
        self._settle_focus()

    async def press(self, action: str) -> None:
        """Carry out the action of a key; nothing else touches the documents meanwhile."""
        async with self._turn:
            await self.run_action(action)

    def _enter(self, mode: Mode, said: str = "", text: str = "") -> None:
        """Let the keys be those of a mode; `said` stands in front of the line."""
        self._mode, self._said = mode, said
        if mode in {"search", "name", "find", "replace"}:
            self.line.ask(f"memory_{mode}.", text)
        elif mode == "list":
            self.line.rest(self, "memory.")
        else:
            self.line.rest(self.line, f"memory_{mode}.")
        for each in MODES:
            self.set_class(each == mode, f"-{each}")
        self.set_class(self.line.is_asking, "-asking")
        self.draw()
        self._settle_focus()

    # What is asked

    async def ask(self, question: Question) -> None:
        """Show choices in the place of the line."""
        if self._question is not None:
            return
        self._question, self._back = question, (self._mode, self._said, self.line.value)
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
        question, self._question = self._question, None
        if question is not None:
            self._enter(*self._back)
            await question.answer(value)

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
