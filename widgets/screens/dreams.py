"""The dreams: what each has changed, to look at, to accept or refuse, to take back."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType

from app.background.dream.record import Dream
from app.errors import ReverieError
from app.plain_text import plain_line
from widgets.dreams.diff import diff_text
from widgets.dreams.dream_rows import count_in_words
from widgets.notices import NoticeRows
from widgets.screens.dialogs.help import HelpScreen, key_sections
from widgets.screens.dreams_view import DreamsView, Question
from widgets.tree.tree_list import TreeList

IN_QUESTION = frozenset({"answer", "open", "close", "move", "help"})
"""What keys do while something is asked."""


class DreamsScreen(DreamsView):
    """Keys act on the dream under the cursor, in the changes on the hunk or document."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Changes", id="dreams.open"),
        Binding("tab,shift+tab", "other", "List or changes", id="dreams.other"),
        Binding("space", "toggle_hunk", "Accept or refuse", id="dreams.toggle"),
        Binding("f", "toggle_file", "Whole file", id="dreams.toggle_file"),
        Binding("a", "accept", "Publish", id="dreams.accept"),
        Binding("d", "discard", "Discard", id="dreams.discard"),
        Binding("u", "revert", "Take file back", id="dreams.revert"),
        Binding("U", "revert_all", "Take all back", id="dreams.revert_all"),
        Binding("right_square_bracket", "hunk(1)", "Next hunk", id="dreams.next_hunk"),
        Binding("left_square_bracket", "hunk(-1)", "Hunk before", id="dreams.hunk_before"),
        Binding("y", "copy", "Copy", id="dreams.copy"),
        Binding("up,k", "move(-1)", "Before", id="dreams.up"),
        Binding("down,j", "move(1)", "Next", id="dreams.down"),
        Binding("pageup", "page(-1)", "Page up", id="dreams.page_up"),
        Binding("pagedown", "page(1)", "Page down", id="dreams.page_down"),
        Binding("home,g", "end(-1)", "First", id="dreams.first"),
        Binding("end,G", "end(1)", "Last", id="dreams.last"),
        Binding("1", "answer('yes')", "Yes, when asked", id="dreams.yes"),
        Binding("2", "answer('no')", "No, when asked", id="dreams.no"),
        Binding("f1", "help", "Help", id="dreams.help"),
        Binding("escape", "close", "Back", id="dreams.back"),
        Binding("ctrl+c", "give_up", show=False, priority=True),
    ]

    async def press(self, action: str) -> None:
        """As before; while something is asked, only the answer counts."""
        if self._question is None or action.partition("(")[0] in IN_QUESTION:
            await super().press(action)

    # The cursor

    def action_open(self) -> None:
        """Take the choice, else let the keys move in the changes, from the first file on."""
        if self._question is not None:
            self.action_answer(self._question.choices[self._question.chosen].value)
        elif not self._is_reading:
            self.action_other()

    def action_other(self) -> None:
        """Give the keys to the changes or back to the list."""
        if self.chosen is not None:
            self._is_reading = not self._is_reading
            if self._is_reading and self._row == 0:
                self._row = self.find(0, -1)
                self.call_after_refresh(self._reveal)
            self._draw()

    def _reveal(self) -> None:
        """Scroll to the cursor, wherever the keys have put it meanwhile."""
        self.diff.show_from(self._row)

    def action_move(self, step: int) -> None:
        if self._question is not None:
            self._question.chosen = (self._question.chosen + step) % 2
            self._draw()
        elif self._is_reading:
            self._move_to(self._row + step)
        else:
            self.choose(self.position + step)

    def action_page(self, step: int) -> None:
        if self._is_reading:
            self._move_to(self._row + step * self.diff.page)
        else:
            self.choose(self.position + step * self.list.page)

    def action_end(self, step: int) -> None:
        if self._is_reading:
            self._move_to(len(self._rows) if step > 0 else 0)
        else:
            self.choose(len(self._dreams) if step > 0 else 0)

    def action_hunk(self, step: int) -> None:
        """Go to the next hunk, or to the one before."""
        way = range(self._row + 1, len(self._rows)) if step > 0 else range(self._row - 1, -1, -1)
        heads = (index for index in way if self._rows[index].is_head)
        found = next((index for index in heads if self._rows[index].hunk >= 0), None)
        if found is not None:
            self._is_reading = True
            self._draw()
            self._go_to(found)

    def _move_to(self, row: int) -> None:
        self._row = min(max(row, 0), max(len(self._rows) - 1, 0))
        self.diff.move(self._row)
        self.draw_foot()

    def _go_to(self, row: int) -> None:
        """Put the cursor on a row and what follows it in sight."""
        self.diff.show_from(row)
        self._move_to(row)

    @on(TreeList.Clicked, "#dreams-list")
    def _dream_clicked(self, message: TreeList.Clicked) -> None:
        if self._question is None:
            self._is_reading = message.opened
            self.choose(message.index)

    @on(TreeList.Clicked, "#dreams-diff")
    def _row_clicked(self, message: TreeList.Clicked) -> None:
        if self._question is None:
            self._is_reading = True
            self._move_to(message.index)
            self._draw()

    # A dream that is held

    def action_toggle_hunk(self) -> None:
        """Refuse the hunk under the cursor, or accept it again; on a file's name all of its."""
        row, told = self.under_cursor, self._held_dream()
        if told is None or row is None:
            return
        if row.hunk < 0 or not self._is_reading:
            self.action_toggle_file()
            return
        name = self._diffs[row.file].file.name
        self._reviews[told.id] = self.review.toggled(name, row.hunk)
        self._draw()

    def action_toggle_file(self) -> None:
        """The same for all hunks of the file under the cursor."""
        row, told = self.under_cursor, self._held_dream()
        if told is None or row is None:
            return
        if row.file < 0 or not self._is_reading:
            self.tell("Put the cursor on a hunk or a file of the changes first.")
        elif not self._diffs[row.file].hunks:
            self.tell("Nothing in this file is changed line by line: it goes with the others.")
        else:
            self._reviews[told.id] = self.review.toggled_file(self._diffs[row.file])
            self._draw()

    def _held_dream(self) -> Dream | None:
        """The chosen dream where it waits for the person; else it is said why nothing is done."""
        dream = self.chosen
        if dream is not None and dream.status != "held":
            self.tell(f"This dream is {dream.status}: there is nothing to accept or refuse.")
            return None
        return dream

    def action_accept(self) -> None:
        """Publish what is accepted; where that is nothing, ask whether to discard."""
        dream = self._held_dream()
        if dream is None:
            return
        if self.review.accepts_nothing(self._diffs):
            words = "Nothing is accepted: the dream would be discarded."
            self._ask(Question(words, "Discard", "Go on looking", "discard"))
            return
        hunks = self.review.accepted(self._diffs) if self.review.refused else None
        self._do(self._accept(dream, hunks))

    async def _accept(self, dream: Dream, hunks: dict[str, list[int]] | None) -> None:
        refused = len(self.review.refused)
        made = await self._desk.accept(dream.id, hunks)
        words = f"Published: {count_in_words(len(made.touched), 'file')} changed."
        if refused:
            words += f" Refused: {count_in_words(refused, 'hunk')}."
        has_conflict = any(file.state == "conflict" for file in made.files)
        self.tell(f"{words} {made.reason}".strip(), "warning" if has_conflict else "info")
        await self.replace(made)

    def action_discard(self) -> None:
        """Ask whether to throw the dream away."""
        dream = self._held_dream()
        if dream is not None:
            count = count_in_words(len(dream.files), "file")
            words = f"Discard the dream? Its changes to {count} are not made."
            self._ask(Question(words, "Discard", "Keep it", "discard"))

    async def _discard(self, dream: Dream) -> None:
        made = await self._desk.discard(dream.id)
        self.tell("Discarded: memory stays as it is. What the dream wrote can still be read here.")
        await self.replace(made)

    # A dream that is published

    def action_revert(self) -> None:
        """Take the file under the cursor back; in the list ask for the whole dream."""
        row, dream = self.under_cursor, self.chosen
        if dream is None:
            return
        if not self._is_reading or row is None or row.file < 0:
            self.action_revert_all()
            return
        file = self._diffs[row.file].file
        if file.state == "published":
            self._do(self._revert(dream, file.name))
        else:
            name = plain_line(file.name)
            self.tell(f"Nothing of {name} is to be taken back: the dream's change is not in it.")

    def action_revert_all(self) -> None:
        """Ask whether to take the whole dream back."""
        dream = self.chosen
        if dream is None:
            return
        if not dream.touched:
            self.tell("Nothing is to be taken back: no change of this dream is in memory.")
            return
        count = count_in_words(len(dream.touched), "file")
        words = f"Take the dream back? {count}; what was changed later stays."
        self._ask(Question(words, "Take back", "Leave it", "revert"))

    async def _revert(self, dream: Dream, *names: str) -> None:
        made, left = await self._desk.revert(dream.id, *names)
        still = {*dream.touched} - {*made.touched}
        back = ", ".join(file.name for file in made.files if file.name in still)
        words = f"Taken back: {back or 'nothing'}. {' '.join(left)}".strip()
        self.tell(words, "warning" if left else "info")
        await self.replace(made)

    # What is asked and done

    def _ask(self, question: Question) -> None:
        self._question = question
        self._draw()

    def action_answer(self, value: str) -> None:
        """Do what was asked about, or leave it."""
        question, dream = self._question, self.chosen
        self._question = None
        self._draw()
        if question is not None and dream is not None and value == "yes":
            does = self._discard if question.action == "discard" else self._revert
            self._do(does(dream))

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        self._doer = self.run_worker(self._done(work), group="desk")

    async def _done(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except ReverieError as error:
            self.tell(str(error), "error")
            self.read_again()

    async def action_copy(self) -> None:
        """Copy what the dream has changed as text."""
        text = diff_text(self._diffs)
        if not text:
            self.tell("There is nothing to copy.")
            return
        self.app.copy_to_clipboard(text)
        await self._controller.writing.copy(text)
        self.tell(f"Copied {len(text)} characters.")

    # Leaving

    def action_help(self) -> None:
        """Show every key of this screen."""
        self.app.push_screen(HelpScreen(key_sections((("In the dreams", self),))))

    def action_close(self) -> None:
        """Leave what is asked, give the keys back to the list, else leave."""
        if self._question is not None:
            self.action_answer("no")
        elif self._is_reading:
            self.action_other()
        else:
            self.dismiss(None)

    async def action_give_up(self) -> None:
        """Leave, whatever is asked; what is being written is written first."""
        await self.wait_for(self._doer)
        self.dismiss(None)

    @on(NoticeRows.Read)
    def _notice_read(self, message: NoticeRows.Read) -> None:
        self._controller.notices.dismiss(message.notice_id)
