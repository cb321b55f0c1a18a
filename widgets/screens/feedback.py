"""Feedback: drafts to be read, edited, previewed to the byte, and sent, exported or discarded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar, Final, Literal

from msgspec.structs import replace
from textual import events, on
from textual.binding import Binding, BindingType

from app.background.feedback.drafts import Draft
from app.background.feedback.payload import Choice as Chosen
from app.errors import ReverieError
from app.plain_text import plain_line
from app.state.feedback import Attempt, Feedback
from widgets.ask.choices import Choice
from widgets.feedback.rows import bytes_in_words
from widgets.memory.key_line import key_rows
from widgets.notices import NoticeRows
from widgets.screens.dialogs.help import HelpScreen
from widgets.screens.feedback_editing import FeedbackEditing
from widgets.screens.feedback_reading import Question
from widgets.tree.tree_list import TreeList

IN_QUESTION: Final = frozenset({"answer", "open", "close", "move", "help"})
"""What keys do while something is asked."""
SEND_CHOICES: Final = (Choice("1", "Send again", "again"), Choice("2", "Leave it", ""))
SMALL_CHOICES: Final = (Choice("1", "Send without transcript", "small"), Choice("2", "Later", ""))
EXPORT_CHOICES: Final = (Choice("1", "Export to a file", "export"), Choice("2", "Later", ""))


class FeedbackScreen(FeedbackEditing):
    """Keys act on the draft under the cursor, in the pane on the row under it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Edit", id="feedback.open"),
        Binding("p", "preview", "Preview exact bytes", id="feedback.preview"),
        Binding("e", "edit", "Edit", id="feedback.edit"),
        Binding("t", "transcript", "Transcript", id="feedback.transcript"),
        Binding("s", "secrets", "Secrets", id="feedback.secrets"),
        Binding("space", "mark", "Take or leave out", id="feedback.mark"),
        Binding("o", "up_to", "Only up to here", id="feedback.up_to"),
        Binding("ctrl+s", "send", "Send", id="feedback.send"),
        Binding("c", "stop", "Stop sending", id="feedback.stop"),
        Binding("d", "discard", "Discard", id="feedback.discard"),
        Binding("u", "undo_discard", "Put back what was discarded", id="feedback.undo"),
        Binding("x", "export", "Export", id="feedback.export"),
        Binding("n", "new", "New", id="feedback.new"),
        Binding("y", "copy", "Copy", id="feedback.copy"),
        Binding("up,k", "move(-1)", "Before", id="feedback.up"),
        Binding("down,j", "move(1)", "Next", id="feedback.down"),
        Binding("pageup", "page(-1)", "Page up", id="feedback.page_up"),
        Binding("pagedown", "page(1)", "Page down", id="feedback.page_down"),
        Binding("home,g", "end(-1)", "First", id="feedback.first"),
        Binding("end,G", "end(1)", "Last", id="feedback.last"),
        Binding("1", "answer(0)", "First answer, when asked", id="feedback.choice_1"),
        Binding("2", "answer(1)", "Second answer, when asked", id="feedback.choice_2"),
        Binding("3", "answer(2)", "Third answer, when asked", id="feedback.choice_3"),
        Binding("f1", "help", "Help", id="feedback.help"),
        Binding("escape,f5", "close", "Later", id="feedback.back"),
        Binding("ctrl+c", "give_up", "Leave the screen", id="feedback.give_up"),
        Binding("ctrl+q", "leave_app", "Leave", id="feedback.leave_app"),
    ]

    _wanted: Literal["", "send", "again"] = ""
    """What to do as soon as it is known what would leave; any other key takes it back."""
    _attempts = 0
    """Number of the last attempt whose end was seen."""

    def on_mount(self) -> None:
        self._discarded: list[Draft] = []
        attempt = self._controller.state.feedback.attempt
        self._attempts = attempt.number if attempt else 0

    async def act_on(self, event: events.Key | events.Paste) -> None:
        self._wanted = ""
        await super().act_on(event)

    async def press(self, action: str) -> None:
        """Carry out the action of a key; while something is asked, only the answer counts."""
        self._wanted = ""
        if self._question is None or action.partition("(")[0] in IN_QUESTION:
            # The draft under the cursor may be another one than the last that was read.
            await self.look_at_chosen()
            slid, self._has_slid = self._has_slid, False
            if slid and action == "send":
                self.tell("Another draft is under the cursor now; the same key again sends it.")
                return
            await self.run_action(action)

    # The cursor

    async def action_open(self) -> None:
        """Take the answer, act on the row, else edit the draft."""
        if self._question is not None:
            await self.action_answer(self._question.chosen)
        elif self.pane.has_cursor:
            self.action_mark()
        else:
            await self.action_edit()

    def action_move(self, step: int) -> None:
        if self._question is not None:
            self._question.chosen = (self._question.chosen + step) % len(self._question.choices)
            self.draw()
        else:
            self._move_by(step, 1)

    def action_page(self, step: int) -> None:
        self._move_by(step, self.list.page if self._part == "draft" else self.pane.page)

    def action_end(self, step: int) -> None:
        self._move_by(step, max(len(self._feedback.drafts), self.pane_count))

    def _move_by(self, step: int, rows: int) -> None:
        if self._part == "draft":
            self.choose(self.position + step * rows)
        elif self.pane.has_cursor:
            self._row = min(max(self._row + step * rows, 0), max(self.pane_count - 1, 0))
            self.pane.move(self._row)
        else:
            self.pane.scroll_relative(y=step * rows, animate=False, immediate=True, force=True)

    @on(TreeList.Clicked, "#feedback-list")
    async def _draft_clicked(self, message: TreeList.Clicked) -> None:
        self._wanted = ""
        if self._question is None and await self.leave_editor():
            self.choose(message.index)

    @on(TreeList.Clicked, "#feedback-pane")
    def _row_clicked(self, message: TreeList.Clicked) -> None:
        self._wanted = ""
        if self._question is None and self.pane.has_cursor:
            self._row = message.index
            self.pane.move(self._row)
            if message.opened:
                self.action_mark()

    # What of it goes along

    def action_preview(self) -> None:
        """Show what would leave: as text, then byte for byte, then the draft again."""
        if self._draft is not None:
            self.show_part({"text": "raw", "raw": "draft"}.get(self._part, "text"))  # pyright: ignore[reportArgumentType] - these three are parts

    def action_secrets(self) -> None:
        """Show what was found and struck out."""
        if self._draft is not None:
            self.show_part("draft" if self._part == "secrets" else "secrets")

    async def action_transcript(self) -> None:
        """Attach the transcript and show it; from there attach none."""
        draft = self._draft
        if draft is None:
            return
        if self._part == "transcript" or draft.id in self._choices:
            if self._part == "transcript":
                self._choices.pop(draft.id, None)
                self.show_part("draft")
                self.prepare_soon()
            else:
                self.show_part("transcript")
            return
        try:
            self._transcripts[draft.id] = await self._desk.transcript(draft)
        except ReverieError as error:
            self.tell(f"No transcript can be attached. {error}", "warning")
            return
        self._choices[draft.id] = Chosen()
        self.show_part("transcript")
        self.prepare_soon()

    def action_mark(self) -> None:
        """Leave a message out or take it, restore a secret or strike it out."""
        draft, row = self._draft, self._row
        if draft is None or row >= self.pane_count:
            return
        if self._part == "secrets":
            self._restored[draft.id] = self.restored ^ {self._findings[row].key}
        elif self._part == "transcript":
            number, choice = self.messages.messages[row].number, self.choice
            if choice.up_to is not None and number > choice.up_to:
                choice = replace(choice, up_to=None)
            else:
                choice = replace(choice, without=choice.without ^ {number})
            self._choices[draft.id] = choice
        else:
            return
        self.prepare_soon()

    def action_up_to(self) -> None:
        """Let the messages behind this one stay here; the same once more takes them again."""
        if self._draft is None or self._part != "transcript" or self._row >= self.pane_count:
            return
        number, choice = self.messages.messages[self._row].number, self.choice
        up_to = None if choice.up_to == number else number
        self._choices[self._draft.id] = replace(choice, up_to=up_to)
        self.prepare_soon()

    # Leaving this machine

    def action_send(self) -> None:
        """Send exactly what the preview shows, as soon as it is known."""
        self._send("send")

    def _send(self, how: Literal["send", "again"]) -> None:
        draft, prepared = self._draft, self._prepared
        if draft is None:
            return
        if not draft.title.strip():
            self.tell("The report needs a title: it is the first line, e edits it.", "warning")
        elif prepared is None:
            self._wanted = how
        elif prepared.sink is None:
            self._ask(prepared.trouble, EXPORT_CHOICES, self._answer_export)
        else:
            self._desk.send(prepared, again=how == "again")

    def prepared(self) -> None:
        wanted, self._wanted = self._wanted, ""
        if wanted:
            self._send(wanted)

    def action_stop(self) -> None:
        """Stop the attempt that goes on."""
        if self._feedback.sending is not None:
            self._desk.stop()

    def feedback_changed(self, feedback: Feedback) -> None:
        super().feedback_changed(feedback)
        attempt = feedback.attempt
        if attempt is not None and attempt.number > self._attempts:
            self._attempts = attempt.number
            self._attempt_ended(attempt)

    def _attempt_ended(self, attempt: Attempt) -> None:
        """Ask where only the person's word is missing for another attempt."""
        draft = self._draft
        is_busy = self._is_editing or self.line.is_asking or self._question is not None
        if draft is None or draft.id != attempt.draft_id or is_busy:
            return
        has_transcript = draft.id in self._choices
        if attempt.needs_word:
            self._ask(attempt.words, SEND_CHOICES, self._answer_again)
        elif attempt.is_too_large and has_transcript:
            words = "The service takes no report of this size. Send it without the transcript?"
            self._ask(words, SMALL_CHOICES, self._answer_small)

    async def _answer_again(self, value: str) -> None:
        if value:
            self._send("again")

    async def _answer_small(self, value: str) -> None:
        if value and self._draft is not None:
            self._choices.pop(self._draft.id, None)
            self.show_part("draft")
            self.prepare_soon()
            self._send("send")

    async def _answer_export(self, value: str) -> None:
        if value:
            self.action_export()

    def _ask(
        self, words: str, choices: tuple[Choice, ...], answer: Callable[[str], Awaitable[None]]
    ) -> None:
        self._question = Question(plain_line(words), choices, answer)
        self.draw()

    async def action_answer(self, index: int) -> None:
        """Give an answer by its number."""
        question, self._question = self._question, None
        self.draw()
        if question is not None and 0 <= index < len(question.choices):
            await question.answer(question.choices[index].value)

    def action_export(self) -> None:
        """Ask for the file that what would leave is written to."""
        if self._draft is not None:
            name = f"{self._draft.id}.json"
            self.line.ask("feedback_line.", name, chosen=False)
            self.draw()

    async def action_take_line(self) -> None:
        """Write it there; the draft stays. Where that fails another name can be given."""
        prepared = self._prepared
        if prepared is None:
            self.tell("It is still being prepared; try again in a moment.")
            return
        try:
            file = await self._desk.export(prepared, self.line.value)
        except ReverieError as error:
            self.tell(str(error), "error")
        else:
            self.action_leave_line()
            size = bytes_in_words(len(prepared.payload.data))
            self.tell(f"Exported {size} to {plain_line(str(file))}; the draft stays.")

    def action_leave_line(self) -> None:
        """Export nothing."""
        self.line.rest(self, "feedback.")
        self.draw()

    # Drafts

    async def action_discard(self) -> None:
        """Delete the draft; one key puts it back while this screen is open."""
        if self._draft is None:
            return
        try:
            draft = await self._desk.discard(self._draft.id)
        except ReverieError as error:
            self.tell(str(error), "error")
            return
        self._discarded.append(draft)
        title = plain_line(draft.title)
        self.tell(f"Discarded: “{title}”. u puts it back while this screen is open.")

    async def action_undo_discard(self) -> None:
        """Put the draft back that was discarded last, then the one before it."""
        if not self._discarded:
            self.tell("Nothing was discarded here.")
        elif not await self.is_full():
            draft = self._discarded[-1]
            self._chosen = self._aimed = draft.id
            try:
                await self._desk.put_back(draft)
            except ReverieError as error:
                self.tell(str(error), "error")
            else:
                self._discarded.pop()

    async def action_copy(self) -> None:
        """Copy what is shown as text."""
        text = self.editor.text
        if self._part in {"text", "raw"} and self._prepared is not None:
            text = self._prepared.data.decode()
        if self._draft is None or not text:
            return
        self.app.copy_to_clipboard(text)
        await self._controller.writing.copy(text)
        self.tell(f"Copied {len(text)} characters.")

    # Leaving

    async def action_help(self) -> None:
        """Show every key of this screen."""
        sections = [
            ("In the feedback", key_rows(self, "feedback.")),
            ("While you edit a report", key_rows(self.editor, "")),
        ]
        await self.app.push_screen(HelpScreen(sections))

    async def action_close(self) -> None:
        """Leave what is asked, a warning, the pane, else the screen."""
        if self._question is not None:
            await self.action_answer(-1)
        elif any(each.severity != "info" for each in self._controller.state.notices):
            self.query_one(NoticeRows).dismiss()
        elif self._part != "draft":
            self.show_part("draft")
        else:
            await self.action_give_up()

    async def action_give_up(self) -> None:
        """Leave the screen; what was typed is kept."""
        if await self.leave_editor():
            self.dismiss(None)

    async def action_leave_app(self) -> None:
        """End the app; what was typed is kept."""
        if await self.leave_editor():
            self.app.exit()

    @on(NoticeRows.Read)
    def _notice_read(self, message: NoticeRows.Read) -> None:
        self._controller.notices.dismiss(message.notice_id)
