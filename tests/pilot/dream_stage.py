"""Opens the screen of dreams on a desk in memory and looks at it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from app.background.dream.record import Dream
from tests.fakes.dreams import Dreams
from tests.pilot.stage import Window, window
from widgets.screens.dreams import DreamsScreen


@asynccontextmanager
async def stage(
    tmp_path: Path, dreams: Sequence[Dream], size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[Window, Dreams]]:
    async with window(tmp_path, size=size) as seen:
        desk = Dreams(dreams)
        seen.app.push_screen(DreamsScreen(seen.controller, desk))
        await settled(seen)
        yield seen, desk


async def settled(seen: Window) -> None:
    await seen.pilot.pause()
    await seen.app.workers.wait_for_complete()
    await seen.pilot.pause()


async def keys(seen: Window, *names: str) -> None:
    await seen.pilot.press(*names)
    await settled(seen)


def screen(seen: Window) -> DreamsScreen:
    found = seen.app.screen
    assert isinstance(found, DreamsScreen)
    return found


def on_screen(seen: Window) -> str:
    lines: list[str] = []
    for widget in screen(seen).query("Static, TreeList"):
        if widget.display and widget.region:
            shown = [widget.render_line(y).text for y in range(widget.size.height)]
            lines += [line.rstrip() for line in shown]
    return "\n".join(lines)


def at(seen: Window) -> str:
    """The line under the cursor of the one that has the keys."""
    here = screen(seen)
    rows = here.diff if here._is_reading else here.list
    return rows.render_line(rows._chosen - rows.scroll_offset.y).text.rstrip()
