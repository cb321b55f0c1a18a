"""BashOutput: what a background command has printed since the last look."""

from __future__ import annotations

from app.agent.tools.arguments import clean
from app.agent.tools.base import BackgroundShells, ToolResult
from app.agent.tools.shell_task import ShellTaskTool


class BashOutputTool(ShellTaskTool):
    """Claude Code's BashOutput."""

    name = "BashOutput"
    description = (
        "Gives the status of a background command (running, completed, failed, killed) and what "
        "it has printed since the last call."
    )
    argument = "bash_id"
    read_only = True

    def act(self, task_id: str, shells: BackgroundShells) -> ToolResult:
        status, output = shells.read(task_id)
        text = clean(output).strip("\n")
        content = f"Status: {status}\n{text if text.strip() else '(No new output.)'}"
        details = {"shellId": task_id, "status": status, "stdout": clean(output), "stderr": ""}
        return ToolResult(content, details=details)
