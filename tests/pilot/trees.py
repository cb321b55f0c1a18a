"""Opens the tree of a session and types into it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual import events
from textual.widgets import Static

from app.installation import Options
from app.sessions.outline import Node
from app.tree_desk import TreeChoice, TreeDesk
from tests.fakes.sessions import Made
from tests.pilot.picker import keep
from tests.pilot.stage import Window, window
from widgets.screens.tree import TreeScreen


class Tree:
    """The tree on screen and what came out of it."""

    def __init__(self, seen: Window, desk: TreeDesk, screen: TreeScreen) -> None:
        self.seen = seen
        self.desk = desk
        self.screen = screen
        self.chosen: list[TreeChoice | None] = []
        self.undone = 0

    async def settle(self) -> None:
        """Wait until nothing is read any more."""
        await self.seen.app.workers.wait_for_complete()
        await self.seen.pilot.pause()
        await self.seen.app.workers.wait_for_complete()

    async def press(self, *keys: str) -> None:
        await self.seen.pilot.press(*keys)
        await self.settle()

    async def burst(self, *keys: str) -> None:
        """Keys that arrive all at once, before any of them has done anything."""
        for key in keys:
            self.seen.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await self.seen.pilot.pause()
        await self.settle()

    @property
    def node(self) -> Node:
        node = self.screen._model.chosen
        assert node is not None
        return node

    def lines(self) -> list[str]:
        rows = self.screen.list
        return [rows.render_line(y).text.rstrip() for y in range(rows.size.height)]

    def texts(self) -> list[str]:
        """The lanes, sign and text of every line, without what stands at the right."""
        return [line[1:].split("  ")[0].rstrip() for line in self.lines() if line]

    def preview(self) -> str:
        pane = self.screen.pane
        lines = (pane.render_line(y).text.rstrip() for y in range(pane.size.height))
        return "\n".join(lines).replace("\N{NO-BREAK SPACE}", " ")

    def said(self, name: str) -> str:
        return str(self.screen.query_one(f"#tree-{name}", Static).content)

    def notices(self) -> str:
        return " ".join(notice.text for notice in self.seen.state.notices)


@asynccontextmanager
async def tree(
    tmp_path: Path,
    *made: Made,
    size: tuple[int, int] = (120, 30),
    restorable: Callable[[], frozenset[str] | None] = lambda: None,
    files_at: Callable[[str, str], Mapping[str, bytes | None] | None] = lambda *_: None,
    shell_files: Callable[[], Mapping[str, int]] = dict,
    is_settled: bool = True,
) -> AsyncIterator[Tree]:
    """The tree of the first of the sessions, which is open."""
    files = [keep(tmp_path, each) for each in made]
    options = Options(resume=files[0]) if files else None
    async with window(tmp_path, size=size, options=options) as seen:
        controller = seen.controller
        desk = TreeDesk(
            controller.here,
            lambda: controller.loaded.settings,
            lambda: seen.state.session,
            lambda: controller._need_runtime().conversation,
            restorable=restorable,
            files_at=files_at,
            shell_files=shell_files,
        )

        async def undo() -> None:
            shown.undone += 1

        shown = Tree(seen, desk, TreeScreen(controller, desk, undo))
        await seen.app.push_screen(shown.screen, shown.chosen.append)
        if is_settled:
            await seen.pilot.pause()
            await shown.settle()
        yield shown


def edit(made: Made, tool_id: str, path: str, *lines: str, **arguments: Any) -> Made:
    """A call that changes a file, with its result; `lines` are those of a hunk."""
    made.calls(tool_id, "Edit", file_path=path, **arguments)
    hunk = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": list(lines)}
    block = {"type": "tool_result", "tool_use_id": tool_id, "content": "ok"}
    return made.user([block], toolUseResult={"filePath": path, "structuredPatch": [hunk]})


def shop() -> Made:
    """`one`, then `side` and `side two` beside `main`, where the session is."""
    made = Made(1).talk("one")
    start = made.leaf
    made.user("side")
    edit(made, "t1", "/w/a.py", "-old", "+new", "+more").says("Changed it.")
    made.talk("side two")
    made.leaf = start
    made.talk("main", "The main answer.").titled("The shop")
    return made
