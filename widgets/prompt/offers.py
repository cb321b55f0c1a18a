"""The list of completions above the prompt."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from app.plain_text import plain_line
from widgets.prompt.completion import Offer


class OfferRows(Static):
    """One row an offer, the chosen one marked; not there while there are none."""

    def __init__(self) -> None:
        super().__init__(id="offers")
        self._offers: Sequence[Offer] = ()
        self._mark = "/"
        self._chosen = 0
        self.display = False

    def show(self, offers: Sequence[Offer], mark: str) -> None:
        """Show these offers, the first one chosen; none hides the list."""
        self._offers, self._mark, self._chosen = offers, mark, 0
        self.display = bool(offers)
        self._draw()

    def choose(self, index: int) -> None:
        """Mark another row."""
        self._chosen = index
        self._draw()

    def _draw(self) -> None:
        widest = max((len(offer.text) for offer in self._offers), default=0)
        rows: list[Content] = []
        for position, offer in enumerate(self._offers):
            style = "reverse" if position == self._chosen else ""
            name = plain_line(offer.text).ljust(min(widest, 60))
            text = f" {self._mark}{name}  {offer.description} "
            rows += [Content.styled(text, style), Content("\n")]
        self.update(Content.assemble(*rows[:-1]) if rows else Content(""))
