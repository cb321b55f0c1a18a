"""How a report is edited: what is typed is kept on disk a moment later, whatever happens."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from textual import on
from textual.widgets import TextArea

from app.background.feedback.drafts import MOST_DRAFTS
from app.errors import ReverieError
from app.plain_text import plain, plain_line
from widgets.ask.choices import Choice
from widgets.feedback.desk import FeedbackDesk
from widgets.feedback.report_text import parts_of
from widgets.screens.chat_commands import ChatCommands
from widgets.screens.feedback_reading import Question
from widgets.screens.feedback_view import FeedbackView

if TYPE_CHECKING:
    from app.controller import Controller

PAUSE: Final = 0.5
"""Seconds after which what was typed is written, however fast the typing goes on."""
STUCK_CHOICES: Final = (
    Choice("1", "Go on editing", ""),
    Choice("2", "Put aside", "aside"),
    Choice("3", "Drop it", "drop"),
)


class FeedbackEditing(FeedbackView):
    """The chosen draft in the editor."""

    def __init__(self, controller: Controller, desk: FeedbackDesk, chosen: str = "") -> None:
        super().__init__(controller, desk, chosen)
        self._kept = ""
        """The editor's text as it is on disk."""
        self._is_new = False
        """Whether the draft was begun here and nothing was typed yet."""
        self._saving = asyncio.Lock()
        self._keeps_soon = False
        """Whether what was typed will be written in a moment."""

    async def action_edit(self) -> None:
        """Edit the chosen draft."""
        if self._draft is None or self._is_editing:
            return
        if self._feedback.sending and self._feedback.sending.draft_id == self._draft.id:
            self.tell("It is being sent right now; wait until it is done, or stop it.")
            return
        self.show_part("draft")
        self._kept = self.editor.text
        self._is_editing = True
        self.settle_focus()
        self.draw()

    async def is_full(self) -> bool:
        """Whether one more draft would send the oldest away; the person is told so."""
        await self._desk.look()
        self.catch_up()
        if len(self._feedback.drafts) < MOST_DRAFTS:
            return False
        self.tell(f"{MOST_DRAFTS} reports are kept. Send or discard one first.", "warning")
        return True

    async def action_new(self) -> None:
        """Begin a report of one's own."""
        if await self.is_full():
            return
        try:
            draft = await self._desk.write("")
        except ReverieError as error:
            self.tell(str(error), "error")
            return
        self._chosen = self._aimed = draft.id
        await self.look_at_chosen()
        await self.action_edit()
        self._is_new = self._is_editing

    @on(TextArea.Changed)
    def _typed(self) -> None:
        if self._is_editing and self.editor.text != self._kept:
            self.forget_prepared()
            if not self._keeps_soon:
                self._keeps_soon = True
                self.run_worker(self._keep_soon, group="keep")
        self.draw()

    async def _keep_soon(self) -> None:
        await self._clock.sleep(PAUSE)
        self._keeps_soon = False
        await self._keep()

    async def _keep(self) -> ReverieError | None:
        """Write what was typed; returns why that cannot be done."""
        async with self._saving:
            text, draft = self.editor.text, self._draft
            if draft is None or not self._is_editing or text == self._kept:
                return None
            try:
                after = await self._desk.save(draft, *parts_of(text, self._report))
            except ReverieError as error:
                self._unkept = str(error)
                self.draw()
                return error
            self._kept, self._unkept, self._is_new = text, "", False
            self.catch_up()
            self._draft, self._looked = after, self.seen
            return None

    async def leave_editor(self) -> bool:
        """Keep what was typed and give the keys back; False where it cannot be kept."""
        if not self._is_editing:
            return True
        error = await self._keep()
        if error is None:
            await self._stop_editing()
            return True
        words = plain_line(f"{error} Put aside, the text goes into a file beside the drafts.")
        self._question = Question(words, STUCK_CHOICES, self._answer_stuck)
        self.settle_focus()
        self.draw()
        return False

    async def _stop_editing(self) -> None:
        self._is_editing, self._unkept = False, ""
        if self._is_new and self._draft is not None:
            self._is_new = False
            await self._discard_new(self._draft.id)
        self._looked = None
        await self.look_at_chosen()
        self.settle_focus()
        self.draw()

    async def _discard_new(self, draft_id: str) -> None:
        """Let go of a draft into which nothing was typed."""
        try:
            await self._desk.discard(draft_id)
        except ReverieError as error:
            self.tell(str(error), "error")

    async def _answer_stuck(self, value: str) -> None:
        draft = self._draft
        if draft is None or not value:
            return
        if value == "aside":
            try:
                file = await self._desk.set_aside(draft.id, self.editor.text)
            except ReverieError as error:
                self.tell(str(error), "error")
                return
            self.tell(f"The text is in {plain_line(str(file))}.", "warning")
        await self._stop_editing()

    async def action_leave_editor(self) -> None:
        """Back to the list; what was typed is kept."""
        await self.leave_editor()

    async def action_external(self) -> None:
        """Edit the report in the person's own editor."""
        screens: list[Any] = self.app.screen_stack
        chat = next((each for each in screens if isinstance(each, ChatCommands)), None)
        if chat is not None:
            edited = await chat.edit_in_editor(self.editor.text)
            if edited is not None:
                self.editor.change_text(plain(edited, show_colours=True))
