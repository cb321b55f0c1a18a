from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.models.provider import Usage
from app.sessions.graph import GraphView, MessageGraph
from app.sessions.records import Record, new_record
from app.state import facts as f
from app.state.background import Task
from app.state.model import (
    Notice,
    OpenBlock,
    PermissionRequest,
    QueuedMessage,
    Server,
    Session,
    State,
)
from app.state.reduce import latest_title, reduce

NOW = datetime(2026, 11, 2, tzinfo=UTC)


def played(*facts: f.Fact) -> State:
    state = State()
    for fact in facts:
        state = reduce(state, fact)
    return state


def opened(session_id: str = "s") -> f.SessionOpened:
    return f.SessionOpened(Session(session_id=session_id), Usage(), 0.0, 1000)


def record(kind: str, uuid: str, **fields: object) -> Record:
    return new_record({"type": kind, "uuid": uuid, "parentUuid": None, "sessionId": "s", **fields})


def appended(*records: Record, session_id: str = "s") -> f.RecordsAppended:
    view = GraphView(MessageGraph(), 0, None)
    for item in records:
        view = view.after(item)
    return f.RecordsAppended(session_id, records, view)


def test_unchanged_slices_keep_their_identity() -> None:
    before = played(opened())
    after = reduce(before, f.ModeChanged("plan"))
    assert after.session is not before.session
    assert (
        after.live is before.live and after.tasks is before.tasks and after.limits is before.limits
    )


@pytest.mark.parametrize(
    "fact",
    [
        f.ModeChanged("default"),
        f.NoticeDismissed(7),
        f.ToolStarted("nobody", 1.0),
        f.ToolProgressed("nobody", "x"),
        f.InterruptRequested(),
        f.TurnEnded("other", "completed", "", 1.0),
        f.AccessChanged(False),
        f.GitBranchSeen(""),
    ],
)
def test_a_fact_that_says_nothing_new_changes_nothing(fact: f.Fact) -> None:
    state = State()
    assert reduce(state, fact) is state


def test_a_late_record_of_another_session_is_not_shown() -> None:
    state = played(opened("b"))
    assert reduce(state, appended(record("user", "u"), session_id="a")) is state


def test_a_turn_from_prompt_to_end() -> None:
    state = played(opened(), f.TurnStarted("t", 1.0), f.RequestSent())
    assert state.live.phase == "requesting"
    state = reduce(state, f.ReplyGrew((OpenBlock(0, "thinking", "hm"),)))
    assert state.live.phase == "thinking"
    state = reduce(state, f.ReplyGrew((OpenBlock(0, "text", "Hi"),)))
    assert state.live.phase == "replying"
    reply = record("assistant", "a", message={"id": "m", "content": []})
    state = reduce(state, appended(reply))
    assert state.live.blocks == ()
    state = reduce(state, f.TurnEnded("t", "completed", "", 2.5))
    assert state.live.turn_id is None and state.live.last is not None
    assert (state.live.last.outcome, state.live.phase) == ("completed", "idle")


def test_a_tool_goes_when_its_result_is_written() -> None:
    state = played(
        opened(), f.TurnStarted("t", 0.0), f.ToolQueued("x", "Bash"), f.ToolStarted("x", 1.0)
    )
    state = reduce(state, f.ToolProgressed("x", "line"))
    assert (state.live.tools["x"].status, state.live.tools["x"].output) == ("running", "line")
    content = [{"type": "tool_result", "tool_use_id": "x", "content": "line"}]
    result = record("user", "r", message={"role": "user", "content": content})
    assert "x" not in reduce(state, appended(result)).live.tools


def test_a_retry_voids_what_was_shown() -> None:
    state = played(f.TurnStarted("t", 0.0), f.ReplyGrew((OpenBlock(0, "text", "Hi"),)))
    state = reduce(state, f.RetryScheduled(2, 5.0, "busy"))
    assert state.live.blocks == () and state.live.retry is not None
    assert reduce(state, f.RequestSent()).live.retry is None


def test_the_queue_survives_the_end_of_a_turn() -> None:
    state = played(f.TurnStarted("t", 0.0), f.MessageQueued(QueuedMessage("1", "next")))
    state = reduce(state, f.TurnEnded("t", "interrupted", "", 1.0))
    assert [m.text for m in state.live.queue] == ["next"]
    assert reduce(state, f.MessageUnqueued("1")).live.queue == ()


def test_permission_requests_wait_in_order() -> None:
    first = PermissionRequest("1", "Bash", "ls", {}, "why", None)
    second = PermissionRequest("2", "Bash", "rm", {}, "why", None)
    state = played(f.PermissionAsked(first), f.PermissionAsked(second), f.PermissionSettled("1"))
    assert state.permission.requests == (second,)
    assert reduce(state, opened()).permission.requests == ()


def test_costs_add_up_until_one_is_unknown() -> None:
    state = played(
        opened(),
        f.RequestMeasured(Usage(10, 5, cache_read=100), 0.25, NOW),
        f.RequestMeasured(Usage(1, 1), 0.25, NOW),
    )
    assert (state.limits.cost_usd, state.limits.context_tokens) == (0.5, 2)
    assert state.limits.cache.touched == NOW
    state = reduce(state, f.RequestMeasured(Usage(1, 1), None, NOW))
    assert state.limits.cost_usd is None
    assert reduce(state, f.RequestMeasured(Usage(1, 1), 1.0, NOW)).limits.cost_usd is None


def test_the_persons_own_title_beats_a_made_one() -> None:
    own = new_record({"type": "custom-title", "customTitle": "Mine", "sessionId": "s"})
    made = new_record({"type": "ai-title", "aiTitle": "Made", "sessionId": "s"})
    assert latest_title([own, made]) == "Mine"
    assert latest_title([made]) == "Made"
    assert played(opened(), appended(made)).session.title == "Made"


def test_tasks_notices_and_access() -> None:
    task = Task("1", "shell", "sleep", "running", 0.0)
    state = played(
        f.TaskChanged(task),
        f.NoticePosted(Notice(1, "a")),
        f.NoticePosted(Notice(1, "b")),
        f.TrustSettled(True),
        f.ServersFound((Server("Ollama", "http://127.0.0.1:11434"),)),
        f.AccessChanged(True),
    )
    assert state.tasks["1"] is task
    assert [notice.text for notice in state.notices] == ["b"]
    assert (state.access.trusted, state.access.searched, state.access.ready) == (True, True, True)
    assert reduce(state, f.TaskForgotten("1")).tasks == {}
    assert reduce(state, f.NoticeDismissed(1)).notices == ()
