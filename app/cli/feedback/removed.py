"""Word of drafts that had to leave the outbox unsent."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from app.background.feedback.drafts import Draft
from app.background.feedback.outbox import REMOVED
from app.cli.output import note
from app.plain_text import cut

MOST_TITLE: Final = 80
"""Characters of a title that are said."""


def tell_removed(outbox: Path, drafts: Iterable[Draft], why: str) -> None:
    """Say on stderr that drafts have left the folder `outbox`, why, and where they are."""
    for draft in drafts:
        title = cut(draft.title, MOST_TITLE)
        place = outbox / REMOVED
        note(f"The draft {draft.id} ({title}) was removed: {why}. For a while it is in {place}.")
