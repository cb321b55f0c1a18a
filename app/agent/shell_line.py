"""A shell line of the person's own (`!` in the prompt): run in the session's shell.

It stands in the transcript as the input and output echoes of transcripts.md, a5, for the model too.
"""

from __future__ import annotations

from typing import Any

from app.agent.loop import AgentLoop
from app.agent.tools.base import ToolFailure, ToolInterrupted, ToolResult
from app.sessions.envelope import new_uuid
from app.sessions.records import Record
from app.state.facts import ToolProgressed, ToolQueued, ToolStarted, TurnEnded, TurnStarted
from app.state.model import Outcome

SHELL_TOOL = "Bash"


async def run_shell_line(
    command: str,
    loop: AgentLoop,
) -> None:
    """Run `command` without asking: the person typed it. Cancelling ends it and re-raises."""
    conversation, runner, clock, emit = loop.conversation, loop.runner, loop.clock, loop.emit
    turn_id, call_id, prompt_id = new_uuid(), f"shell_{new_uuid()}", new_uuid()
    started = clock.monotonic()
    emit(TurnStarted(turn_id, started))
    outcome: Outcome = "interrupted"

    def said(text: str) -> Record:
        return conversation.envelope.prompt(
            conversation.leaf,
            text,
            prompt_id=prompt_id,
            permission_mode=loop.mode(),
            source="typed",
        )

    loop.answer_leftovers()
    line = said(f"<bash-input>{command}</bash-input>")
    if runner.context.files is None:
        conversation.append(line)
    else:
        await runner.context.files.begin(line)
    emit(ToolQueued(call_id, SHELL_TOOL))
    emit(ToolStarted(call_id, started))
    result = ToolResult("(interrupted)", is_error=True)
    try:
        result = await runner.tools[SHELL_TOOL].run(
            {"command": command},
            runner.context,
            lambda output: emit(ToolProgressed(call_id, output)),
        )
        outcome = "completed"
    except ToolInterrupted as cut:
        result = cut.partial
        raise
    except ToolFailure as failure:
        result = ToolResult(str(failure), is_error=True)
        outcome = "completed"
    finally:
        text = _text(result.content)
        channel = "stderr" if result.is_error else "stdout"
        conversation.append(said(f"<bash-{channel}>{text}</bash-{channel}>"))
        conversation.sync()
        emit(TurnEnded(turn_id, outcome, "", clock.monotonic() - started))


def _text(content: str | list[dict[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content)
