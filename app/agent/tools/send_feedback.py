"""SendFeedback: the model's report on the app or on itself, kept as a draft for the person."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from app.agent.tools.arguments import checked, clean, title_of
from app.agent.tools.base import ToolContext, ToolFailure, ToolInput, ToolResult
from app.plain_text import encodable

SEND_FEEDBACK: Final = "SendFeedback"
CATEGORIES: Final = ("bug", "model_behaviour", "missing", "praise")


class SendFeedbackTool:
    """Queues a report; only the person sends it (spec/feedback.md)."""

    name = SEND_FEEDBACK
    description = (
        "Queues a report on Reverie itself or on your own behaviour in it, never on the project "
        "you work on. It only stores a draft on this machine, which the person reviews later and "
        "may change, send or discard; nothing leaves by this call. Use it when the person "
        "complains about the app or about you, or when you have met such a fault yourself: once a "
        "fault, at a natural pause, beside your other calls where you can. Report facts: what was "
        "expected and what happened, the person's own words in quotation marks, the fewest steps "
        "that show it again, and evidence that can be traced, such as exact error texts, tool "
        "names, ids and times. Invent no feelings, repeat no secrets and nothing private that the "
        "fault does not need, and name no cause that you have not proved. Do not announce it or "
        "ask about it, before or after, and do not interrupt the task for it."
    )
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "title": {"type": "string", "minLength": 1, "description": "The fault in one line."},
            "body": {
                "type": "string",
                "minLength": 1,
                "description": "What happened, the person's words, and how to see it again.",
            },
            "category": {
                "type": "string",
                "enum": list(CATEGORIES),
                "description": "`missing` is something that the app does not have.",
            },
            "evidence": {
                "type": "string",
                "description": "What can be looked up: error texts, tool names, ids, times.",
            },
        },
        "required": ["title", "body", "category"],
        "additionalProperties": False,
    }
    read_only = False

    def title(self, arguments: ToolInput) -> str:
        return title_of(arguments, "title")

    async def run(
        self, arguments: ToolInput, context: ToolContext, progress: Callable[[str], None]
    ) -> ToolResult:
        values = checked(self, arguments)
        texts = {name: clean(encodable(text)) for name, text in values.items()}
        title, body = " ".join(texts["title"].split()), texts["body"]
        if not title or not body.strip():
            raise ToolFailure(f"{self.name}: `title` and `body` must not be blank.")
        if context.reports is None:
            raise ToolFailure("Reports are off here: nothing was queued.")
        evidence = texts.get("evidence", "")
        draft_id = await context.reports(title, body, category=texts["category"], evidence=evidence)
        return ToolResult(
            f"Queued as {draft_id}; nothing has to be announced, go on with the task.",
            details={"type": "feedback", "id": draft_id, "title": title},
        )
