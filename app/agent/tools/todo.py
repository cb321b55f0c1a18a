"""TodoWrite: the model's own list of what is to be done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from app.agent.tools.arguments import checked
from app.agent.tools.base import ToolContext, ToolFailure, ToolInput, ToolResult


class TodoWriteTool:
    """Claude Code's TodoWrite."""

    name = "TodoWrite"
    description = (
        "Replaces the list of tasks that the person sees. Use it for work of three steps or more: "
        "one task in progress at a time, marked completed as soon as it is done. Send the whole "
        "list each time."
    )
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "todos": {
                "type": "array",
                "maxItems": 200,
                "items": {
                    "type": "object",
                    "properties": {
                        "content": {
                            "type": "string",
                            "minLength": 1,
                            "description": "The task as an order: Run the tests.",
                        },
                        "status": {
                            "type": "string",
                            "enum": ["pending", "in_progress", "completed"],
                        },
                        "activeForm": {
                            "type": "string",
                            "description": "The task while it goes on: Running the tests.",
                        },
                        "id": {"type": "string"},
                        "priority": {"type": "string", "enum": ["high", "medium", "low"]},
                    },
                    "required": ["content", "status"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["todos"],
        "additionalProperties": False,
    }
    read_only = False

    def title(self, arguments: ToolInput) -> str:
        todos: object = arguments.get("todos")
        if not isinstance(todos, list):
            return ""
        count = len(todos)  # pyright: ignore[reportUnknownArgumentType] -- only counted
        return "1 task" if count == 1 else f"{count} tasks"

    async def run(
        self, arguments: ToolInput, context: ToolContext, progress: Callable[[str], None]
    ) -> ToolResult:
        new: list[dict[str, Any]] = [dict(todo) for todo in checked(self, arguments)["todos"]]
        if sum(todo["status"] == "in_progress" for todo in new) > 1:
            raise ToolFailure("Only one task may be in_progress at a time.")
        old = list(context.todos)
        context.todos[:] = new
        open_tasks = sum(todo["status"] != "completed" for todo in new)
        content = f"The list was replaced: {len(new)} tasks, {open_tasks} of them open."
        return ToolResult(content, details={"oldTodos": old, "newTodos": new})
