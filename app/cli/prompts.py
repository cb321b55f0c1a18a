"""Print mode's stdin: the prompt as text, or one user message in JSON a line."""

from __future__ import annotations

import asyncio
import json
import os
import select
import stat
import sys
import threading
from collections.abc import AsyncGenerator
from typing import Any, cast

from app.cli.output import note
from app.errors import ReverieError, UsageError
from app.models.provider import Block

STDIN_WAIT = 3.0
"""Seconds to wait for the first byte of a pipe when there is a prompt already."""

Prompt = str | list[Block]


def text_prompt(prompt: str | None) -> str:
    """The prompt, with what is piped in behind it. Raises `UsageError` when both are empty.

    A pipe that nobody writes to, as some schedulers leave behind, is not waited for for ever.
    """
    piped = "" if prompt and not _stdin_speaks() else _read_stdin()
    parts = [part for part in (prompt or "", piped) if part.strip()]
    if not parts:
        raise UsageError(
            "There is no prompt: give one in front of the flags that take lists, or pipe it in."
        )
    return "\n\n".join(parts)


def _stdin_speaks() -> bool:
    try:
        descriptor = sys.stdin.fileno()
        if stat.S_ISCHR(os.fstat(descriptor).st_mode):
            return False  # a terminal or /dev/null
        ready, _, _ = select.select([descriptor], [], [], STDIN_WAIT)
    except (AttributeError, OSError, ValueError):
        return False
    if not ready:
        note(f"Nothing came on stdin within {STDIN_WAIT:g} s; going on without it.")
    return bool(ready)


def _read_stdin() -> str:
    # A process can be started without any stdin at all.
    if sys.stdin is None or sys.stdin.isatty():  # pyright: ignore[reportUnnecessaryComparison] - it can be None
        return ""
    try:
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    except OSError as error:
        raise ReverieError(f"Stdin cannot be read: {error.strerror or error}.") from error


async def json_prompts() -> AsyncGenerator[Prompt, None]:
    """The user messages on stdin, each as soon as its line is whole.

    Raises `ReverieError` for a line that is not one.
    """
    number = 0
    async for line in _stdin_lines():
        number += 1
        if line.strip():
            yield parse_user_line(line, number)


def parse_user_line(line: bytes, number: int) -> Prompt:
    """The content of `{"type":"user","message":{"role":"user","content":…}}`.

    Raises `ReverieError` that names the line.
    """
    try:
        found: object = json.loads(line)
    except (ValueError, RecursionError):
        raise _malformed(number, "it is not JSON") from None
    fields = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    if fields.get("type") != "user":
        raise _malformed(number, "its type is not user")
    message = fields.get("message")
    content: object = (
        cast("dict[str, Any]", message).get("content") if isinstance(message, dict) else None
    )
    if isinstance(content, str) and content.strip():
        return content
    blocks = cast("list[object]", content) if isinstance(content, list) else []
    if blocks and all(_is_block(block) for block in blocks):
        return cast("list[Block]", blocks)
    raise _malformed(number, "message.content must be text or a list of blocks, and not be empty")


def _is_block(block: object) -> bool:
    if not isinstance(block, dict):
        return False
    fields = cast("dict[str, Any]", block)
    kind = fields.get("type")
    return isinstance(fields.get("text"), str) if kind == "text" else isinstance(kind, str)


def _malformed(number: int, why: str) -> ReverieError:
    return ReverieError(f"Line {number} of stdin is not a user message: {why}.")


async def _stdin_lines() -> AsyncGenerator[bytes, None]:
    """Lines of stdin. A daemon thread reads, so that an idle pipe does not hold up the exit."""
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[bytes] = asyncio.Queue()

    def read() -> None:
        while True:
            try:
                chunk = os.read(0, 65_536)
            except OSError:
                chunk = b""
            try:
                loop.call_soon_threadsafe(chunks.put_nowait, chunk)
            except RuntimeError:  # the loop has closed: nobody waits any more
                return
            if not chunk:
                return

    threading.Thread(target=read, name="stdin", daemon=True).start()
    rest = b""
    while chunk := await chunks.get():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line
    if rest:
        yield rest
