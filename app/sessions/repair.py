"""What a resume repairs, counted and shown once (spec/sessions.md, Resume 3).

Nothing is rewritten: later requests leave out or make up what is named here.
"""

from __future__ import annotations

from app.sessions.graph import MessageGraph
from app.sessions.prompts import user_kind
from app.sessions.summary import Warning as TranscriptWarning
from app.sessions.view import RequestView

_SENTENCES = {
    "orphan_result": "results whose call was compacted away or lost are not sent; they stay here",
    "unanswered_call": "calls that never got a result count as interrupted",
    "bad_text_block": "text blocks without a text are left out",
    "bad_attachment": "attachments without content are left out",
    "unknown_permission_mode": "permission modes that do not exist are not taken over",
}
_WAITING = frozenset({"prompt", "machine", "tool_result"})
"""User records that a reply should have followed."""


def repair_warnings(view: RequestView) -> tuple[TranscriptWarning, ...]:
    """The repairs that a request needed, by kind."""
    counts = {
        "orphan_result": view.orphan_results,
        "unanswered_call": view.results_made,
        "bad_text_block": view.bad_texts,
        "bad_attachment": view.bad_attachments,
        "unknown_permission_mode": view.unknown_modes,
    }
    return tuple(
        TranscriptWarning(kind, count, _SENTENCES[kind]) for kind, count in counts.items() if count
    )


def is_interrupted(graph: MessageGraph, leaf: int | None) -> bool:
    """Whether the branch ends in something that the model has not answered.

    An interruption that is marked as one is none any more.
    """
    for here in graph.walk(leaf):
        record = graph.records[here]
        if record.uuid in graph.retracted or not graph.is_main(here):
            continue
        if record.type == "assistant":
            return bool(record.tool_uses) and not record.is_synthetic
        if record.type == "user":
            return user_kind(record, record.data) in _WAITING
    return False
