"""BashOutput: what a background command has printed since the last look."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from app.agent.tools.arguments import checked, clean, title_of
from app.agent.tools.base import ToolContext, ToolInput, ToolResult


class BashOutputTool:
    """Claude Code's BashOutput."""

    name = "BashOutput"
    description = (
        "Gives the status of a background command (running, completed, failed, killed) and what "
        "it has printed since the last call."
    )
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "bash_id": {"type": "string", "description": "The id that Bash gave, as in bash_1."}
        },
        "required": ["bash_id"],
        "additionalProperties": False,
    }
    read_only = True

    def title(self, arguments: ToolInput) -> str:
        return title_of(arguments, "bash_id")

    async def run(
        self, arguments: ToolInput, context: ToolContext, progress: Callable[[str], None]
    ) -> ToolResult:
        task_id: str = checked(self, arguments)["bash_id"]
        status, output = context.background.read(task_id)
        text = clean(output).strip("\n")
        content = f"Status: {status}\n{text if text.strip() else '(No new output.)'}"
        details = {"shellId": task_id, "status": status, "stdout": clean(output), "stderr": ""}
        return ToolResult(content, details=details)
