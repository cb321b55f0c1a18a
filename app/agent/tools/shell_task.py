"""What BashOutput and KillShell share: they take the id of one background command."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from app.agent.tools.arguments import checked, title_of
from app.agent.tools.base import BackgroundShells, ToolContext, ToolInput, ToolResult


class ShellTaskTool(ABC):
    """A tool with the id of a background command as its only argument."""

    name: str
    description: str
    read_only: bool
    schema: Mapping[str, Any]
    argument: ClassVar[str]
    """What Claude Code calls the id here."""

    def __init_subclass__(cls) -> None:
        said = "The id that Bash gave, as in bash_1."
        cls.schema = {
            "type": "object",
            "properties": {cls.argument: {"type": "string", "description": said}},
            "required": [cls.argument],
            "additionalProperties": False,
        }

    def title(self, arguments: ToolInput) -> str:
        return title_of(arguments, self.argument)

    async def run(
        self, arguments: ToolInput, context: ToolContext, progress: Callable[[str], None]
    ) -> ToolResult:
        return self.act(checked(self, arguments)[self.argument], context.background)

    @abstractmethod
    def act(self, task_id: str, shells: BackgroundShells) -> ToolResult:
        """Do it. Raises `ToolFailure` for an unknown id."""
