"""Write, Edit and Delete of a dream: Markdown documents of the stage, and nothing else.

Each is checked before the call, so that the model can correct itself, and again when it is carried
out, which is the boundary (spec/dream.md).
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Final

from app.agent.tools.arguments import checked, title_of
from app.agent.tools.base import ToolContext, ToolFailure, ToolInput, ToolResult
from app.agent.tools.edit import replaced
from app.agent.tools.text_file import decode
from app.background.dream.roots import NotAllowed
from app.background.dream.stage_files import MOST_BYTES, StageFiles
from app.patch import structured_patch

_PATH: Final = {
    "type": "string",
    "description": "A document's path in the memory folder, or its name there: `topic.md`.",
}
_EVIDENCE: Final = {
    "type": "string",
    "description": "Where you saw it: a session id with a few words, or a file and line.",
}


def _schema(*required: str, **more: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = {"file_path": _PATH, **more, "evidence": _EVIDENCE}
    return {
        "type": "object",
        "properties": properties,
        "required": ["file_path", *required],
        "additionalProperties": False,
    }


class _StageTool:
    """What the three have in common."""

    name = ""
    description = ""
    schema: Mapping[str, Any] = {}
    read_only = False

    def __init__(self, files: StageFiles) -> None:
        self.files = files

    def title(self, arguments: ToolInput) -> str:
        return title_of(arguments, "file_path")

    def trouble(self, arguments: ToolInput) -> str:
        """Why the call would be refused; empty when it would not. Changes nothing. Blocking."""
        try:
            values = checked(self, arguments)
            name = self.files.name_of(values["file_path"])
            if len(_encoded(values.get("content", ""))) > MOST_BYTES:
                return f"A document may have {MOST_BYTES} bytes."
        except (NotAllowed, ToolFailure) as refused:
            return str(refused)
        return self.files.trouble(name)

    async def run(
        self, arguments: ToolInput, context: ToolContext, progress: Callable[[str], None]
    ) -> ToolResult:
        values = checked(self, arguments)
        try:
            name = self.files.name_of(values["file_path"])
            return await asyncio.to_thread(self.carry_out, name, values, context)
        except NotAllowed as refused:
            raise ToolFailure(str(refused)) from refused

    def carry_out(self, name: str, values: dict[str, Any], context: ToolContext) -> ToolResult:
        """Make the change. Raises `NotAllowed` and `ToolFailure`."""
        raise NotImplementedError

    def known(self, name: str, context: ToolContext) -> bytes | None:
        """The document as it is, which the model must have read so. Raises `ToolFailure`."""
        data = self.files.read(name)
        if data is None:
            return None
        seen = context.seen.get(str(self.files.folder / name))
        if seen is None:
            raise ToolFailure(f"{name} has not been read in this dream. Read it first.")
        if seen[2] != hashlib.sha256(data).hexdigest():
            raise ToolFailure(f"{name} has changed since it was read. Read it again first.")
        return data

    def put(self, name: str, data: bytes, context: ToolContext) -> None:
        """Write the document, which the model then knows."""
        self.files.write(name, data)
        digest = hashlib.sha256(data).hexdigest()
        context.seen[str(self.files.folder / name)] = (0, len(data), digest)


class StageWrite(_StageTool):
    """A whole new text for a document."""

    name = "Write"
    description = (
        "Writes a Markdown document of the memory, replacing what it held; missing folders are "
        "made. A document that exists must have been read first with Read. At most "
        f"{MOST_BYTES} bytes."
    )
    schema = _schema("content", content={"type": "string", "description": "The whole new text."})

    def carry_out(self, name: str, values: dict[str, Any], context: ToolContext) -> ToolResult:
        data = _encoded(values["content"])
        old = self.known(name, context)
        self.put(name, data, context)
        before = "" if old is None else decode(old).text
        return _changed(
            f"{'Created' if old is None else 'Replaced the text of'} {name}.",
            before,
            values["content"],
        )


class StageEdit(_StageTool):
    """Another text for an exact piece of a document."""

    name = "Edit"
    description = (
        "Replaces a piece of a Markdown document of the memory that has been read with Read. "
        "`old_string` must be exactly what the document holds, without line numbers, and must "
        "occur once, unless `replace_all` is set."
    )
    schema = _schema(
        "old_string",
        "new_string",
        old_string={"type": "string", "minLength": 1, "description": "The text to replace."},
        new_string={"type": "string", "description": "The text to put in its place."},
        replace_all={"type": "boolean", "description": "Replace every occurrence."},
    )

    def carry_out(self, name: str, values: dict[str, Any], context: ToolContext) -> ToolResult:
        data = self.known(name, context)
        if data is None:
            raise ToolFailure(f"{name} does not exist. Use Write to make it.")
        file = decode(data)
        everywhere = bool(values.get("replace_all", False))
        text, count = replaced(file.text, values["old_string"], values["new_string"], everywhere)
        self.put(name, file.encode(text), context)
        places = "1 place" if count == 1 else f"{count} places"
        return _changed(f"Edited {name}: {places} changed.", file.text, text)


class StageDelete(_StageTool):
    """No document any more."""

    name = "Delete"
    description = (
        "Deletes a Markdown document of the memory that has been read with Read. Take what is "
        "worth keeping elsewhere first, and its line out of the index."
    )
    schema = _schema()

    def carry_out(self, name: str, values: dict[str, Any], context: ToolContext) -> ToolResult:
        data = self.known(name, context)
        self.files.remove(name)
        return _changed(f"Deleted {name}.", decode(data or b"").text, "")


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ToolFailure("The text holds half of a surrogate pair, which no file can.") from error


def _changed(sentence: str, before: str, after: str) -> ToolResult:
    return ToolResult(sentence, details={"structuredPatch": structured_patch(before, after)})
