"""LS: what a folder holds."""

from __future__ import annotations

import asyncio
import fnmatch
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.agent.tools.arguments import checked, clean, title_of
from app.agent.tools.base import ToolContext, ToolFailure, ToolInput, ToolResult
from app.agent.tools.paths import locate, reason_of, settled, shown
from app.paths import open_resolved

MOST_ENTRIES = 1000


class LsTool:
    """Claude Code's LS: one level, folders first."""

    name = "LS"
    description = (
        "Lists a folder, one level deep, hidden entries included: folders end in `/`, links show "
        f"where they lead. At most {MOST_ENTRIES} entries. Find files by name with Glob and by "
        "content with Grep."
    )
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "description": "The folder; the project folder where it is left out.",
            },
            "ignore": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Name patterns to leave out, such as `*.pyc`.",
            },
        },
        "additionalProperties": False,
    }
    read_only = True

    def title(self, arguments: ToolInput) -> str:
        return title_of(arguments, "path") or "."

    async def run(
        self, arguments: ToolInput, context: ToolContext, progress: Callable[[str], None]
    ) -> ToolResult:
        values = checked(self, arguments)
        folder = locate(values.get("path", "."), context)
        target = settled(folder, arguments, context)
        names = await asyncio.to_thread(_names, target, values.get("ignore", ()))
        heading = clean(f"{shown(folder, context)}/")
        more = len(names) - MOST_ENTRIES
        lines = [heading, *(f"  {name}" for name in names[:MOST_ENTRIES])]
        if not names:
            lines.append("  (empty)")
        if more > 0:
            lines.append(f"  ({more} more; narrow it down with Glob)")
        details = {"filenames": names[:MOST_ENTRIES], "numFiles": len(names)}
        return ToolResult("\n".join(lines), details=details)


def _names(folder: Path, ignore: Sequence[str]) -> list[str]:
    folders: list[str] = []
    others: list[str] = []
    try:
        descriptor = open_resolved(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise ToolFailure(f"{clean(str(folder))} cannot be listed: {reason_of(error)}.") from error
    try:
        with os.scandir(descriptor) as entries:
            for entry in entries:
                if any(fnmatch.fnmatchcase(entry.name, pattern) for pattern in ignore):
                    continue
                if entry.is_symlink():
                    others.append(f"{entry.name} -> {_aim(entry.name, descriptor)}")
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(f"{entry.name}/")
                else:
                    others.append(entry.name)
    except OSError as error:
        raise ToolFailure(f"{clean(str(folder))} cannot be listed: {reason_of(error)}.") from error
    finally:
        os.close(descriptor)
    return [clean(name) for name in sorted(folders) + sorted(others)]


def _aim(link: str, folder: int) -> str:
    try:
        return os.readlink(link, dir_fd=folder)
    except OSError:
        return "?"
