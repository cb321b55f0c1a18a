from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.worker import WorkerCancelled

from app.main import ReverieApp
from tests.fakes.memory_desk import FakeMemoryDesk
from tests.snapshot.states import chat_app, opened
from widgets.screens.memory import MemoryScreen

Compare = Callable[..., bool]
Act = Callable[[FakeMemoryDesk], None]
SIZES = {"wide": (120, 40), "small": (80, 24)}
SHOP = {
    "MEMORY.md": "# Shop\n\n- [Testing](testing.md): clock rules\n- [Deploy](ops/deploy.md)\n\n"
    "Some **bold**, `code` and a [link](testing.md).\n\n```sh\nmake test\n```\n",
    "ops/deploy.md": "# Deploy\n\n1. tag\n2. push\n",
    "testing.md": "---\nname: Testing\n---\n# Testing\n\nUse the fake clock.\nNever sleep.\n",
    "old-notes.md": "# Old\n",
}
LONG = {"MEMORY.md": "a line of the entry that is far too long\n" * 240}


def nothing(_desk: FakeMemoryDesk) -> None:
    """The folder stays as it is."""


def changed(desk: FakeMemoryDesk) -> None:
    desk.write_as("assistant", "MEMORY.md", "# Shop, by somebody else\n", "asked to note it")


def noted(desk: FakeMemoryDesk) -> None:
    desk.write_as("assistant", "testing.md", "# Testing\n\nUse the fake clock.\n", "a fact")
    desk.write_as("dream", "testing.md", "# Testing\n\nUse the fake clock always.\n", "tidied")


VIEWS: dict[str, tuple[dict[str, str], Act, tuple[str, ...], tuple[str, ...]]] = {
    "list": (SHOP, nothing, (), ()),
    "editor": (SHOP, nothing, ("enter", "end", *" dirty"), ()),
    "conflict": (SHOP, changed, ("enter", "x"), ()),
    "history": (SHOP, noted, (), ("G", "h")),
    "search": (SHOP, nothing, ("slash", *"clock"), ()),
    "replace": (SHOP, nothing, ("enter", "ctrl+f", *"test", "ctrl+r", *"exam"), ()),
    "over budget": (LONG, nothing, (), ()),
    "empty": ({}, nothing, (), ()),
    "trash": (SHOP, nothing, ("G", "delete"), ("1",)),
}


async def settled(pilot: Pilot[Any]) -> None:
    for _ in range(4):
        with suppress(WorkerCancelled):  # a preview that gave way to a newer one
            await pilot.app.workers.wait_for_complete()
        await pilot.pause()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("view", VIEWS)
def test_view(snap_compare: Compare, tmp_path: Path, view: str, size: str) -> None:
    texts, act, before, after = VIEWS[view]

    async def show(pilot: Pilot[Any]) -> None:
        app = pilot.app
        assert isinstance(app, ReverieApp)
        desk = FakeMemoryDesk(
            app.controller.emit, texts, orphans=("old-notes.md",), writers={"testing.md": "dream"}
        )
        await app.push_screen(MemoryScreen(app.controller, desk))
        await settled(pilot)
        for keys in (before, after):
            await pilot.press(*keys)
            await settled(pilot)
            if keys is before:
                act(desk)
                await settled(pilot)

    assert snap_compare(chat_app(tmp_path, opened()), run_before=show, terminal_size=SIZES[size])
