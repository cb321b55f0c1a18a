"""AskUserQuestion: a choice that only the person can make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from app.agent.tools.arguments import checked, clean
from app.agent.tools.base import Question, ToolContext, ToolFailure, ToolInput, ToolResult


class AskUserQuestionTool:
    """Claude Code's AskUserQuestion."""

    name = "AskUserQuestion"
    description = (
        "Asks the person one to four questions with two to four answers each; they may also "
        "answer in their own words. Use it where the work depends on a choice that is theirs, "
        "not for leave to go on."
    )
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "questions": {
                "type": "array",
                "minItems": 1,
                "maxItems": 4,
                "items": {
                    "type": "object",
                    "properties": {
                        "question": {"type": "string", "minLength": 1},
                        "header": {
                            "type": "string",
                            "description": "One or two words that name the question.",
                        },
                        "options": {
                            "type": "array",
                            "minItems": 2,
                            "maxItems": 4,
                            "items": {
                                "type": "object",
                                "properties": {
                                    "label": {"type": "string", "minLength": 1},
                                    "description": {"type": "string"},
                                },
                                "required": ["label"],
                                "additionalProperties": False,
                            },
                        },
                        "multiSelect": {
                            "type": "boolean",
                            "description": "Whether more than one answer may be chosen.",
                        },
                    },
                    "required": ["question", "header", "options"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["questions"],
        "additionalProperties": False,
    }
    read_only = False

    def title(self, arguments: ToolInput) -> str:
        questions: object = arguments.get("questions")
        if not isinstance(questions, list) or not questions:
            return ""
        first = cast("list[object]", questions)[0]
        text = cast("dict[str, object]", first).get("question") if isinstance(first, dict) else ""
        return clean(text.split("\n", 1)[0]) if isinstance(text, str) else ""

    async def run(
        self, arguments: ToolInput, context: ToolContext, progress: Callable[[str], None]
    ) -> ToolResult:
        asked: list[dict[str, Any]] = checked(self, arguments)["questions"]
        if context.ask is None:
            raise ToolFailure(
                "Nobody can answer here. Decide by yourself, and say what you have assumed."
            )
        questions = tuple(_question(entry) for entry in asked)
        answers = await context.ask(questions)
        if answers is None:
            raise ToolFailure("The person did not want to answer. Do not ask the same again.")
        pairs = list(zip(questions, answers, strict=True))
        content = clean("\n".join(f"{question.text}\n→ {answer}" for question, answer in pairs))
        details = {
            "questions": asked,
            "answers": {question.text: answer for question, answer in pairs},
        }
        return ToolResult(content, details=details)


def _question(entry: dict[str, Any]) -> Question:
    return Question(
        header=entry["header"],
        text=entry["question"],
        options=tuple(
            (option["label"], option.get("description", "")) for option in entry["options"]
        ),
        multiple=bool(entry.get("multiSelect", False)),
    )
