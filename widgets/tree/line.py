"""The line at the foot of the tree: it has the focus always, so that keys act in their order.

While nothing is asked, its keys are the tree's and no letter is typed into it.
"""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.dom import DOMNode

from widgets.keys import action_of
from widgets.ordered_input import KeyOwner, OrderedInput

KEYS, LINE_KEYS = "tree.", "tree_line."


class TreeLine(OrderedInput):
    """What is sought, or the label of a node."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "line_take", "Take", id="tree_line.take"),
        Binding("escape", "line_leave", "Leave", id="tree_line.leave"),
        Binding("up", "line_hit(-1)", "Hit before", id="tree_line.before"),
        Binding("down", "line_hit(1)", "Next hit", id="tree_line.next"),
    ]

    def __init__(self, owner: KeyOwner, keys: DOMNode) -> None:
        """`keys` has the bindings of the tree."""
        super().__init__(owner, keys, KEYS)
        self._keys = keys
        self.is_asking = False

    def ask(self, text: str) -> None:
        """Let the person type, `text` to begin with."""
        self._prefix, self._owner_bindings, self.is_asking = LINE_KEYS, self, True
        self.value = text
        self.cursor_position = len(text)

    def rest(self) -> None:
        """Give the keys back to the tree."""
        self._prefix, self._owner_bindings, self.is_asking = KEYS, self._keys, False
        self.value = ""

    async def _on_key(self, event: events.Key) -> None:
        if not self.is_asking and event.is_printable:
            event.stop()
            event.prevent_default()
            action = action_of(self._keys, event.key, KEYS)
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
