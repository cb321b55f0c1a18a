"""Pictures that go along with a prompt."""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import Sequence
from pathlib import Path

from app.agent.tools.base import ToolFailure
from app.agent.tools.read import IMAGE_BYTES, picture_type
from app.agent.tools.text_file import open_regular
from app.errors import ReverieError
from app.models.provider import Block


def read_picture(path: Path) -> Block:
    """The picture in a file as an image block.

    Raises `ReverieError` for a file that cannot be read, is too large or is no picture.
    """
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            data = file.read(IMAGE_BYTES + 1)
    except (ToolFailure, OSError) as error:
        raise ReverieError(f"The picture {path} cannot be read: {error}") from error
    if len(data) > IMAGE_BYTES:
        raise ReverieError(f"The picture {path} is larger than {IMAGE_BYTES:,} bytes.")
    kind = picture_type(data[:32])
    if kind is None:
        raise ReverieError(f"{path} is not a PNG, JPEG, GIF or WebP picture.")
    source = {"type": "base64", "media_type": kind, "data": base64.b64encode(data).decode()}
    return {"type": "image", "source": source}


async def with_pictures(
    text: str, files: Sequence[Path], folder: Path
) -> tuple[str | list[Block], list[str]]:
    """A prompt's content, and a sentence for each picture that was left out.

    Relative paths start at `folder`; the files are read in a thread.
    """
    blocks: list[Block] = []
    problems: list[str] = []
    for file in files:
        try:
            blocks.append(await asyncio.to_thread(read_picture, folder / file))
        except ReverieError as error:
            problems.append(str(error))
    if not blocks:
        return text, problems
    return [*blocks, *([{"type": "text", "text": text}] if text.strip() else [])], problems
