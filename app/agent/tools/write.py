"""Write: a whole new text for a file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from app.agent.tools.arguments import checked, title_of
from app.agent.tools.atomic_write import writable_target, write_atomic
from app.agent.tools.base import ToolContext, ToolFailure, ToolInput, ToolResult
from app.patch import structured_patch
from app.agent.tools.paths import locate, shown
from app.agent.tools.text_file import TextFile, decode, read_whole, remember, require_fresh


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
        return await asyncio.to_thread(_write, path, arguments, values["content"], context)


def _write(path: Path, arguments: ToolInput, content: str, context: ToolContext) -> ToolResult:
    target = writable_target(path, arguments, context)
    try:
        new = content.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ToolFailure(
            "Write: `content` holds half of a surrogate pair, which no file can hold."
        ) from error
    old: TextFile | None = None
    if target.exists():
        data = read_whole(target)
        if data:
            require_fresh(context, target, data)
        old = decode(data)
    note = write_atomic(target, new)
    remember(context, target, new)
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
