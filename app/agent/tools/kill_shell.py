"""KillShell: ends a background command."""

from __future__ import annotations

from app.agent.tools.base import BackgroundShells, ToolResult
from app.agent.tools.shell_task import ShellTaskTool


class KillShellTool(ShellTaskTool):
    """Claude Code's KillShell."""

    name = "KillShell"
    description = "Ends a background command and everything it has started."
    argument = "shell_id"
    read_only = False

    def act(self, task_id: str, shells: BackgroundShells) -> ToolResult:
        shells.kill(task_id)
        details = {"message": f"Ended {task_id}.", "shell_id": task_id}
        text = f"{task_id} is ended, unless it had ended already. BashOutput gives its last output."
        return ToolResult(text, details=details)
