"""The conversation of the session on screen: its records and the turn that runs, as blocks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from app.state import select
from app.state.model import Live, Session
from widgets.conversation.block_view import BlockView
from widgets.conversation.blocks import (
    AwayBlock,
    CardBlock,
    Fold,
    PromptBlock,
    copied_text,
    fold_of,
    foldable,
)
from widgets.conversation.feed import Feed
from widgets.follow import Follow
from widgets.looks import palette_of

HINTS = (
    ("enter", "sends, shift+enter or ctrl+j begins a new line"),
    ("/", "commands"),
    ("@", "a path of this project"),
    ("!", "a shell line of your own"),
    ("shift+tab", "how much the model may do without asking"),
    ("f1", "every key"),
)
HINT_WIDTH = 58

OLDER_RECORDS = 150
"""Earlier records that become blocks in one go, about 10 ms of work."""

SHORTEST = 1 / 24
"""Seconds between two drawings of what arrives."""
GIVING_WAY = 1 / 4
"""The same while the person types: their keys find the screen free."""
TYPING = 0.6
"""Seconds after a key in which the person counts as typing."""
SHARE = 8
"""The open block is drawn again after this many times the time its last drawing took."""


class Conversation(Follow, BlockView):
    """Everything that was said on the branch in use, and what is being said now."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "cursor(1)", "Next", id="conversation.next"),
        Binding("k,up", "cursor(-1)", "Previous", id="conversation.previous"),
        Binding("left_square_bracket", "prompt(-1)", "Prompt before", id="conversation.before"),
        Binding("right_square_bracket", "prompt(1)", "Prompt after", id="conversation.after"),
        Binding("g,home", "to_start", "First prompt", id="conversation.start"),
        Binding("G,end", "to_end", "End", id="conversation.end"),
        Binding("enter,space", "fold", "Open", id="conversation.fold"),
        Binding("y", "copy", "Copy", id="conversation.copy"),
        Binding("e", "edit", "Editor", id="conversation.edit"),
        Binding("x", "strike", "Strike a note, dismiss a recap", id="conversation.strike"),
        Binding("o", "turn_off", "Turn recaps off", id="conversation.turn_off"),
        Binding("slash", "find", "Find", id="conversation.find"),
        Binding("n", "find_next(1)", "Next hit", id="conversation.find_next"),
        Binding("N", "find_next(-1)", "Hit before", id="conversation.find_before"),
        Binding("tab,escape", "leave", "Prompt", id="conversation.leave"),
    ]

    class CopyAsked(Message):
        """The person wants a text on the clipboard."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class EditAsked(Message):
        """The person wants to read a text in their editor."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class StrikeAsked(Message):
        """The person wants what a call has noted in memory to be taken back."""

        def __init__(self, name: str, change_id: str, tool_id: str) -> None:
            super().__init__()
            self.name = name
            self.change_id = change_id
            self.tool_id = tool_id

    class RecapsUnwanted(Message):
        """The person wants no recaps after being away."""

    class FindAsked(Message):
        """The person wants to search."""

    class LeaveAsked(Message):
        """The person wants to type."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._feed = Feed()
        self._live: Live | None = None
        self._next_drawing = 0.0
        self._typed = float("-inf")
        self._waits = False
        self._sought = ""
        self._fetching = False

    def on_mount(self) -> None:
        self.blocks = self._feed.blocks
        self.follow(select.session, self._show_session)
        self.follow(select.live, self._show_live)

    def _show_session(self, session: Session) -> None:
        changed = self._feed.show(session.view, session.folder)
        self.blocks = self._feed.blocks
        if changed is None:
            self.reset_blocks()
            if self._feed.has_older and self._map.total <= 2 * self._page:
                self.near_start()
        elif changed:
            self.blocks_changed(changed)

    def _show_live(self, live: Live) -> None:
        self._live = live
        now = time.monotonic()
        arriving = bool(live.blocks) and not live.blocks[-1].closed
        if arriving and now < self._next_drawing:
            if not self._waits:
                self._waits = True
                self.set_timer(self._next_drawing - now, self._draw_waiting)
            return
        self._draw_live(live)

    def give_way(self) -> None:
        """The person has just typed a key."""
        self._typed = time.monotonic()

    def _interval(self, now: float) -> float:
        return GIVING_WAY if now - self._typed < TYPING else SHORTEST

    def _draw_waiting(self) -> None:
        self._waits = False
        if self._live is not None:
            self._draw_live(self._live)

    def _draw_live(self, live: Live) -> None:
        began = time.monotonic()
        changed = self._feed.show_live(live)
        self.blocks = self._feed.blocks
        if changed:
            self.blocks_changed(changed)
        ended = time.monotonic()
        self._next_drawing = max(began + self._interval(began), ended + SHARE * (ended - began))

    def empty_line(self, y: int) -> Strip:
        """Teaches the first keys, in the middle of an empty screen."""
        row = y - max(self.size.height // 2 - len(HINTS), 0)
        if not 0 <= row < len(HINTS):
            return super().empty_line(y)
        key, words = HINTS[row]
        margin = max((self.size.width - HINT_WIDTH) // 2, 0)
        palette = palette_of(self.app)
        segments = [
            Segment(" " * margin),
            Segment(key.ljust(10), Style(color=palette.accent)),
            Segment(words, Style(color=palette.muted)),
        ]
        strip = Strip(segments).extend_cell_length(self.size.width).crop(0, self.size.width)
        return strip.apply_style(self.rich_style)

    # What lies further back

    def near_start(self) -> None:
        if self._feed.has_older and not self._fetching:
            self._fetching = True
            self.call_later(self._fetch_older)

    def _fetch_older(self) -> None:
        self._fetching = False
        self._add_older()

    def _add_older(self) -> None:
        added = self._feed.add_older(OLDER_RECORDS)
        self.blocks = self._feed.blocks
        self.blocks_prepended(added)

    async def fetch_all(self) -> None:
        """Have every block of the conversation; the screen goes on living meanwhile."""
        while self._feed.has_older:
            self._add_older()
            await asyncio.sleep(0)

    # Keys

    def on_focus(self) -> None:
        if self.blocks and (self.cursor is None or self.following):
            self.cursor = len(self.blocks) - 1
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def action_cursor(self, step: int) -> None:
        """To the next or previous block; through a long one page by page."""
        if not self.blocks:
            return
        here = len(self.blocks) - 1 if self.cursor is None else self.cursor
        if step > 0 and self.ends_below(here):
            self.scroll_relative(y=self._page // 2, animate=False, immediate=True, force=True)
            return
        self.cursor = min(max(here + step, 0), len(self.blocks) - 1)
        self.show_block(self.cursor)

    async def action_prompt(self, step: int) -> None:
        """To the next or previous thing the person said."""
        if step < 0 and not self._has_prompt_before():
            await self.fetch_all()
        here = self.first_in_sight() if self.cursor is None else self.cursor
        index = here + step
        while 0 <= index < len(self.blocks):
            if isinstance(self.blocks[index], PromptBlock):
                self.cursor = index
                self.show_block(index)
                return
            index += step

    def _has_prompt_before(self) -> bool:
        here = self.first_in_sight() if self.cursor is None else self.cursor
        return any(isinstance(block, PromptBlock) for block in self.blocks[: max(here, 0)])

    async def action_to_start(self) -> None:
        """To the session's first prompt, across compactions."""
        self.following = False
        await self.fetch_all()
        if self.blocks:
            first = (i for i, b in enumerate(self.blocks) if isinstance(b, PromptBlock))
            self.cursor = next(first, 0)
            self.following = False
            self.scroll_to(y=0, animate=False, immediate=True, force=True)
            self.show_block(self.cursor)

    def action_to_end(self) -> None:
        """To the newest message, and follow from there on."""
        self.cursor = len(self.blocks) - 1 if self.blocks else None
        self.following = True
        self.settle()

    def action_fold(self) -> None:
        """Open the block under the cursor, or fold it."""
        if self.cursor is not None:
            self._toggle(self.cursor)

    def _toggle(self, index: int) -> None:
        block = self.blocks[index]
        if foldable(block):
            folds: dict[Fold, Fold] = {"folded": "full", "brief": "full", "full": "folded"}
            self._feed.set_fold(index, folds[fold_of(block)])
            following, self.following = self.following, False
            self.blocks_changed([index])
            self.following = following
            self.show_block(index)

    def on_click(self, event: events.Click) -> None:
        index = self.block_at(event.y)
        if index < 0 or self.text_selection is not None:
            return
        self.cursor = index
        self.refresh()
        if foldable(self.blocks[index]) and self.is_first_line(event.y, index):
            self._toggle(index)

    def action_copy(self) -> None:
        """Copy the block under the cursor."""
        if self.cursor is not None:
            self.post_message(self.CopyAsked(copied_text(self.blocks[self.cursor])))

    def action_edit(self) -> None:
        """Read the block under the cursor in the editor."""
        if self.cursor is not None:
            self.post_message(self.EditAsked(copied_text(self.blocks[self.cursor])))

    def action_strike(self) -> None:
        """Take back what the memory call under the cursor has noted; fold a recap."""
        block = self.blocks[self.cursor] if self.cursor is not None else None
        if isinstance(block, AwayBlock) and self.cursor is not None:
            self._feed.set_fold(self.cursor, "folded")
            self.blocks_changed([self.cursor])
        if isinstance(block, CardBlock) and isinstance(block.details, Mapping):
            change = block.details.get("changeId")
            if block.name == "memory" and isinstance(change, str):
                name = str(block.details.get("name"))
                self.post_message(self.StrikeAsked(name, change, block.tool_id))

    def action_turn_off(self) -> None:
        """No more recaps after being away, when one is under the cursor."""
        if self.cursor is not None and isinstance(self.blocks[self.cursor], AwayBlock):
            self.post_message(self.RecapsUnwanted())

    def action_find(self) -> None:
        self.post_message(self.FindAsked())

    def action_leave(self) -> None:
        self.post_message(self.LeaveAsked())

    async def find(self, text: str) -> bool:
        """Go to the nearest block above that holds the text; False when none does."""
        await self.fetch_all()
        self._sought = text.casefold()
        self.cursor = len(self.blocks) - 1 if self.blocks else None
        return self._find(-1, include_here=True)

    def action_find_next(self, step: int) -> None:
        """To the next or previous block that holds what was sought."""
        if self._sought:
            self._find(step, include_here=False)

    def _find(self, step: int, *, include_here: bool) -> bool:
        count = len(self.blocks)
        start = self.cursor or 0
        for distance in range(0 if include_here else 1, count + 1):
            index = (start + step * distance) % count if count else 0
            if count and self._sought in copied_text(self.blocks[index]).casefold():
                self.cursor = index
                self.following = False
                self.show_block(index)
                return True
        return False
