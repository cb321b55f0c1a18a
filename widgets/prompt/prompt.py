"""Where the person types: many lines, history, completion, pastes as chips."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message

from app.commands import parse_command
from app.plain_text import plain, plain_line
from widgets.keys import action_of
from widgets.prompt.completion import Offer, Wanted, wanted_at
from widgets.prompt.graphemes import GraphemeArea
from widgets.prompt.pastes import Pastes

Location = tuple[int, int]
GHOST_KEYS = "tab accept · any key hides"
GHOST_PAUSE = 0.5
"""Seconds that a ghost text must have been in sight before enter may send it."""
_GHOST_ACTIONS = frozenset({"tab", "send", "cursor_right"})


class Prompt(GraphemeArea):
    """The prompt. What leaves it is a message; it starts nothing by itself."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "send", "Send", id="prompt.send"),
        Binding(
            "shift+enter,alt+enter,ctrl+j,ctrl+enter", "newline", "New line", id="prompt.newline"
        ),
        Binding("tab", "tab", "Complete", id="prompt.tab"),
        Binding("up", "up", "Earlier", id="prompt.earlier"),
        Binding("down", "down", "Later", id="prompt.later"),
        Binding("ctrl+c", "clear", "Clear", id="prompt.clear"),
        Binding("ctrl+g", "edit", "Editor", id="prompt.editor"),
        Binding("ctrl+r", "sessions", "Sessions", id="prompt.sessions"),
        Binding("ctrl+d", "delete_or_leave", "Delete right", id="prompt.delete_right"),
        Binding("delete", "delete_or_drop", "Delete", id="prompt.delete"),
        Binding("ctrl+b", "cursor_left", show=False),
        Binding("ctrl+f", "cursor_right", show=False),
        Binding("alt+b", "cursor_word_left", show=False),
        Binding("alt+f", "cursor_word_right", show=False),
        Binding("alt+d", "delete_word_right", show=False),
        Binding("ctrl+underscore", "undo", show=False),
    ]

    class Sent(Message):
        """The person sent the text, with the pictures whose chips were in it."""

        def __init__(self, text: str, pictures: tuple[Path, ...] = ()) -> None:
            super().__init__()
            self.text = text
            self.pictures = pictures

    class CompletionWanted(Message):
        """A word wants to be completed, or with None no longer."""

        def __init__(self, wanted: Wanted | None) -> None:
            super().__init__()
            self.wanted = wanted

    class OfferMoved(Message):
        """The chosen line of the list changed."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    class EditAsked(Message):
        """The person wants to write in their own editor."""

    class ClearAsked(Message):
        """The person wants the prompt empty, or to leave the app when it is."""

    class LeaveAsked(Message):
        """The person wants to go to the conversation."""

    class SessionsAsked(Message):
        """The person wants to go on with another session."""

    class GhostGone(Message):
        """What was offered as ghost text was taken, or a key has said no to it."""

    class QueueAsked(Message):
        """The person wants back what was queued last."""

    class DropAsked(Message):
        """The person wants what was queued last to be forgotten."""

    def __init__(
        self,
        *,
        now: Callable[[], float] = time.monotonic,
        id: str | None = None,  # noqa: A002 - Textual's own name
    ) -> None:
        """`now` gives monotonic seconds."""
        self.earlier: Sequence[str] = ()
        """Earlier prompts, oldest first."""
        self.has_queue = False
        self.enter_takes = False
        """Whether enter takes the ghost text and sends it."""
        self._ghost = ""
        self._ghost_since = 0.0
        self._now = now
        self._pastes = Pastes()
        self._place: int | None = None
        self._kept = ""
        self._offers: Sequence[Offer] = ()
        self._wanted: Wanted | None = None
        self._chosen = 0
        self._closed_word: Wanted | None = None
        self._taking = False
        super().__init__(
            id=id,
            soft_wrap=True,
            show_line_numbers=False,
            tab_behavior="focus",
            highlight_cursor_line=False,
            compact=True,
        )
        self.cursor_blink = False
        for key in ("f6", "f7"):  # TextArea's own; function keys belong to the screens
            self._bindings.key_to_bindings.pop(key, None)

    # Text

    @property
    def whole_text(self) -> str:
        """The text with its pastes unfolded: what would be sent."""
        return self._pastes.unfold(self.text)

    def take(self, text: str) -> None:
        """Replace the text; the cursor goes to its end."""
        self._taking = True
        self.load_text(plain(text))
        self.move_cursor(self.document.end)
        self._taking = False
        self._closed_word = self._word()  # a list over a recalled text would take the arrow keys

    def put_in_front(self, texts: Sequence[str]) -> None:
        """Put texts in front of the draft, each on lines of its own."""
        parts = [*texts, self.text] if self.text else list(texts)
        self.take("\n".join(parts))

    def put_back(self, text: str) -> None:
        """Put the text of an earlier prompt in front of the draft, unless it stands there."""
        if text and not self.whole_text.startswith(text):
            self.put_in_front([text])

    def clear_draft(self) -> str:
        """Empty the prompt; returns what was in it."""
        text = self.whole_text
        self.load_text("")
        self._pastes = Pastes()
        self._place = None
        return text

    # Ghost text: it is drawn in the empty prompt and is no part of the document

    def offer_ghost(self, text: str) -> None:
        """Draw what the person may want to say, or with an empty text nothing."""
        if text != self._ghost:
            self._ghost, self._ghost_since = text, self._now()
            self._draw_ghost()

    @property
    def ghost(self) -> str:
        """The ghost text that is in sight, whole; empty when there is none."""
        fits = cell_len(plain_line(self._ghost)) < self.content_size.width
        return self._ghost if fits and not self.text else ""

    def on_resize(self) -> None:
        self._draw_ghost()

    def _draw_ghost(self) -> None:
        words = plain_line(self.ghost or "")
        gap = self.content_size.width - cell_len(words) - cell_len(GHOST_KEYS) - 1
        line = f"{words}{' ' * gap}{GHOST_KEYS}" if words and gap > 1 else words
        self.placeholder = Content(line)

    def _take_ghost(self) -> bool:
        """Make the ghost text the draft; False when there is none."""
        ghost = self.ghost
        if ghost:
            self._let_ghost_go()
            self.take(ghost)
        return bool(ghost)

    def _let_ghost_go(self) -> None:
        if self._ghost:
            self.offer_ghost("")
            self.post_message(self.GhostGone())

    # Keys

    async def _on_key(self, event: events.Key) -> None:
        # Looked up here and not by priority bindings, which would overtake the letters that were
        # typed just before them; the text area's own (backspace, arrows) too, which would be
        # overtaken by those typed just after them.
        action = action_of(self, event.key, "prompt.") or action_of(self, event.key, "")
        if self._ghost and action not in _GHOST_ACTIONS:
            self._let_ghost_go()
        if action is not None:
            event.stop()
            event.prevent_default()
            await self.run_action(action)
            return
        character = event.character
        if character is not None and unicodedata.category(character[:1]) in {"Cc", "Cs"}:
            return  # a control character is a key or nothing, never text
        if character is not None and len(character) == 1 and not event.is_printable:
            self.action_insert(character)  # joiners and hard spaces, which TextArea leaves out
            event.stop()
            event.prevent_default()
            return
        if event.is_printable and event.key not in {"enter", "tab"}:
            self._place = None
        await super()._on_key(event)

    async def _on_paste(self, event: events.Paste) -> None:
        self._let_ghost_go()
        event.stop()
        event.prevent_default()
        self.action_insert(self._pastes.fold(plain(event.text)))

    def action_send(self) -> None:
        """Send; with the list of completions open take the chosen one."""
        wanted = self._wanted
        known = self._offers and wanted is not None and wanted == self._word()
        if known and wanted is not None and parse_command(self.text) is None:
            self._accept()
            if wanted.kind == "path":
                return
        row, column = self.cursor_location
        line = self.document.get_line(row)
        if line.endswith("\\") and column == len(line):
            self.replace("\n", (row, column - 1), (row, column))
            return
        if self.ghost:
            ripe = self._now() - self._ghost_since >= GHOST_PAUSE
            if not (self.enter_takes and ripe and self._take_ghost()):
                self._let_ghost_go()
        text, pictures = self._pastes.take_pictures(self.whole_text)
        if text.strip() or pictures:
            self.clear_draft()
            self.post_message(self.Sent(text, pictures))

    def action_clear(self) -> None:
        """Copy what is selected; else empty the prompt, or ask to leave when it is empty."""
        if self.selected_text:
            self.action_copy()
        else:
            self.post_message(self.ClearAsked())

    def action_delete_or_leave(self) -> None:
        """Delete to the right; in an empty prompt ask to leave."""
        if self.text:
            self.action_delete_right()
        else:
            self.post_message(self.ClearAsked())

    def action_delete_or_drop(self) -> None:
        """Delete to the right; in an empty prompt forget what was queued last."""
        if self.text or not self.has_queue:
            self.action_delete_right()
        else:
            self.post_message(self.DropAsked())

    def action_insert(self, text: str) -> None:
        """Type a text in place of what is selected."""
        self.move_cursor(self.replace(text, *self.selection).end_location)

    def action_newline(self) -> None:
        """Begin a new line."""
        self.replace("\n", *self.selection)

    def action_tab(self) -> None:
        """Take the chosen completion or the ghost text; in an empty prompt leave it."""
        if self._offers:
            self._accept()
        elif self._take_ghost():
            return
        elif not self.text:
            self.post_message(self.LeaveAsked())

    def action_cursor_right(self, select: bool = False) -> None:
        if not self._take_ghost():
            super().action_cursor_right(select)

    def action_up(self) -> None:
        """The offer above, the line above, or the earlier prompt."""
        if self._offers:
            self._move_offer(-1)
        elif self.has_queue and not self.text:
            self.post_message(self.QueueAsked())
        elif self.navigator.is_first_wrapped_line(self.cursor_location):
            self._recall(-1)
        else:
            self.action_cursor_up()

    def action_down(self) -> None:
        """The offer below, the line below, or the later prompt."""
        if self._offers:
            self._move_offer(1)
        elif self.navigator.is_last_wrapped_line(self.cursor_location):
            self._recall(1)
        else:
            self.action_cursor_down()

    def _recall(self, step: int) -> None:
        count = len(self.earlier)
        if self._place is None:
            if step > 0 or not count:
                return
            self._kept, self._place = self.whole_text, count
        place = self._place + step
        if place < 0 or place > count:
            return
        text = self._kept if place == count else self.earlier[place]
        self.take(text)
        self._place = None if place == count else place

    def action_sessions(self) -> None:
        """Show the sessions; a text that is being written keeps its place."""
        if not self.text:
            self.post_message(self.SessionsAsked())

    def action_edit(self) -> None:
        self.post_message(self.EditAsked())

    # Completion

    def on_text_area_changed(self) -> None:
        self._look_for_word()

    def _watch_selection(self, previous_selection: object, selection: object) -> None:
        super()._watch_selection(previous_selection, selection)  # pyright: ignore[reportArgumentType] - handed on as it came
        self._look_for_word()

    def _word(self) -> Wanted | None:
        row, column = self.cursor_location
        return wanted_at(self.document.get_line(row), column, first_line=row == 0)

    def _look_for_word(self) -> None:
        if self._taking:
            return
        wanted = self._word()
        if wanted != self._closed_word:
            self._closed_word = None
        if wanted == self._wanted or (wanted is not None and wanted == self._closed_word):
            return
        self._wanted = wanted
        self._offers = ()  # they were found for another word
        self.post_message(self.CompletionWanted(wanted))

    def offer(self, wanted: Wanted, offers: Sequence[Offer]) -> bool:
        """Open the list for a word; False when the word has changed meanwhile."""
        if wanted != self._wanted:
            return False
        self._offers, self._chosen = offers, 0
        return True

    def close_offers(self) -> bool:
        """Close the list until the word changes; False when it was not open."""
        if not self._offers:
            return False
        self._offers, self._closed_word = (), self._wanted
        self._wanted = None
        self.post_message(self.CompletionWanted(None))
        return True

    def _move_offer(self, step: int) -> None:
        self._chosen = (self._chosen + step) % len(self._offers)
        self.post_message(self.OfferMoved(self._chosen))

    def _accept(self) -> None:
        wanted = self._wanted
        if wanted is None:
            return
        mark = "/" if wanted.kind == "command" else "@"
        row, column = self.cursor_location
        ends = "" if self._offers[self._chosen].text.endswith("/") else " "
        text = f"{mark}{self._offers[self._chosen].text}{ends}"
        self._offers = ()
        self.replace(text, (row, wanted.start), (row, column))
