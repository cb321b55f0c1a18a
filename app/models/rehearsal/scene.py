"""What a request looks like to the rehearsal: the prompt, the turn so far, the working folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, cast

from app.models.provider import Block, Message, ModelRequest
from app.models.rehearsal.markers import WORKING_FOLDER_MARKER


@dataclass(frozen=True, slots=True)
class Step:
    """A tool call of the present turn with what came of it."""

    name: str
    input: Mapping[str, Any]
    result: str
    failed: bool


@dataclass(frozen=True, slots=True)
class Scene:
    """The present turn: the user's last prompt and the tool calls since."""

    prompt: str
    steps: tuple[Step, ...]
    folder: str
    tools: frozenset[str]
    turns: int
    """Prompts of the user in the whole conversation."""

    def step(self, name: str) -> Step | None:
        """The turn's last call of that tool."""
        return next((step for step in reversed(self.steps) if step.name == name), None)


def read_scene(request: ModelRequest) -> Scene:
    """The scene of a request."""
    start, prompt = _last_prompt(request.messages)
    return Scene(
        prompt,
        tuple(_steps(request.messages[start:])),
        _folder(request),
        frozenset(str(tool.get("name")) for tool in request.tools),
        sum(1 for message in request.messages if _prompt_of(message)),
    )


def listed_files(listing: str) -> list[str]:
    """File names in the answer of a listing tool; folders and headings are left out."""
    names: list[str] = []
    for line in listing.splitlines():
        name = line.strip().removeprefix("- ").strip()
        is_path = name.startswith(("/", "…", "(")) or name.endswith(("/", ":"))
        if name and not is_path and "." in name[1:]:
            names.append(name)
    return names


def join_path(folder: str, name: str) -> str:
    """A name inside the working folder."""
    return str(PurePath(folder) / name)


def texts(content: Any) -> str:
    """All text of a message's or a result's content."""
    if isinstance(content, str):
        return content
    if not isinstance(content, (list, tuple)):
        return ""
    blocks = cast("list[Block] | tuple[Block, ...]", content)
    return "\n".join(str(block["text"]) for block in blocks if block.get("type") == "text")


def _prompt_of(message: Message) -> str:
    """The user's words of a message; empty for the assistant's and for tool results alone."""
    if message.get("role") != "user":
        return ""
    return _without_reminders(texts(message.get("content"))).strip()


def _without_reminders(text: str) -> str:
    """The text without `<system-reminder>` passages, which are not the user's words."""
    opening, closing = "<system-reminder>", "</system-reminder>"
    while (start := text.find(opening)) >= 0:
        end = text.find(closing, start)
        text = text[:start] + (text[end + len(closing) :] if end >= 0 else "")
    return text


def _last_prompt(messages: tuple[Message, ...]) -> tuple[int, str]:
    for index in range(len(messages) - 1, -1, -1):
        prompt = _prompt_of(messages[index])
        if prompt:
            return index, prompt
    return 0, ""


def _steps(messages: tuple[Message, ...]) -> list[Step]:
    calls: dict[str, Block] = {}
    steps: list[Step] = []
    for message in messages:
        content: Any = message.get("content")
        if not isinstance(content, (list, tuple)):
            continue
        for block in cast("list[Block] | tuple[Block, ...]", content):
            if block.get("type") == "tool_use":
                calls[str(block.get("id"))] = block
            elif block.get("type") == "tool_result":
                call = calls.get(str(block.get("tool_use_id")))
                if call is not None:
                    result, failed = texts(block.get("content")), bool(block.get("is_error"))
                    steps.append(Step(str(call["name"]), call["input"], result, failed))
    return steps


def _folder(request: ModelRequest) -> str:
    _, found, rest = texts(request.system).partition(WORKING_FOLDER_MARKER)
    return rest.split("\n", 1)[0].strip() if found else "."
