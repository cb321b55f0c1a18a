"""Stages background work and looks at the task panel and the tasks screen."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.state import facts as f
from tests.pilot.stage import Window, window
from widgets.screens.tasks import TasksScreen
from widgets.tasks.panel import TaskPanel
from widgets.tree.tree_list import TreeList


class Desk:
    """What is asked of the desk; its looks at the real gates would replace those of the test."""

    def __init__(self, seen: Window, monkeypatch: pytest.MonkeyPatch) -> None:
        self.killed: list[str] = []
        self.switched: list[str] = []
        self.looks = 0
        real = seen.controller.desks.background
        monkeypatch.setattr(real, "kill", self.killed.append)
        monkeypatch.setattr(real, "switch", self.switched.append)
        monkeypatch.setattr(real, "look", self.look)

    def look(self) -> None:
        self.looks += 1


@asynccontextmanager
async def stage(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    facts: list[f.Fact],
    size: tuple[int, int] = (120, 40),
) -> AsyncIterator[tuple[Window, Desk]]:
    async with window(tmp_path, size=size) as seen:
        desk = Desk(seen, monkeypatch)
        for fact in facts:
            seen.controller.emit(fact)
        await seen.pilot.pause()
        yield seen, desk


def panel(seen: Window) -> TaskPanel:
    return seen.screen.query_one(TaskPanel)


def drawn(seen: Window) -> str:
    return str(panel(seen).render())


def screen(seen: Window) -> TasksScreen:
    found = seen.app.screen
    assert isinstance(found, TasksScreen)
    return found


def on_screen(seen: Window) -> str:
    """Everything that the screen shows, line by line."""
    lines: list[str] = []
    for widget in screen(seen).query("Static, TreeList, LinePane"):
        if widget.display and widget.region:
            shown = [widget.render_line(y).text for y in range(widget.size.height)]
            lines += [line.rstrip() for line in shown]
    return "\n".join(lines)


def under_cursor(seen: Window, name: str = "#tasks-list") -> str:
    rows = screen(seen).query_one(name, TreeList)
    return rows.render_line(rows._chosen - rows.scroll_offset.y).text


async def press(seen: Window, *keys: str) -> None:
    await seen.pilot.press(*keys)
    await seen.pilot.pause()
