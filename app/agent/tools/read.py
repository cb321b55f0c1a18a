"""Read: the text of a file with line numbers, or a picture."""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from app.agent.tools.arguments import checked, clean, title_of
from app.agent.tools.base import ToolContext, ToolFailure, ToolInput, ToolResult
from app.agent.tools.paths import locate, settled
from app.agent.tools.text_file import (
    WHOLE_FILE_BYTES,
    decode,
    encoding_of,
    is_binary,
    open_judged,
    remember,
)

DEFAULT_LINES = 2000
LINE_CHARACTERS = 2000
READ_CHARACTERS = 100_000
"""About 25,000 tokens; a longer answer ends at a whole line and says where to go on."""
IMAGE_BYTES = 3_750_000
"""The Messages API takes pictures of 5 MB in base64."""

_PICTURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class _Excerpt:
    """Lines of a file; `total` is None where the end was not reached."""

    lines: list[str]
    total: int | None
    note: str = ""


class ReadTool:
    """Claude Code's Read."""

    name = "Read"
    description = (
        "Reads a file. Text comes back with line numbers, as `cat -n` shows it; pictures (PNG, "
        f"JPEG, GIF, WebP) come back as pictures. Without `limit` the first {DEFAULT_LINES} lines "
        f"are read; lines longer than {LINE_CHARACTERS} characters are cut. Use `offset` and "
        "`limit` for parts of long files. Folders are listed by LS, not by this tool. A file must "
        "have been read before Edit or Write may change it."
    )
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "file_path": {
                "type": "string",
                "description": "Path of the file; a relative one starts at the project folder.",
            },
            "offset": {
                "type": "integer",
                "minimum": 0,
                "description": "Number of the first line to read, counted from 1.",
            },
            "limit": {"type": "integer", "minimum": 1, "description": "How many lines to read."},
        },
        "required": ["file_path"],
        "additionalProperties": False,
    }
    read_only = True

    def title(self, arguments: ToolInput) -> str:
        return title_of(arguments, "file_path")

    async def run(
        self, arguments: ToolInput, context: ToolContext, progress: Callable[[str], None]
    ) -> ToolResult:
        values = checked(self, arguments)
        path = settled(locate(values["file_path"], context), arguments, context)
        first = max(1, values.get("offset", 1))
        count = values.get("limit", DEFAULT_LINES)
        return await asyncio.to_thread(_read, path, first, count, context)


def _read(path: Path, first: int, count: int, context: ToolContext) -> ToolResult:
    with os.fdopen(open_judged(path), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        sample = file.read(8192)
        file.seek(0)
        media_type = picture_type(sample)
        if media_type is not None:
            return _picture(path, file, size, media_type)
        if is_binary(sample):
            raise ToolFailure(
                f"{clean(str(path))} is a binary file of {size} bytes, which cannot be shown as "
                "text. Look at it with a shell command such as `file` or `xxd`."
            )
        if size <= WHOLE_FILE_BYTES:
            data = file.read()
            excerpt = _from_memory(data, first, count)
            remember(context, path, data)
        else:
            excerpt = _from_disk(file, sample, first, count)
            remember(context, path, None)
    return _result(path, excerpt, first)


def picture_type(sample: bytes) -> str | None:
    if sample[:4] == b"RIFF" and sample[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _PICTURES if sample.startswith(magic)), None)


def _picture(path: Path, file: BinaryIO, size: int, media_type: str) -> ToolResult:
    if size > IMAGE_BYTES:
        raise ToolFailure(
            f"{clean(str(path))} is a picture of {size} bytes; at most {IMAGE_BYTES} can be sent. "
            "Make a smaller copy first."
        )
    encoded = base64.b64encode(file.read()).decode("ascii")
    source = {"type": "base64", "media_type": media_type, "data": encoded}
    shown = {"filePath": str(path), "type": media_type, "originalSize": size}
    return ToolResult(
        [{"type": "image", "source": source}], details={"type": "image", "file": shown}
    )


