from __future__ import annotations

from app.state import facts as f
from app.state import select
from app.state.feedback import DraftSeen, Feedback
from app.state.model import State
from app.state.reduce import reduce

SEEN = DraftSeen("fb-1", "It failed", "2026-11-02T08:12:00.000Z", 90)


def test_the_outbox_as_it_was_last_seen_is_in_the_state() -> None:
    state = reduce(State(), f.FeedbackSeen(Feedback((SEEN,), is_read=True)))
    assert select.feedback(state).drafts == (SEEN,)
    emptied = reduce(state, f.FeedbackSeen(Feedback(is_read=True)))
    assert select.feedback(emptied).drafts == ()


def test_an_outbox_that_looks_the_same_changes_nothing() -> None:
    state = reduce(State(), f.FeedbackSeen(Feedback((SEEN,), is_read=True)))
    again = reduce(state, f.FeedbackSeen(Feedback((SEEN,), is_read=True)))
    assert again is state
