"""What a resume repairs, counted and shown once (spec/sessions.md, Resume 3).

Nothing is rewritten: later requests leave out or make up what is named here.
"""

from __future__ import annotations

from typing import cast

from app.sessions.envelope import is_ours
from app.sessions.graph import COMPACT_UNDONE, MessageGraph
from app.sessions.prompts import blocks_of, content_of, user_kind
from app.sessions.records import JsonObject, Record
from app.sessions.summary import Warning as TranscriptWarning
from app.sessions.view import RequestView

_SENTENCES = {
    "orphan_result": "results whose call was compacted away or lost are not sent; they stay here",
    "unanswered_call": "calls that never got a result count as interrupted",
    "bad_text_block": "text blocks without a text are left out",
    "bad_attachment": "attachments without content are left out",
    "unknown_permission_mode": "permission modes that do not exist are not taken over",
}
_TOLD = frozenset({"api_error", "api_refusal", COMPACT_UNDONE})
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
        if record.subtype in _TOLD:
            return False  # the person has been told how the turn ended
        if record.type == "assistant":
            return not record.is_synthetic and (bool(record.tool_uses) or _is_cut_off(record))
        if record.type == "user":
            return user_kind(record, record.data) in _WAITING
    return False


def _is_cut_off(record: Record) -> bool:
    """Whether a reply lacks its end: nothing but thinking, or a record of ours without a reason.

    Older versions of Claude Code name no reason in any record.
    """
    data = record.data
    kinds = {block.get("type") for block in blocks_of(content_of(data))}
    if kinds <= {"thinking", "redacted_thinking"}:
        return True
    message = data.get("message")
    has_reason = isinstance(message, dict) and cast("JsonObject", message).get("stop_reason")
    return is_ours(data) and not has_reason and data.get("isAbortedMidStream") is not True
