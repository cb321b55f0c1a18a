"""Write: a whole new text for a file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.agent.tools.arguments import checked, title_of
from app.agent.tools.atomic_write import kept, writable_target, write_atomic
from app.agent.tools.base import ToolContext, ToolFailure, ToolInput, ToolResult
from app.agent.tools.paths import locate, shown
from app.agent.tools.text_file import decode, read_whole, remember, require_fresh
from app.patch import structured_patch


class WriteTool:
    """Claude Code's Write."""

    name = "Write"
    description = (
        "Writes a text file, replacing what it held; missing folders are made. An existing file "
        "must have been read first in this session. Prefer Edit for changing parts of a file."
    )
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "file_path": {
                "type": "string",
                "description": "Path of the file; a relative one starts at the project folder.",
            },
            "content": {"type": "string", "description": "The file's whole new text."},
        },
        "required": ["file_path", "content"],
        "additionalProperties": False,
    }
    read_only = False

    def title(self, arguments: ToolInput) -> str:
        return title_of(arguments, "file_path")

    async def run(
        self, arguments: ToolInput, context: ToolContext, progress: Callable[[str], None]
    ) -> ToolResult:
        values = checked(self, arguments)
        path = locate(values["file_path"], context)
        change = await asyncio.to_thread(_prepared, path, arguments, values["content"], context)
        await kept(context, change.target, change.new, what=self.name, old=change.old)
        return await asyncio.to_thread(_write, change, values["content"], context)


@dataclass(frozen=True, slots=True)
class _Change:
    target: Path
    old: bytes | None
    new: bytes


def _prepared(path: Path, arguments: ToolInput, content: str, context: ToolContext) -> _Change:
    target = writable_target(path, arguments, context)
    try:
        new = content.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ToolFailure(
            "Write: `content` holds half of a surrogate pair, which no file can hold."
        ) from error
    old: bytes | None = None
    if target.exists():
        old = read_whole(target)
        if old:
            require_fresh(context, target, old)
    return _Change(target, old, new)


def _write(change: _Change, content: str, context: ToolContext) -> ToolResult:
    target = change.target
    old = None if change.old is None else decode(change.old)
    note = write_atomic(target, change.new)
    remember(context, target, change.new)
    before = "" if old is None else old.text
    details = {
        "type": "create" if old is None else "update",
        "filePath": str(target),
        "content": content,
        "structuredPatch": [] if old is None else structured_patch(before, content),
        "originalFile": None if old is None else before,
    }
    done = "Created" if old is None else "Replaced the text of"
    lines = content.count("\n") + (0 if content.endswith("\n") or not content else 1)
    text = f"{done} {shown(target, context)} ({lines} lines). {note}".rstrip()
    return ToolResult(text, details=details)
