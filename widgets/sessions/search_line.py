"""The line of the list of sessions in which the person types what is sought."""

from __future__ import annotations

from textual import events

from widgets.ask.line import LineBox
from widgets.ordered_input import OrderedInput


class SearchLine(OrderedInput):
    """While a title is asked for, keys that were typed ahead belong to the title's line."""

    async def _on_key(self, event: events.Key) -> None:
        box = next(iter(self.screen.query(LineBox)), None)
        if box is None:
            await super()._on_key(event)
            return
        event.stop()
        event.prevent_default()
        box.query_one(OrderedInput).post_message(events.Key(event.key, event.character))
