"""What every `reverie feedback …` works on: the outbox, the settings, the sink they name."""

from __future__ import annotations

from dataclasses import dataclass

from app.background.feedback.configured import configured_sink
from app.background.feedback.drafts import LIFETIME, Draft
from app.background.feedback.outbox import Listing, Outbox
from app.background.feedback.sinks import FileSink, Sink
from app.background_settings import FeedbackSettings
from app.cli.feedback.removed import tell_removed
from app.cli.output import JsonObject, note
from app.installation import Installation, Options


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the command."""

    here: Installation
    settings: FeedbackSettings
    outbox: Outbox
    as_json: bool

    def listing(self) -> Listing:
        """What lies in the outbox; drafts that have just left it for their age are told."""
        found = self.outbox.listing()
        tell_removed(self.outbox.folder, found.expired, f"it was {LIFETIME.days} days old")
        return found

    def draft(self, draft_id: str) -> Draft:
        """One draft, after whatever a crash left behind is settled. Raises `DraftNotFound`."""
        self.outbox.settle(draft_id)
        return self.outbox.get(draft_id)

    def sink(self) -> Sink:
        """Where reports go. Raises `NoSink`."""
        here = self.here
        return configured_sink(self.settings, here.places, here.home, here.clock)

    def export_sink(self) -> FileSink:
        """An export into the working folder, which needs no settings."""
        return FileSink(self.here.folder, budget=self.settings.budget_bytes)


def call_of(here: Installation, *, as_json: bool) -> Call:
    """The outbox of an installation; settings that do not count are named on stderr."""
    loaded = here.settings(Options())
    for problem in loaded.problems:
        note(f"A setting does not count. {problem}")
    outbox = Outbox(here.places.data / "feedback", here.clock)
    return Call(here, loaded.settings.feedback, outbox, as_json)


def row(draft: Draft) -> JsonObject:
    """A draft as `list` tells it (spec/cli.md)."""
    return {
        "id": draft.id,
        "title": draft.title,
        "status": draft.status,
        "reason": draft.reason,
        "created_at": draft.created,
        "bytes": draft.size,
        "category": draft.category,
        "session_id": draft.session_id or None,
        "at": draft.at or None,
        "retry_after": draft.retry_after or None,
        "sink": draft.sink or None,
        "target": draft.target or None,
        "may_have_arrived": draft.may_have_arrived,
    }
