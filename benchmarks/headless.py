"""The real app without a terminal, on a temporary home and a given transcript."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from app.controller import Controller
from app.installation import Installation, Options
from app.main import ReverieApp
from app.models.provider import Provider
from app.paths import Places

SESSION = "11111111-2222-4333-8444-555555555555"


def transcript(messages: int, words: int = 60) -> Iterator[str]:
    """Lines of a session: prompts and replies in turn."""
    parent: str | None = None
    for number in range(messages):
        own = f"00000000-0000-4000-8000-{number:012d}"
        text = f"Message {number}. " + "some *plain* words and `code` " * (words // 6)
        line: dict[str, Any] = {
            "type": "assistant" if number % 2 else "user",
            "uuid": own,
            "parentUuid": parent,
            "sessionId": SESSION,
            "timestamp": "2026-01-05T10:00:01.000Z",
            "isSidechain": False,
            "cwd": "/work",
            "version": "1.0.0",
        }
        if number % 2:
            line["message"] = {
                "id": f"msg_{number}",
                "type": "message",
                "role": "assistant",
                "model": "claude-opus-5-5",
                "content": [{"type": "text", "text": text}],
                "stop_reason": "end_turn",
                "usage": {"input_tokens": 10, "output_tokens": 50},
            }
        else:
            line["message"] = {"role": "user", "content": text}
        yield json.dumps(line, separators=(",", ":"))
        parent = own


@asynccontextmanager
async def app_with(
    provider: Provider, messages: int = 0, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[ReverieApp, Pilot[None]]]:
    """The app, its session open."""
    with tempfile.TemporaryDirectory(prefix="reverie-benchmark-") as name:
        root = Path(name)
        folder = root / "project"
        folder.mkdir()
        places = Places(root / "config", root / "data", root / "logs")
        here = Installation(places, folder, {"HOME": name, "ANTHROPIC_API_KEY": "sk-ant-none"})
        file: Path | None = None
        if messages:
            file = places.transcript(folder, SESSION)
            file.parent.mkdir(parents=True)
            file.write_text("\n".join(transcript(messages)) + "\n")
        options = Options(resume=file)
        loaded = here.settings(options)
        controller = Controller(here, options, loaded, choose=lambda *_: provider)
        app = ReverieApp(controller)
        async with app.run_test(size=size) as pilot:
            while not controller.state.session.session_id:
                await pilot.pause()
            await pilot.pause(0.5)
            yield app, pilot


async def finished(app: ReverieApp) -> None:
    """Wait for the end of the turn; nothing but the store's own notice is involved."""
    ended = asyncio.Event()
    release = app.controller.store.subscribe(
        lambda state: ended.set() if state.live.turn_id is None and state.live.last else None
    )
    await ended.wait()
    release()
