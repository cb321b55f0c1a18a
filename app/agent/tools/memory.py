"""memory: the model's own notes on the project, in the shape of Anthropic's memory tool.

Every change is a versioned write with its history (spec/memory.md); nothing is lost by one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

from app.agent.session_memory import SessionMemory
from app.agent.tools.arguments import checked, clean
from app.agent.tools.base import (
    MAX_RESULT_CHARACTERS,
    ToolContext,
    ToolFailure,
    ToolInput,
    ToolResult,
)
from app.agent.tools.edit import replaced
from app.agent.tools.memory_text import after_write, inserted, listing, numbered
from app.errors import ReverieError
from app.patch import structured_patch
from app.storage.documents import Change
from app.storage.names import ENTRY, checked_name

MEMORY: Final = "memory"
ROOT: Final = "/memories"
_NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "view": ("path",),
    "create": ("path", "file_text"),
    "str_replace": ("path", "old_str"),
    "insert": ("path", "insert_line", "insert_text"),
    "delete": ("path",),
    "rename": ("old_path", "new_path"),
}
_STRING: Final = {"type": "string"}


def path_of(arguments: ToolInput) -> str:
    """The path that a call is about, as the model wrote it; empty where there is none."""
    value = arguments.get("old_path" if arguments.get("command") == "rename" else "path")
    return value if isinstance(value, str) else ""


class MemoryTool:
    """View, create, replace, insert, delete and rename notes below `/memories`."""

    name = MEMORY
    description = (
        "Your notes on this project, which last beyond the session. They are Markdown documents "
        f"below {ROOT}; {ROOT}/{ENTRY} is the entry, which every later session is shown: keep it "
        "short, one line a topic with a link to the document that holds the details. "
        "`view` shows a document with line numbers, or the list of documents; `create` makes a "
        "new one; `str_replace` changes a piece of text that occurs once; `insert` puts text "
        "behind a line (0: at the top); `delete` and `rename` need no other step: links in the "
        "entry follow. Note what will still hold later and cannot be read from the project "
        "itself: decisions and their reasons, the person's preferences and corrections, how "
        "things are run here, what went wrong and why. Look whether it is noted already, mend "
        "what has become wrong, and note no secrets and nothing that is only about this moment. "
        "Do it at the end of the work, together with your last other calls where you can."
    )
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "command": {"type": "string", "enum": list(_NEEDS)},
            "path": {"type": "string", "description": f"A document, as in {ROOT}/build.md."},
            "view_range": {
                "type": "array",
                "items": {"type": "integer"},
                "minItems": 2,
                "maxItems": 2,
                "description": "For view: first and last line; -1 is the end.",
            },
            "file_text": _STRING,
            "old_str": _STRING,
            "new_str": _STRING,
            "insert_line": {"type": "integer", "minimum": 0},
            "insert_text": _STRING,
            "old_path": _STRING,
            "new_path": _STRING,
        },
        "required": ["command"],
        "additionalProperties": False,
    }
    read_only = False

    def title(self, arguments: ToolInput) -> str:
        command = arguments.get("command")
        words = [command if isinstance(command, str) else "", path_of(arguments)]
        return clean(" ".join(" ".join(words).split()))

    async def run(
        self, arguments: ToolInput, context: ToolContext, progress: Callable[[str], None]
    ) -> ToolResult:
        values = checked(self, arguments)
        command = str(values["command"])
        for name in _NEEDS[command]:
            if name not in values:
                raise ToolFailure(f"memory: `{command}` needs `{name}`.")
        if context.memory is None:
            raise ToolFailure("Memory is off here: nothing is read or noted.")
        try:
            return await asyncio.to_thread(_run, command, values, context.memory)
        except ReverieError as error:
            raise ToolFailure(clean(str(error))) from error


def _run(command: str, values: dict[str, Any], memory: SessionMemory) -> ToolResult:
    if command == "view":
        return _view(values, memory)
    if command == "rename":
        return _rename(values, memory)
    name = checked_name(_relative(values["path"]))
    author = memory.author(f"memory {command}")
    if command == "delete":
        change = memory.documents.remove(name, author)
        unlinked = memory.documents.unlink(name, author)
        entry = f" Its line in {ENTRY} went with it." if unlinked is not None else ""
        return _changed(memory, change, f"Deleted {ROOT}/{name}.{entry}", command)
    make = {"create": _create, "str_replace": _replace, "insert": _insert}[command]
    change = memory.documents.update(name, lambda text: make(text, values, name), author)
    done = {"create": "Created", "str_replace": "Changed", "insert": "Added to"}[command]
    notes = after_write(memory, change)
    return _changed(memory, change, f"{done} {ROOT}/{name}. {notes}".rstrip(), command)


def _create(text: str | None, values: dict[str, Any], name: str) -> str:
    if text is not None:
        raise ToolFailure(
            f"{ROOT}/{name} exists already; view it, and use `str_replace` or `insert`."
        )
    return str(values["file_text"])


def _existing(text: str | None, name: str) -> str:
    if text is None:
        raise ToolFailure(f"There is no document {ROOT}/{name}; `create` makes one.")
    return text


def _replace(text: str | None, values: dict[str, Any], name: str) -> str:
    old, new = str(values["old_str"]), str(values.get("new_str", ""))
    if not old or old == new:
        raise ToolFailure("memory: `old_str` is empty or the same as `new_str`.")
    return replaced(_existing(text, name), old, new, everywhere=False)[0]


def _insert(text: str | None, values: dict[str, Any], name: str) -> str:
    return inserted(_existing(text, name), values["insert_line"], str(values["insert_text"]))


def _rename(values: dict[str, Any], memory: SessionMemory) -> ToolResult:
    old, new = (checked_name(_relative(values[key])) for key in ("old_path", "new_path"))
    author = memory.author("memory rename")
    change = memory.documents.rename(old, new, author)
    relinked = memory.documents.relink(old, new, author)
    entry = f" {ENTRY} links to the new name." if relinked is not None else ""
    return _changed(memory, change, f"Renamed {ROOT}/{old} to {ROOT}/{new}.{entry}", "rename")


def _changed(memory: SessionMemory, change: Change, sentence: str, command: str) -> ToolResult:
    store = memory.documents.store
    before, after = (
        "" if digest is None else store.text_of(digest).decode("utf-8", "replace")
        for digest in (change.before, change.after)
    )
    memory.wrote(change)
    if command == "rename":
        before = after
    details = {
        "type": "memory",
        "command": command,
        "name": change.name,
        "changeId": change.id,
        "version": (change.after or "")[:12],
        "structuredPatch": structured_patch(before, after),
    }
    return ToolResult(sentence, details=details)


def _view(values: dict[str, Any], memory: SessionMemory) -> ToolResult:
    path = _relative(values["path"]).rstrip("/")
    is_folder = not path or path == "." or not path.endswith(".md")
    if is_folder:
        folder = "" if path in ("", ".") else checked_name(f"{path}/x.md").removesuffix("x.md")
        return ToolResult(listing(memory, folder)[:MAX_RESULT_CHARACTERS])
    page = memory.documents.read(path)
    if page.version == "new":
        raise ToolFailure(f"There is no document {ROOT}/{page.name}.")
    return ToolResult(numbered(page.text, values.get("view_range")))


def _relative(path: str) -> str:
    """A path as the model writes it, without the folder that all of them share."""
    if path.rstrip("/") == ROOT:
        return ""
    return path.removeprefix(f"{ROOT}/").lstrip("/") if path.startswith(f"{ROOT}/") else path