def _from_memory(data: bytes, first: int, count: int) -> _Excerpt:
    file = decode(data)
    note = ""
    if file.encoding == "latin-1":
        note = "The file is not UTF-8; it was read as Latin-1, so some letters may look wrong."
    lines = file.text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return _Excerpt(lines[first - 1 : first - 1 + count], len(lines), note)


def _from_disk(file: BinaryIO, sample: bytes, first: int, count: int) -> _Excerpt:
    """Lines of a file too large for memory; reading ends with the last line asked for."""
    encoding, bom = encoding_of(sample)
    if encoding != "utf-8":
        raise ToolFailure(
            f"The file is {encoding} and larger than {WHOLE_FILE_BYTES // 1_000_000} MB. "
            "Convert a part of it with `iconv` first."
        )
    file.seek(len(bom))
    seen = _skip_lines(file, first - 1)
    if seen < first - 1:
        return _Excerpt([], seen)
    lines: list[str] = []
    spent = 0
    for line in _bounded_lines(file):
        lines.append(line)
        spent += len(line)
        if len(lines) >= count or spent > READ_CHARACTERS:
            return _Excerpt(lines, None)
    return _Excerpt(lines, first - 1 + len(lines))


def _skip_lines(file: BinaryIO, count: int) -> int:
    """Moves past `count` lines; the number of those that were there."""
    skipped = 0
    while skipped < count:
        piece = file.read(_PIECE)
        if not piece:
            return skipped
        found = piece.count(b"\n")
        if skipped + found < count:
            skipped += found
            continue
        end = -1
        for _ in range(count - skipped):
            end = piece.index(b"\n", end + 1)
        file.seek(end + 1 - len(piece), os.SEEK_CUR)
        return count
    return skipped


def _bounded_lines(file: BinaryIO) -> Iterator[str]:
    """The lines that follow; of a very long one only a little more than will be shown."""
    kept = LINE_CHARACTERS * 4 + 4
    while line := file.readline(kept):
        yield line.decode("utf-8", "replace").removesuffix("\n")
        # Only when the next line is wanted: the rest of this one may be a gigabyte.
        while line and not line.endswith(b"\n"):
            line = file.readline(_PIECE)


def _result(path: Path, excerpt: _Excerpt, first: int) -> ToolResult:
    numbered: list[str] = []
    spent = 0
    for number, line in enumerate(excerpt.lines, start=first):
        text = f"{number:>6}\t{_shortened(line.removesuffix(chr(13)))}"
        spent += len(text) + 1
        if spent > READ_CHARACTERS and numbered:
            break
        numbered.append(text)
    notes = [note for note in (_end_note(excerpt, first, len(numbered)), excerpt.note) if note]
    shown = "\n".join(excerpt.lines[: len(numbered)])
    details = {
        "filePath": str(path),
        "content": clean(shown),
        "numLines": len(numbered),
        "startLine": first,
        "totalLines": excerpt.total if excerpt.total is not None else first - 1 + len(numbered),
    }
    remarks = [f"({note})" for note in notes]
    content = clean("\n".join(numbered + ([""] if numbered and remarks else []) + remarks))
    return ToolResult(content, details={"type": "text", "file": details})


def _shortened(line: str) -> str:
    if len(line) <= LINE_CHARACTERS:
        return line
    return f"{line[:LINE_CHARACTERS]}… (line cut at {LINE_CHARACTERS} characters)"


def _end_note(excerpt: _Excerpt, first: int, shown: int) -> str:
    if excerpt.total == 0:
        return "The file is empty."
    if shown == 0:
        return f"The file has only {excerpt.total} lines; there is no line {first}."
    last = first + shown - 1
    if excerpt.total is None:
        return f"Lines {first} to {last}; the file goes on. Continue with offset {last + 1}."
    if last < excerpt.total:
        return f"Lines {first} to {last} of {excerpt.total}. Continue with offset {last + 1}."
    return ""
