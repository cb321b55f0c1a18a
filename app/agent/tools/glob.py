"""Glob: files by name."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.agent.path_policy import glob_base
from app.agent.tools import ripgrep
from app.agent.tools.arguments import checked, title_of
from app.agent.tools.base import ToolContext, ToolInput, ToolResult
from app.agent.tools.paths import locate, settled, shown

MOST_FILES = 100


class GlobTool:
    """Claude Code's Glob."""

    name = "Glob"
    description = (
        "Finds files by a name pattern such as `**/*.py` or `src/**/test_*.ts`, newest first, at "
        f"most {MOST_FILES}. Hidden files count; what .gitignore names and .git do not. A pattern "
        "without a slash matches at any depth."
    )
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "minLength": 1, "description": "The name pattern."},
            "path": {
                "type": "string",
                "description": "The folder to search; the project folder where it is left out.",
            },
        },
        "required": ["pattern"],
        "additionalProperties": False,
    }
    read_only = True

    def title(self, arguments: ToolInput) -> str:
        return title_of(arguments, "pattern")

    async def run(
        self, arguments: ToolInput, context: ToolContext, progress: Callable[[str], None]
    ) -> ToolResult:
        values = checked(self, arguments)
        base, pattern = glob_base(values["pattern"], values.get("path", "."))
        folder = settled(locate(base, context), arguments, context)
        options = ["--files", "--null", "--hidden", "--glob=!.git", f"--glob={pattern}"]
        found = await ripgrep.search(options, folder)
        paths = await asyncio.to_thread(_newest_first, folder, found.records(b"\0"))
        files = [shown(path, context) for path in paths[:MOST_FILES]]
        lines = files or ["No files found."]
        if len(paths) > MOST_FILES:
            lines = [*files, f"({len(paths) - MOST_FILES} more; narrow the pattern)"]
        details = {
            "filenames": files,
            "numFiles": len(files),
            "truncated": len(paths) > MOST_FILES or found.cut,
        }
        return ToolResult("\n".join(lines), details=details)


def _newest_first(folder: Path, names: Sequence[bytes]) -> list[Path]:
    def age(path: Path) -> tuple[int, str]:
        try:
            return -path.lstat().st_mtime_ns, str(path)
        except OSError:
            return 0, str(path)

    return sorted((folder / os.fsdecode(name) for name in names), key=age)
