"""Opens the memory screen over a desk without a disk, and types into it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual import events
from textual.widget import Widget
from textual.widgets import Static

from tests.fakes.memory_desk import FakeMemoryDesk
from tests.pilot.stage import Window, window
from widgets.memory.buffers import Buffer
from widgets.memory.editor import Editor
from widgets.screens.memory import MemoryScreen
from widgets.tree.tree_list import TreeList

SHOP = {
    "MEMORY.md": "# Shop\n\n- [Testing](testing.md): clock rules\n- [Deploy](deploy/steps.md)\n",
    "deploy/steps.md": "# Deploy\n\n1. tag\n2. push\n",
    "testing.md": "# Testing\n\nUse the fake clock.\nNever sleep in a test.\n",
}


class Memories:
    """The memory screen and its desk."""

    def __init__(self, seen: Window, desk: FakeMemoryDesk, screen: MemoryScreen) -> None:
        self.seen = seen
        self.desk = desk
        self.screen = screen
        self.closed = 0

    async def settle(self) -> None:
        for _ in range(3):
            await self.seen.app.workers.wait_for_complete()
            await self.seen.pilot.pause()

    async def press(self, *keys: str) -> None:
        await self.seen.pilot.press(*keys)
        await self.settle()

    async def burst(self, *keys: str) -> None:
        """Keys that arrive all at once, before any of them has done anything."""
        for key in keys:
            self.seen.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await self.seen.pilot.pause()
        await self.settle()

    async def click(self, widget: Widget, offset: tuple[int, int]) -> None:
        await self.seen.pilot.click(widget, offset=offset)
        await self.settle()

    @property
    def mode(self) -> str:
        return self.screen._mode

    @property
    def buffer(self) -> Buffer:
        buffer = self.screen._shown
        assert buffer is not None
        return buffer

    @property
    def editor(self) -> Editor:
        return self.buffer.editor

    def lines(self, name: str = "list") -> list[str]:
        rows = self.screen.query_one(f"#memory-{name}", TreeList)
        return [rows.render_line(y).text.rstrip() for y in range(rows.size.height)]

    def listed(self) -> list[str]:
        return [line for line in self.lines() if line]

    def drawn(self, name: str) -> str:
        pane: Any = self.screen.query_one(f"#memory-{name}")
        rows = range(pane.size.height)
        return "\n".join(pane.render_line(y).text.rstrip() for y in rows)

    def said(self, name: str) -> str:
        return str(self.screen.query_one(f"#memory-{name}", Static).content)

    def notices(self) -> str:
        return " ".join(notice.text for notice in self.seen.state.notices)


@asynccontextmanager
async def memories(
    tmp_path: Path,
    texts: dict[str, str] | None = None,
    *,
    size: tuple[int, int] = (120, 30),
    **fields: Any,
) -> AsyncIterator[Memories]:
    async with window(tmp_path, size=size) as seen:
        desk = FakeMemoryDesk(seen.controller.emit, SHOP if texts is None else texts, **fields)
        screen = MemoryScreen(seen.controller, desk)
        shown = Memories(seen, desk, screen)

        def closed(_: None) -> None:
            shown.closed += 1

        await seen.app.push_screen(screen, closed)
        await seen.pilot.pause()
        await shown.settle()
        yield shown
