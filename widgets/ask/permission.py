"""The permission request: the exact command or change, why it asks, and the answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, cast

from textual.content import Content

from app.plain_text import cut, plain, plain_line
from app.state.model import PermissionRequest
from widgets.ask.choices import Choice, ChoiceBox
from widgets.conversation.cards import BodyLine

LONGEST_SHOWN = 20_000
"""Characters of a command or change that are shown; the rest is counted."""
LONGEST_RULE = 60


class PermissionBox(ChoiceBox):
    """Asks for one tool call; `value`s are the answers of `PermissionAnswer`, or `why`."""

    WANTS: ClassVar[dict[str, str]] = {
        "Bash": "wants to run",
        "Write": "wants to write",
        "Edit": "wants to change",
        "Read": "wants to read",
        "memory": "wants to change what is remembered",
    }

    def __init__(self, request: PermissionRequest) -> None:
        self.request = request
        rule = plain_line(request.rule or "")
        always = (
            f"Always: {cut(rule, LONGEST_RULE)}" if rule else "Always (this exact call, session)"
        )
        choices = (
            Choice("1", "Allow once", "once", "once"),
            Choice("2", "Allow this session", "session", "session"),
            Choice("3", always, "always", "always"),
            Choice("4", "No", "no", "no"),
            Choice("5", "No, and say why…", "why", "why"),
        )
        wants = self.WANTS.get(request.tool, "wants to be used")
        title = f"{plain_line(request.tool)} {wants}"
        body = [*subject(request), Content.styled(plain(request.reason), "$r-muted")]
        super().__init__(title, body, choices, id="permission")


def subject(request: PermissionRequest) -> list[Content]:
    """What a call is about and what it will do, line by line."""
    arguments = request.arguments
    if request.tool == "Bash":
        return [Content.styled(_shown(str(arguments.get("command", ""))), "bold")]
    path = str(arguments.get("file_path") or arguments.get("path") or request.title)
    parts = [Content.styled(plain(path), "bold")]
    if request.tool == "memory":
        parts = [Content.styled(plain(request.title), "bold"), _memory_change(arguments)]
    elif request.tool == "Edit":
        old, new = str(arguments.get("old_string", "")), str(arguments.get("new_string", ""))
        parts.append(_replacement(old, new))
        if arguments.get("replace_all") is True:
            parts.append(Content.styled("everywhere in the file", "$r-warn"))
    elif request.tool == "Write":
        text = _shown(str(arguments.get("content", "")))
        parts.append(_diff([BodyLine(f"+ {line}", "added") for line in text.split("\n")]))
    elif len(arguments) > 1 or not parts[0].plain:
        parts.append(Content("\n".join(_argument(k, v) for k, v in arguments.items())))
    return parts


def _memory_change(arguments: Mapping[str, Any]) -> Content:
    """What the command will do, whatever else stands in the call."""
    match arguments.get("command"):
        case "create":
            old, new = "", "file_text"
        case "insert":
            old, new = "", "insert_text"
        case "str_replace":
            old, new = "old_str", "new_str"
        case "rename":
            return Content(f"to {plain_line(str(arguments.get('new_path', '')))}")
        case _:
            return Content("")
    return _replacement(str(arguments.get(old, "")), str(arguments.get(new, "")))


def _argument(key: str, value: Any) -> str:
    return f"{plain_line(key)}: {cut(plain(cast('str', str(value))), 500)}"


def _shown(text: str) -> str:
    if len(text) <= LONGEST_SHOWN:
        return plain(text, show_colours=True)
    return (
        plain(text[:LONGEST_SHOWN], show_colours=True)
        + f"\n… {len(text) - LONGEST_SHOWN} more characters"
    )


def _replacement(old: str, new: str) -> Content:
    lines = [BodyLine(f"− {line}", "removed") for line in _shown(old).split("\n")] if old else []
    lines += [BodyLine(f"+ {line}", "added") for line in _shown(new).split("\n")] if new else []
    return _diff(lines)


def _diff(lines: list[BodyLine]) -> Content:
    colours = {"added": "$r-ok", "removed": "$r-error"}
    parts: list[Content] = []
    for line in lines:
        parts += [Content.styled(line.text, colours.get(line.tone, "")), Content("\n")]
    return Content.assemble(*parts[:-1])
