"""The line at the foot of a screen that takes each key in its turn: it has the focus whenever no
editor has it.

While nothing is asked, its keys are those of the screen, and no letter is typed into it.
"""

from __future__ import annotations

from textual import events
from textual.dom import DOMNode
from textual.widgets import Input

from app.plain_text import plain_line
from widgets.keys import action_of, bindings_of
from widgets.ring import KeyRing


class RingLine(Input):
    """What is asked for in one line; the keys are those of what asks for it."""

    def __init__(self, ring: KeyRing) -> None:
        super().__init__(compact=True)
        self.select_on_focus = False
        self.cursor_blink = False
        self._ring = ring
        self._keys: DOMNode = self
        self._prefix = ""
        self.is_asking = False

    def ask(self, prefix: str, text: str, *, chosen: bool) -> None:
        """Let the person type; the keys are those of an id's beginning. `text` stands there to
        begin with, and gives way to what is typed where it is chosen.
        """
        self._keys, self._prefix, self.is_asking = self, prefix, True
        self.value = text
        self.cursor_position = len(text)
        if chosen:
            self.select_all()

    def rest(self, keys: DOMNode, prefix: str) -> None:
        """Let no letter be typed: the keys are those of a node."""
        self._keys, self._prefix, self.is_asking = keys, prefix, False
        self.value = ""

    async def _on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        await self._ring.deliver(event)

    async def _on_paste(self, event: events.Paste) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] - Textual awaits what is returned
        event.stop()
        event.prevent_default()
        await self._ring.deliver(event)

    async def typed(self, event: events.Key) -> None:
        """A key whose turn has come."""
        action = action_of(self._keys, event.key, self._prefix)
        if action is not None:
            await self._ring.press(action)
        elif self.is_asking:
            own = bindings_of(self).key_to_bindings.get(event.key, ())
            named = next((binding.action for binding in own if not binding.id), None)
            if named is not None:
                await self.run_action(named)
            else:
                await super()._on_key(event)

    async def pasted(self, text: str) -> None:
        """A text that was pasted, as one line."""
        if self.is_asking:
            start, end = sorted(self.selection)
            self.replace(plain_line(text.strip("\r\n")), start, end)
