"""What the screen of dreams asks of whoever keeps them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from app.background.dream.record import Dream


class DreamsDesk(Protocol):
    """The dreams of a project. Whatever fails raises `ReverieError`."""

    async def dreams(self) -> list[Dream]:
        """All dreams, newest first."""
        ...

    async def accept(
        self, dream_id: str, hunks: Mapping[str, Collection[int]] | None = None
    ) -> Dream:
        """Publish a dream that is held; of each document only these hunks, where given."""
        ...

    async def discard(self, dream_id: str) -> Dream:
        """Throw a dream that is held away."""
        ...

    async def revert(self, dream_id: str, *names: str) -> tuple[Dream, list[str]]:
        """Take a dream back, or some documents; a sentence for each one that stays as it is."""
        ...
