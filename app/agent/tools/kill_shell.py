"""KillShell: ends a background command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from app.agent.tools.arguments import checked, title_of
from app.agent.tools.base import ToolContext, ToolInput, ToolResult


class KillShellTool:
    """Claude Code's KillShell."""

    name = "KillShell"
    description = "Ends a background command and everything it has started."
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "shell_id": {"type": "string", "description": "The id that Bash gave, as in bash_1."}
        },
        "required": ["shell_id"],
        "additionalProperties": False,
    }
    read_only = False

    def title(self, arguments: ToolInput) -> str:
        return title_of(arguments, "shell_id")

    async def run(
        self, arguments: ToolInput, context: ToolContext, progress: Callable[[str], None]
    ) -> ToolResult:
        task_id: str = checked(self, arguments)["shell_id"]
        context.background.kill(task_id)
        details = {"message": f"Ended {task_id}.", "shell_id": task_id}
        text = f"{task_id} is ended, unless it had ended already. BashOutput gives its last output."
        return ToolResult(text, details=details)
