"""Grep: files by content, with ripgrep; files that hold secrets are left out."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from app.agent.path_policy import is_secret
from app.agent.tools import ripgrep
from app.agent.tools.arguments import checked, clean, title_of
from app.agent.tools.base import (
    MAX_RESULT_CHARACTERS,
    ToolContext,
    ToolFailure,
    ToolInput,
    ToolResult,
)
from app.agent.tools.paths import locate, settled, shown

LINE_BYTES = 500
_CONTEXT_OPTIONS = ("-A", "-B", "-C")


class GrepTool:
    """Claude Code's Grep."""

    name = "Grep"
    description = (
        "Searches file contents with ripgrep and its regular expressions (write `\\{` for a "
        "brace). `output_mode` gives the names of matching files (the default), the lines, or "
        "counts. .gitignore holds; files that usually hold secrets are left out unless `path` "
        "names one. Prefer this to grep in the shell."
    )
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "minLength": 1, "description": "Regular expression."},
            "path": {
                "type": "string",
                "description": "File or folder; the project folder where it is left out.",
            },
            "glob": {"type": "string", "description": "Only files like this, such as `*.tsx`."},
            "type": {"type": "string", "description": "Only this file type, such as `py`."},
            "output_mode": {
                "type": "string",
                "enum": ["content", "files_with_matches", "count"],
                "description": "What to give back; files_with_matches where it is left out.",
            },
            "-A": {"type": "integer", "minimum": 0, "description": "Lines after each match."},
            "-B": {"type": "integer", "minimum": 0, "description": "Lines before each match."},
            "-C": {"type": "integer", "minimum": 0, "description": "Lines around each match."},
            "-n": {
                "type": "boolean",
                "description": "Line numbers in content mode; on by default.",
            },
            "-i": {"type": "boolean", "description": "Ignore case."},
            "multiline": {"type": "boolean", "description": "Let a match span lines."},
            "head_limit": {"type": "integer", "minimum": 1, "description": "Most lines to give."},
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
        place = settled(locate(values.get("path", "."), context), arguments, context)
        if not place.exists():
            raise ToolFailure(f"{clean(str(place))} does not exist.")
        folder, target = (place, ".") if place.is_dir() else (place.parent, place.name)
        mode: str = values.get("output_mode", "files_with_matches")
        found = await ripgrep.search([*_options(values, mode), "--", target], folder)
        hidden = _hidden(place, folder, context)
        if mode == "files_with_matches":
            names = [name for name in found.records(b"\0") if not hidden(name)]
            paths = [folder / os.fsdecode(name) for name in names]
            return _names_result(paths, values.get("head_limit"), context, found)
        rows = [
            row for line in found.records(b"\n") if (row := _row(line, folder, context, hidden))
        ]
        return _rows_result(_without_stray_gaps(rows), mode, values.get("head_limit"), found)


def _options(values: dict[str, Any], mode: str) -> list[str]:
    options = ["--null", "--hidden", "--glob=!.git", "--sort=path", "--with-filename"]
    if mode == "content":
        options += ["--no-heading", f"--max-columns={LINE_BYTES}", "--max-columns-preview"]
        options.append("--line-number" if values.get("-n", True) else "--no-line-number")
        options += [f"{name}{values[name]}" for name in _CONTEXT_OPTIONS if name in values]
    else:
        options.append("--files-with-matches" if mode == "files_with_matches" else "--count")
    if values.get("-i"):
        options.append("--ignore-case")
    if values.get("multiline"):
        options += ["--multiline", "--multiline-dotall"]
    if "glob" in values:
        options.append(f"--glob={values['glob']}")
    if "type" in values:
        options.append(f"--type={values['type']}")
    return [*options, f"--regexp={values['pattern']}"]


def _hidden(place: Path, folder: Path, context: ToolContext) -> Callable[[bytes], bool]:
    """Tells which of ripgrep's names the model must not see; a file named outright is meant."""

    def hidden(name: bytes) -> bool:
        relative = Path(os.path.normpath(os.fsdecode(name)))
        path = folder / relative
        return path != place and (is_secret(relative) or context.hidden(path))

    return hidden


def _row(
    line: bytes, folder: Path, context: ToolContext, hidden: Callable[[bytes], bool]
) -> str | None:
    name, mark, rest = line.partition(b"\0")
    if not mark:
        return "--" if line == b"--" else None
    if hidden(name):
        return None
    path = Path(os.path.normpath(folder / os.fsdecode(name)))
    return clean(f"{shown(path, context)}:{rest.decode('utf-8', 'replace')}")


def _without_stray_gaps(rows: list[str]) -> list[str]:
    kept: list[str] = []
    for row in rows:
        if row != "--" or (kept and kept[-1] != "--"):
            kept.append(row)
    return kept[:-1] if kept and kept[-1] == "--" else kept


def _names_result(
    paths: list[Path], limit: int | None, context: ToolContext, found: ripgrep.Search
) -> ToolResult:
    names = [shown(Path(os.path.normpath(path)), context) for path in paths]
    text, files = _limited(names, limit, found)
    details = {"mode": "files_with_matches", "filenames": files, "numFiles": len(files)}
    return ToolResult(text or "No files found.", details=details)


def _rows_result(
    rows: list[str], mode: str, limit: int | None, found: ripgrep.Search
) -> ToolResult:
    text, kept = _limited(rows, limit, found)
    files = {row.split(":", 1)[0] for row in kept if row != "--"}
    details: dict[str, Any] = {
        "mode": mode,
        "filenames": [],
        "numFiles": len(files),
        "content": text,
        "numLines": len(kept),
    }
    if mode == "count":
        details["numMatches"] = sum(int(row.rsplit(":", 1)[1]) for row in kept)
    return ToolResult(text or "No matches found.", details=details)


def _limited(rows: list[str], limit: int | None, found: ripgrep.Search) -> tuple[str, list[str]]:
    """The text for the model and the rows in it: whole rows, with a note of what was left out."""
    kept: list[str] = []
    room = MAX_RESULT_CHARACTERS
    for row in rows[:limit]:
        room -= len(row) + 1
        if room < 0:
            break
        kept.append(row)
    notes: list[str] = []
    if len(kept) < len(rows):
        notes.append(f"({len(rows) - len(kept)} more lines; narrow the search)")
    if found.cut:
        notes.append("(the search was cut short: too much output)")
    if found.trouble:
        notes.append(f"(some places could not be searched: {found.trouble})")
    return "\n".join([*kept, *notes]), kept
