"""The agent's tools in the order in which the model is told of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from app.agent.tools.ask import AskUserQuestionTool
from app.agent.tools.base import Tool
from app.agent.tools.bash import BashTool
from app.agent.tools.bash_output import BashOutputTool
from app.agent.tools.edit import EditTool
from app.agent.tools.glob import GlobTool
from app.agent.tools.grep import GrepTool
from app.agent.tools.kill_shell import KillShellTool
from app.agent.tools.ls import LsTool
from app.agent.tools.memory import MEMORY, MemoryTool
from app.agent.tools.read import ReadTool
from app.agent.tools.send_feedback import SEND_FEEDBACK, SendFeedbackTool
from app.agent.tools.todo import TodoWriteTool
from app.agent.tools.write import WriteTool
from app.errors import UsageError


def default_tools() -> tuple[Tool, ...]:
    """Every built-in tool. The order is fixed, since it is part of the cached request prefix."""
    return (
        BashTool(),
        BashOutputTool(),
        KillShellTool(),
        ReadTool(),
        EditTool(),
        WriteTool(),
        GlobTool(),
        GrepTool(),
        LsTool(),
        TodoWriteTool(),
        MemoryTool(),
        AskUserQuestionTool(),
        SendFeedbackTool(),
    )


def select_tools(tools: Iterable[Tool], names: Collection[str] | None) -> tuple[Tool, ...]:
    """The tools that `--tools` names, in their own order; all of them for None.

    Raises `UsageError` for a name that no tool has (spec/cli.md).
    """
    available = tuple(tools)
    if names is None:
        return available
    known = {tool.name for tool in available}
    unknown = sorted(set(names) - known)
    if unknown:
        raise UsageError(
            f"There is no tool named {', '.join(unknown)}.",
            todo=f"The tools are {', '.join(sorted(known))}.",
        )
    return tuple(tool for tool in available if tool.name in names)


def offered_tools(
    names: Collection[str] | None, *, memory: bool, feedback: bool
) -> tuple[Tool, ...]:
    """The tools that a session's requests carry: those of `--tools`, without what is off.

    Raises `UsageError` as `select_tools` does.
    """
    is_on = {MEMORY: memory, SEND_FEEDBACK: feedback}
    return tuple(t for t in select_tools(default_tools(), names) if is_on.get(t.name, True))


def api_form(tool: Tool) -> dict[str, Any]:
    """The tool as a request of the Messages API carries it."""
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": dict(tool.schema),
    }
