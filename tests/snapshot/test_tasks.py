from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from app.state import facts as f
from tests.fakes.tasks import (
    DREAM,
    MECHANISMS,
    POST_TURN,
    REFUSED,
    SPEND,
    busy,
    changed,
    counted,
    spent,
)
from tests.snapshot.states import chat_app, talk
from widgets.screens.chat import ChatScreen

Compare = Callable[..., bool]
SIZES = {"wide": (120, 40), "small": (80, 24)}
MANY = changed(
    *(replace(DREAM, id=f"dream_{i}", status="completed", ended=-200.0 + i) for i in range(100))
)
UNKNOWN = counted(*SPEND, spent(0, "dream", None, 2))
OVER = counted(*SPEND, spent(0, "dream", 0.45, 6))

PANELS: dict[str, Sequence[f.Fact]] = {
    "panel empty": (),
    "panel": busy(),
    "panel of many": (*MANY, *busy()),
    "panel over budget": (f.MechanismsSeen((REFUSED,)), OVER),
}
SCREENS: dict[str, tuple[Sequence[f.Fact], Sequence[str]]] = {
    "tasks": (busy(), ("down",)),
    "failed": (busy(), ("down", "down", "down")),
    "reading": (busy(), ("down", "enter")),
    "filtered": (busy(), ("slash", *"command")),
    "no tasks": ((counted(budget=None),), ()),
    "why not": (busy(), ("2", "down")),
    "trouble": ((f.MechanismsSeen((REFUSED, POST_TURN)), OVER), ("2",)),
    "spend": (busy(), ("3",)),
    "unknown price": ((f.MechanismsSeen(MECHANISMS), UNKNOWN), ("3",)),
    "over budget": ((OVER,), ("3",)),
    "nothing spent": ((counted(budget=None),), ("3",)),
}


async def press(pilot: Pilot[Any], *keys: str) -> None:
    await pilot.pause()
    await pilot.press(*keys)
    await pilot.pause()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", PANELS)
def test_panel(snap_compare: Compare, tmp_path: Path, name: str, size: str) -> None:
    async def show(pilot: Pilot[Any]) -> None:
        await press(pilot, "f2")

    app = chat_app(tmp_path, talk(*PANELS[name]))
    assert snap_compare(app, run_before=show, terminal_size=SIZES[size])


def opened(keys: Sequence[str]) -> Callable[[Pilot[Any]], Any]:
    async def show(pilot: Pilot[Any]) -> None:
        screen = pilot.app.screen
        assert isinstance(screen, ChatScreen)
        screen.show_tasks()
        await press(pilot, *keys)

    return show


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", SCREENS)
def test_screen(snap_compare: Compare, tmp_path: Path, name: str, size: str) -> None:
    facts, keys = SCREENS[name]
    app = chat_app(tmp_path, talk(*facts))
    assert snap_compare(app, run_before=opened(keys), terminal_size=SIZES[size])


@pytest.mark.parametrize("name", ["tasks", "why not", "spend"])
def test_tiny_terminal(snap_compare: Compare, tmp_path: Path, name: str) -> None:
    facts, keys = SCREENS[name]
    app = chat_app(tmp_path, talk(*facts))
    assert snap_compare(app, run_before=opened(keys), terminal_size=(40, 12))


def test_ascii_signs(snap_compare: Compare, tmp_path: Path) -> None:
    app = chat_app(tmp_path, talk(*busy()), glyphs="ascii")
    assert snap_compare(app, run_before=opened(("down",)), terminal_size=SIZES["wide"])


def test_light_colours(snap_compare: Compare, tmp_path: Path) -> None:
    app = chat_app(tmp_path, talk(*busy()), theme="dawn")
    assert snap_compare(app, run_before=opened(("3",)), terminal_size=SIZES["wide"])
