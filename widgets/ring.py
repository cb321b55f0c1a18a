"""Keys that act in the order in which they were typed, whichever widget has the focus by then."""

from __future__ import annotations

import asyncio
from typing import Protocol

from textual import events
from textual.screen import Screen
from textual.widget import Widget


class KeyRing(Protocol):
    """Who hands each key to the one whose turn it is, in the order in which they were typed."""

    async def press(self, action: str) -> None:
        """Carry out an action of the screen."""
        ...

    async def deliver(self, event: events.Key | events.Paste) -> None:
        """Hand on what was typed."""
        ...


class RingScreen(Screen[None]):
    """Hands each key to the one whose turn it is; mixed into a screen."""

    AUTO_FOCUS = ""

    def __init__(self) -> None:
        super().__init__()
        self._order = asyncio.Lock()
        """Held while a key acts: the next one waits, whichever widget it has reached."""
        self._waits_for_keys = False

    @property
    def target(self) -> Widget:
        """Who has the keys now."""
        raise NotImplementedError

    async def deliver(self, event: events.Key | events.Paste) -> None:
        """Hand what was typed to the one whose turn it is, whoever has the focus yet."""
        async with self._order:
            if not self.is_current:
                self._pass_on(event)
                return
            await self.act_on(event)
            self.settle_focus()

    async def press(self, action: str) -> None:
        """Carry out an action of the screen."""
        raise NotImplementedError

    async def act_on(self, event: events.Key | events.Paste) -> None:
        """Let a key act whose turn has come."""
        raise NotImplementedError

    def _pass_on(self, event: events.Key | events.Paste) -> None:
        """Another screen was opened, or this one closed, by the key before."""
        screen = self.app.screen
        target = screen.focused or screen
        if isinstance(event, events.Paste):
            target.post_message(events.Paste(event.text))
        else:
            target.post_message(events.Key(event.key, event.character))

    def settle_focus(self) -> None:
        """Give the focus to the one whose turn it is, once the keys typed before have acted."""
        holder, target = self.focused, self.target
        if holder is target or self._waits_for_keys or not (self.is_current and self.is_mounted):
            return
        if holder is not None and holder.is_attached and holder.message_queue_size:
            self._waits_for_keys = holder.call_later(self._look_at_focus)
        else:
            self.set_focus(target, scroll_visible=False)

    def _look_at_focus(self) -> None:
        self._waits_for_keys = False
        self.settle_focus()
