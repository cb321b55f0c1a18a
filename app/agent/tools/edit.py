"""Edit: replaces an exact piece of a file, and not one byte besides."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.agent.tools.arguments import checked, title_of
from app.agent.tools.atomic_write import kept, writable_target, write_atomic
from app.agent.tools.base import ToolContext, ToolFailure, ToolInput, ToolResult
from app.agent.tools.paths import locate, shown
from app.agent.tools.text_file import (
    decode,
    is_binary,
    read_whole,
    regular_file,
    remember,
    require_fresh,
)
from app.patch import structured_patch

_LINE_END = re.compile(r"\r?\n")
_PLACES_NAMED = 10


class EditTool:
    """Claude Code's Edit."""

    name = "Edit"
    description = (
        "Replaces a piece of text in a file that has been read in this session. `old_string` must "
        "be exactly what the file holds, indentation included, without the line numbers that Read "
        "puts in front, and must occur once: add lines around it where it does not, or set "
        "`replace_all` to change every place. Line ends, encoding and byte-order mark stay as "
        "they are."
    )
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "file_path": {
                "type": "string",
                "description": "Path of the file; a relative one starts at the project folder.",
            },
            "old_string": {"type": "string", "description": "The text to replace."},
            "new_string": {"type": "string", "description": "The text to put in its place."},
            "replace_all": {
                "type": "boolean",
                "description": "Replace every occurrence instead of the only one.",
            },
        },
        "required": ["file_path", "old_string", "new_string"],
        "additionalProperties": False,
    }
    read_only = False

    def title(self, arguments: ToolInput) -> str:
        return title_of(arguments, "file_path")

    async def run(
        self, arguments: ToolInput, context: ToolContext, progress: Callable[[str], None]
    ) -> ToolResult:
        values = checked(self, arguments)
        if values["old_string"] == values["new_string"]:
            raise ToolFailure("`old_string` and `new_string` are the same; there is no change.")
        if not values["old_string"]:
            raise ToolFailure("`old_string` is empty. Use Write to make a new file.")
        path = locate(values["file_path"], context)
        change = await asyncio.to_thread(_prepared, path, arguments, values, context)
        await kept(context, change.target, change.new, what=self.name, old=change.old)
        return await asyncio.to_thread(_edit, change, values, context)


@dataclass(frozen=True, slots=True)
class _Change:
    target: Path
    old: bytes
    new: bytes
    before: str
    after: str
    places: int


def _prepared(
    path: Path, arguments: ToolInput, values: dict[str, Any], context: ToolContext
) -> _Change:
    regular_file(path)
    target = writable_target(path, arguments, context)
    data = read_whole(target)
    require_fresh(context, target, data)
    if is_binary(data):
        raise ToolFailure("The file is binary; Edit changes text only.")
    file = decode(data)
    everywhere = bool(values.get("replace_all", False))
    text, count = replaced(file.text, values["old_string"], values["new_string"], everywhere)
    return _Change(target, data, file.encode(text), file.text, text, count)


def _edit(change: _Change, values: dict[str, Any], context: ToolContext) -> ToolResult:
    target = change.target
    note = write_atomic(target, change.new)
    remember(context, target, change.new)
    details = {
        "filePath": str(target),
        "oldString": values["old_string"],
        "newString": values["new_string"],
        "originalFile": change.before,
        "structuredPatch": structured_patch(change.before, change.after),
        "userModified": False,
        "replaceAll": bool(values.get("replace_all", False)),
    }
    places = "1 place" if change.places == 1 else f"{change.places} places"
    done = f"Edited {shown(target, context)}: {places} changed. {note}"
    return ToolResult(done.rstrip(), details=details)


def replaced(text: str, old: str, new: str, everywhere: bool) -> tuple[str, int]:
    r"""`text` with `old` replaced by `new`, and the number of places.

    A `\n` of `old` also matches the file's `\r\n`, and `new` takes over the line ends it replaces.
    Raises `ToolFailure` where `old` is not there, or there more than once without `everywhere`.
    """
    pattern = re.compile(r"\r?\n".join(re.escape(part) for part in _LINE_END.split(old)))
    found = list(pattern.finditer(text))
    if not found:
        raise ToolFailure(
            "`old_string` does not occur in the file. Compare white space and letters with what "
            "Read shows, and leave the line numbers out."
        )
    if len(found) > 1 and not everywhere:
        numbers = [text.count("\n", 0, match.start()) + 1 for match in found[:_PLACES_NAMED]]
        more = ", …" if len(found) > _PLACES_NAMED else ""
        raise ToolFailure(
            f"`old_string` occurs {len(found)} times (lines {', '.join(map(str, numbers))}{more}). "
            "Add lines around it to make it unique, or set `replace_all`."
        )
    usual = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    if "\r" in new:
        usual = "\n"  # the model has written line ends of its own
    changed = pattern.sub(lambda match: _with_line_ends(new, match.group(), usual), text)
    if changed == text:
        raise ToolFailure("The edit differs from the file in line ends only; nothing was changed.")
    return changed, len(found)


def _with_line_ends(new: str, old: str, usual: str) -> str:
    """`new` with the line ends of the piece it replaces, line by line where the counts agree."""
    if "\r" in new:
        return new
    ends: list[str] = _LINE_END.findall(old)
    lines = new.split("\n")
    if len(ends) != len(lines) - 1:
        ends = [ends[0] if ends and len(set(ends)) == 1 else usual] * (len(lines) - 1)
    return "".join(line + end for line, end in zip(lines, [*ends, ""], strict=True))
