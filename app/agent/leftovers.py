"""What a process that ended in the middle of a turn has left open (spec/sessions.md, Resume 3)."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from app.agent.conversation import Conversation
from app.agent.tool_runner import Answer, Call
from app.agent.tools.base import ToolResult
from app.sessions.graph import INTERRUPTED_TURN
from app.sessions.prompts import CUT_OFF_RESULT, INTERRUPTED, INTERRUPTED_FOR_TOOL
from app.sessions.repair import is_interrupted
from app.sessions.summary import moment_of

GO_ON: Final = "Go on from where the last turn was cut off."
STALE: Final = timedelta(hours=24)
"""After this time a turn that was cut off is not gone on with by itself."""


def answer_leftovers(conversation: Conversation, prompt_id: str) -> None:
    """Give open calls their results, once and on disk (cases/B16)."""
    for tool_id, record_uuid in conversation.unanswered():
        cut_off = ToolResult(CUT_OFF_RESULT, is_error=True)
        answer = Answer(Call(tool_id, "", {}, record_uuid), cut_off)
        record = conversation.envelope.tool_result(
            conversation.leaf,
            answer.block,
            prompt_id=prompt_id,
            details=None,
            assistant_uuid=record_uuid,
        )
        conversation.append(record)


def mark_interruption(conversation: Conversation, prompt_id: str, mode: str) -> None:
    """Say, once after a resume, that the last turn had no proper end."""
    if not conversation.was_resumed:
        return
    conversation.was_resumed = False
    view = conversation.view
    if view.leaf is None or not is_interrupted(view.graph, view.leaf):
        return
    in_tools = bool(view.graph.records[view.leaf].tool_results)
    marker = INTERRUPTED_FOR_TOOL if in_tools else INTERRUPTED
    record = conversation.envelope.prompt(
        conversation.leaf,
        [{"type": "text", "text": marker}],
        prompt_id=prompt_id,
        permission_mode=mode,
        source="system",
    )
    conversation.append(record)


def can_go_on(conversation: Conversation) -> bool:
    """Whether the last turn was cut off, and not too long ago to be gone on with by itself."""
    view = conversation.view
    if view.leaf is None or not is_interrupted(view.graph, view.leaf):
        return False
    moment = moment_of(view.graph.records[view.leaf])
    return moment is not None and conversation.envelope.clock.now() - moment < STALE


def supersede_leftovers(conversation: Conversation) -> None:
    """Take the open calls of a turn that is gone on with out of later requests."""
    ids = [tool_id for tool_id, _ in conversation.unanswered()]
    if ids:
        payload = {"level": "info", "isMeta": False, "supersededToolUseIds": ids}
        system = conversation.envelope.system(conversation.leaf, INTERRUPTED_TURN, payload)
        conversation.append(system)
