"""A line of text whose keys act in the order in which they were typed."""

from __future__ import annotations

from typing import Protocol

from textual import events
from textual.dom import DOMNode
from textual.widgets import Input

from widgets.keys import action_of


class KeyOwner(Protocol):
    """Whose keys a line looks up before its own."""

    async def press(self, action: str) -> None:
        """Carry out the action of a key."""
        ...


class OrderedInput(Input):
    """A line that looks up all its keys itself, its owner's first.

    Textual carries out a priority binding before the letters that were typed in front of it, and
    a line's own bindings after those that were typed behind: `down` and a key that throws the
    chosen row away must not change places.
    """

    def __init__(
        self,
        owner: KeyOwner,
        bindings: DOMNode,
        prefix: str,
        *,
        placeholder: str = "",
        password: bool = False,
    ) -> None:
        """The keys are those in `bindings` whose id begins with `prefix`."""
        super().__init__(placeholder=placeholder, password=password, compact=True)
        self.select_on_focus = False  # the focus comes while letters are already on their way
        self.cursor_blink = False
        self._owner = owner
        self._owner_bindings = bindings
        self._prefix = prefix

    async def _on_key(self, event: events.Key) -> None:
        action = action_of(self._owner_bindings, event.key, self._prefix)
        own = action_of(self, event.key, "")
        if action is None and own is None:
            await super()._on_key(event)
            return
        event.stop()
        event.prevent_default()
        if action is not None:
            await self._owner.press(action)
        elif own is not None:
            await self.run_action(own)
