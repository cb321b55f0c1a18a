"""What a tool card says: its title, the note at its right end, its body as plain lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from app.plain_text import plain, plain_line

LineTone: TypeAlias = Literal["plain", "added", "removed", "muted", "error"]

_TITLE_KEYS = (
    "command", "file_path", "notebook_path", "pattern", "path", "query", "url", "description",
    "bash_id", "shell_id", "task_id", "prompt", "subject",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class BodyLine:
    """One line of a card's body; `number` is a file's line number."""

    text: str
    tone: LineTone = "plain"
    number: int | None = None


def call_title(name: str, arguments: Mapping[str, Any], folder: str = "") -> str:
    """The one argument worth a card's line; paths below `folder` relative to it."""
    if name == "Grep":
        where = str(arguments.get("path") or arguments.get("glob") or "")
        title = f'"{arguments.get("pattern", "")}"'
        return plain_line(f"{title}  in {_short(where, folder)}" if where else title)
    if name == "memory":
        path = str(arguments.get("path") or arguments.get("old_path") or "")
        new = arguments.get("new_path")
        words = [str(arguments.get("command", "")), path.removeprefix("/memories/")]
        words += [f"to {new}".replace("/memories/", "", 1)] if isinstance(new, str) else []
        return plain_line("  ".join(words))
    if name == "SendFeedback":
        words = " ".join(str(arguments.get("title") or "").split())
        return plain_line(f'"{words}"') if words else ""
    for key in _TITLE_KEYS:
        value = arguments.get(key)
        if isinstance(value, str) and value:
            return plain_line(_short(value, folder) if "path" in key else value)
    return ""


def _short(path: str, folder: str) -> str:
    prefix = folder.rstrip("/") + "/"
    return path[len(prefix) :] if folder and path.startswith(prefix) else path


def result_text(content: object) -> str:
    """The text of a tool result; pictures by their kind."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts: list[str] = []
    for part in cast("list[object]", content):
        if isinstance(part, dict):
            block = cast("dict[str, Any]", part)
            text = block.get("text")
            parts.append(text if isinstance(text, str) else f"[{block.get('type', 'unknown')}]")
    return "\n".join(parts)


def result_note(name: str, details: object, output: str, seconds: float | None) -> str:
    """What stands at the right end of a finished card's line."""
    fields = cast("dict[str, Any]", details) if isinstance(details, dict) else {}
    if hunks := _hunks(fields):
        added, removed = count_changes(hunks)
        strike = "  x strike" if name == "memory" else ""
        return f"+{added} −{removed}{strike}"
    if name == "Write" and fields.get("type") == "create":
        return f"+{len(str(fields.get('content', '')).splitlines())} new"
    file = fields.get("file")
    if isinstance(file, dict):
        lines = cast("dict[str, Any]", file).get("numLines")
        return _plural(lines, "line") if isinstance(lines, int) else ""
    if name in {"Grep", "Glob", "LS"}:
        for key, word in (("numMatches", "match"), ("numLines", "line"), ("numFiles", "file")):
            if isinstance(fields.get(key), int):
                return _plural(fields[key], word)
        return _plural(len(output.splitlines()), "line")
    if name == "SendFeedback" and fields.get("type") == "feedback":
        return "draft queued"
    if name == "Bash" and seconds is not None and seconds >= 0.1:
        return f"{seconds:.1f} s"
    return ""


def _plural(count: int, word: str) -> str:
    ending = "" if count == 1 else "es" if word.endswith("ch") else "s"
    return f"{count} {word}{ending}"


def _hunks(fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    patch = fields.get("structuredPatch")
    if not isinstance(patch, list):
        return []
    return [
        cast("dict[str, Any]", hunk)
        for hunk in cast("list[object]", patch)
        if isinstance(hunk, dict) and isinstance(cast("dict[str, Any]", hunk).get("lines"), list)
    ]


def count_changes(hunks: list[dict[str, Any]]) -> tuple[int, int]:
    """`(added, removed)` lines of a structured patch."""
    lines = [str(line) for hunk in hunks for line in hunk["lines"]]
    return (
        sum(1 for line in lines if line.startswith("+")),
        sum(1 for line in lines if line.startswith("-")),
    )


def body_lines(
    name: str, arguments: Mapping[str, Any], details: object, output: str
) -> list[BodyLine]:
    """The body of an open card: a diff, a list of tasks, or the result's own lines."""
    fields = cast("dict[str, Any]", details) if isinstance(details, dict) else {}
    if hunks := _hunks(fields):
        return patch_lines(hunks)
    if name == "Write" and fields.get("type") == "create":
        text = plain(str(fields.get("content", "")))
        return [BodyLine(line, "added", n) for n, line in enumerate(text.split("\n"), 1)]
    if name == "TodoWrite":
        todos = arguments.get("todos")
        return _todo_lines(todos) if isinstance(todos, list) else []
    text = plain(output).rstrip("\n")
    return [BodyLine(line) for line in text.split("\n")] if text else []


def _todo_lines(todos: list[Any]) -> list[BodyLine]:
    marks = {"completed": "✓", "in_progress": "●"}
    lines: list[BodyLine] = []
    for todo in todos:
        if isinstance(todo, dict):
            item = cast("dict[str, Any]", todo)
            status = str(item.get("status"))
            tone: LineTone = "muted" if status == "completed" else "plain"
            text = plain_line(str(item.get("content", "")))
            lines.append(BodyLine(f"{marks.get(status, '○')} {text}", tone))
    return lines


def patch_lines(hunks: list[dict[str, Any]]) -> list[BodyLine]:
    """A structured patch as numbered lines, `−` and `+` in front, `…` between hunks."""
    out: list[BodyLine] = []
    for position, hunk in enumerate(hunks):
        if position:
            out.append(BodyLine("…", "muted"))
        old, new = int(hunk.get("oldStart") or 1), int(hunk.get("newStart") or 1)
        for raw in hunk["lines"]:
            line = plain(str(raw)).replace("\n", " ")
            mark, text = line[:1], line[1:]
            if mark == "+":
                out.append(BodyLine(f"+ {text}", "added", new))
                new += 1
            elif mark == "-":
                out.append(BodyLine(f"− {text}", "removed", old))
                old += 1
            elif mark != "\\":
                out.append(BodyLine(f"  {text}", "muted", new))
                old, new = old + 1, new + 1
    return out
