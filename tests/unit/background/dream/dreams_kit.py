"""A desk that dreams: the memory, sessions of others, a scripted sub-agent."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from app.background_settings import DreamSettings
from app.dream_desk import DreamDesk
from app.sessions.envelope import new_uuid
from app.storage.documents import Author
from tests.fakes.background import Desk, background
from tests.fakes.clock import START, settled
from tests.fakes.provider import Step, calls

ENTRY = "# Shop\n- [Clock](clock.md)\n- [Clock](clock.md)\n"
CLOCK = "# Clock\nThe clock is monotonic.\n"


def dreams(desk: Desk) -> DreamDesk:
    return desk.background.dreams


def memory(desk: Desk) -> dict[str, str]:
    root = dreams(desk).place.memory
    return {str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*.md"))}


def other_sessions(desk: Desk, count: int) -> None:
    folder = dreams(desk).place.sessions
    folder.mkdir(parents=True, exist_ok=True)
    for _ in range(count):
        file = folder / f"{new_uuid()}.jsonl"
        file.write_text("{}\n")
        os.utime(file, (START.timestamp(), START.timestamp()))


@asynccontextmanager
async def dreaming(tmp_path: Path, sessions: int = 5, **settings: Any) -> AsyncIterator[Desk]:
    dream = settings.pop("dream", DreamSettings())
    async with background(tmp_path, dream=dream, **settings) as desk:
        dreams(desk)._has_terminal = lambda: True
        for name, text in (("MEMORY.md", ENTRY), ("clock.md", CLOCK)):
            dreams(desk)._documents.update(name, lambda _text, text=text: text, Author("you"))
        other_sessions(desk, sessions)
        yield desk


def writes(desk: Desk, name: str, text: str, evidence: str = "session 1: said so") -> list[Step]:
    """A reply that reads a document and writes it anew."""
    path = str(dreams(desk).place.stage / name)
    arguments = {"file_path": path, "content": text, "evidence": evidence}
    read = ("Read", {"file_path": path}, f"toolu_{new_uuid()[:8]}")
    return list(calls(read, ("Write", arguments, f"toolu_{new_uuid()[:8]}")))


async def over(desk: Desk) -> Any:
    """Let the dream that runs end."""
    while not desk.tasks("dream"):
        await asyncio.to_thread(int)
        await settled()
    task = desk.tasks("dream")[-1]
    await desk.background._registry.ended(task.id)
    await settled()
    return desk.tasks("dream")[-1]
