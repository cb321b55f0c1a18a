"""The foot of the chat: the prompt, or in its place whatever waits for an answer."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from app.state.model import State
from widgets.ask.choices import ChoiceBox
from widgets.ask.line import LineBox
from widgets.ask.permission import PermissionBox
from widgets.ask.question import QuestionBox
from widgets.ask.receipt import ReceiptBox
from widgets.ask.welcome import trust_box, welcome_box
from widgets.looks import glyphs_of
from widgets.prompt.prompt import Prompt

TYPING_PAUSE = 0.3
"""Seconds without a key before a question takes the prompt's place (spec/look.md, Chat)."""


class Foot(Vertical):
    """Shows one box at a time; no key that was typed for the prompt answers it by accident."""

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__(id="foot")
        self._now = now
        self._typed = float("-inf")
        self._waits = False
        self._wanted: ChoiceBox | QuestionBox | None = None

    def compose(self) -> ComposeResult:
        with Horizontal(id="input"):
            yield Static(Content(glyphs_of(self.app).prompt), id="mark")
            yield Prompt(now=self._now, id="prompt")

    @property
    def prompt(self) -> Prompt:
        """Where the person types."""
        return self.query_one(Prompt)

    @property
    def box(self) -> Widget | None:
        """What is shown in the prompt's place."""
        return next(iter(self.query(".question")), None)

    def typed(self) -> None:
        """The person has just typed into the prompt."""
        self._typed = self._now()

    async def show(self, state: State) -> None:
        """Show what waits for an answer once the typing has paused, else the prompt."""
        self._wanted = wanted_box(state)
        await self._settle()

    async def _settle(self) -> None:
        wanted, current = self._wanted, self.box
        if isinstance(current, LineBox) and (wanted is None or current.holds_against(wanted)):
            return
        if wanted is not None and current is not None and _same(current, wanted):
            return
        pause = self._typed + TYPING_PAUSE - self._now()
        if wanted is not None and current is None and pause > 0:
            if not self._waits:
                self._waits = True
                self.set_timer(pause, self._after_pause)
            return
        await self._replace(wanted)

    async def _after_pause(self) -> None:
        self._waits = False
        await self._settle()

    async def ask_line(self, box: LineBox) -> None:
        """Show a line to be filled in."""
        await self._replace(box)

    async def close_line(self) -> None:
        """Take the line away; what else waits comes back."""
        await self._replace(self._wanted)

    async def _replace(self, box: Widget | None) -> None:
        current = self.box
        if current is not None:
            await current.remove()
        self.query_one("#input").display = box is None
        if box is not None:
            box.add_class("question")
            await self.mount(box)
            box.focus()
        elif current is not None:
            self.prompt.focus()


def wanted_box(state: State) -> ChoiceBox | QuestionBox | None:
    """The box for what waits first: trust, a permission, a question, a summary, a model."""
    if not state.session.session_id:
        return None
    if state.access.trusted is None:
        return trust_box(state.session.root)
    if state.permission.requests:
        return PermissionBox(state.permission.requests[0])
    if state.permission.questions:
        return QuestionBox(state.permission.questions[0])
    if state.compaction.receipt is not None:
        return ReceiptBox(state.compaction.receipt)
    return None if state.access.ready else welcome_box(state.access)


def _same(current: Widget, wanted: Widget) -> bool:
    if isinstance(current, PermissionBox) and isinstance(wanted, PermissionBox):
        return current.request.id == wanted.request.id
    if isinstance(current, QuestionBox) and isinstance(wanted, QuestionBox):
        return current.request.id == wanted.request.id
    if isinstance(current, ReceiptBox) and isinstance(wanted, ReceiptBox):
        return current.receipt is wanted.receipt
    return current.id == wanted.id == "trust"
