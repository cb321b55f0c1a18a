"""Views of the state, each a noun; a derived one is made anew only when its parts changed."""

from __future__ import annotations

from collections.abc import Mapping

from app.state.background import Away, Background, Suggestion, Task, TurnSummary
from app.state.feedback import Feedback
from app.state.model import (
    Access,
    Compaction,
    Limits,
    Live,
    Memory,
    Notice,
    Permission,
    Session,
    State,
)


def session(state: State) -> Session:
    """The conversation on screen."""
    return state.session


def live(state: State) -> Live:
    """The turn that runs."""
    return state.live


def permission(state: State) -> Permission:
    """What waits for the person's word."""
    return state.permission


def limits(state: State) -> Limits:
    """What was used and what is left."""
    return state.limits


def compaction(state: State) -> Compaction:
    """The summary that is being written or waits."""
    return state.compaction


def tasks(state: State) -> Mapping[str, Task]:
    """The background jobs."""
    return state.tasks


def notices(state: State) -> tuple[Notice, ...]:
    """Sentences that wait to be read."""
    return state.notices


def access(state: State) -> Access:
    """How a model is reached."""
    return state.access


def memory(state: State) -> Memory:
    """The memory folder as it was last seen."""
    return state.memory


def feedback(state: State) -> Feedback:
    """The drafts of reports."""
    return state.feedback


def background(state: State) -> Background:
    """The frame that all background mechanisms live in."""
    return state.background


def away(state: State) -> Away:
    """Whether the person is at the terminal."""
    return state.away


def suggestion(state: State) -> Suggestion:
    """What the person may want to say next."""
    return state.suggestion


def summary(state: State) -> TurnSummary | None:
    """Where the last turn left things."""
    return state.summary


def whole(state: State) -> State:
    """Everything, for a line that shows a little of each slice."""
    return state
