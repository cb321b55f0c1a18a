"""A line at the foot of a screen that has the focus always, so that keys act in their order.

While nothing is asked, its keys are the screen's and no letter is typed into it.
"""

from __future__ import annotations

from textual import events
from textual.dom import DOMNode

from widgets.keys import action_of
from widgets.ordered_input import KeyOwner, OrderedInput


class RestingLine(OrderedInput):
    """One line that is asked for now and then."""

    def __init__(self, owner: KeyOwner, keys: DOMNode, prefix: str, line_prefix: str) -> None:
        """The screen's bindings are those of `keys` whose id begins with `prefix`, the line's own
        begin with `line_prefix`.
        """
        super().__init__(owner, keys, prefix)
        self._keys = keys
        self._prefixes = prefix, line_prefix
        self.is_asking = False

    def ask(self, text: str) -> None:
        """Let the person type, `text` to begin with."""
        self._prefix, self._owner_bindings, self.is_asking = self._prefixes[1], self, True
        self.value = text
        self.cursor_position = len(text)

    def rest(self) -> None:
        """Give the keys back to the screen."""
        self._prefix, self._owner_bindings, self.is_asking = self._prefixes[0], self._keys, False
        self.value = ""

    async def _on_key(self, event: events.Key) -> None:
        if not self.is_asking and event.is_printable:
            event.stop()
            event.prevent_default()
            action = action_of(self._keys, event.key, self._prefixes[0])
            if action is not None:
                await self._owner.press(action)
            return
        await super()._on_key(event)

    def _on_paste(self, event: events.Paste) -> None:
        if not self.is_asking:
            event.stop()
            event.prevent_default()
            return
        super()._on_paste(event)
