from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from app.background.dream.record import Dream
from tests.fakes.dreams import (
    ABORTED,
    COMPLETED,
    CONFLICT,
    FAILED,
    HELD,
    PARTLY,
    Dreams,
    night,
)
from tests.snapshot.states import chat_app, talk
from widgets.screens.dreams import DreamsScreen

Compare = Callable[..., bool]
SIZES = {"wide": (120, 40), "small": (80, 24)}
OLDER = (
    night(COMPLETED, 31),
    night(FAILED, 29),
    night(replace(COMPLETED, status="reverted"), 28),
    night(ABORTED, 26),
    night(replace(HELD, status="discarded"), 24),
    night(replace(COMPLETED, files=(), reason="Nothing was worth a change."), 22),
)

VIEWS: dict[str, tuple[Sequence[Dream], Sequence[str]]] = {
    "none": ((), ()),
    "held": ((HELD, *OLDER), ()),
    "refused hunk": (
        (HELD, *OLDER),
        ("enter", *["right_square_bracket"] * 2, "space"),
    ),
    "asked": ((HELD, *OLDER), ("d",)),
    "completed": ((COMPLETED, *OLDER), ("enter",)),
    "partly taken back": ((PARTLY, *OLDER), ("enter", *["right_square_bracket"] * 3)),
    "failed": ((HELD, *OLDER), ("down", "down")),
    "conflict": ((CONFLICT, *OLDER), ("enter", *["right_square_bracket"] * 2)),
}


def opened(dreams: Sequence[Dream], keys: Sequence[str]) -> Callable[[Pilot[Any]], Any]:
    async def show(pilot: Pilot[Any]) -> None:
        app: Any = pilot.app
        app.push_screen(DreamsScreen(app.controller, Dreams(dreams)))
        await pilot.pause()
        await pilot.press(*keys)
        await app.workers.wait_for_complete()
        await pilot.pause()

    return show


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", VIEWS)
def test_view(snap_compare: Compare, tmp_path: Path, name: str, size: str) -> None:
    app = chat_app(tmp_path, talk())
    assert snap_compare(app, run_before=opened(*VIEWS[name]), terminal_size=SIZES[size])


@pytest.mark.parametrize("name", ["none", "held", "refused hunk"])
def test_tiny_terminal(snap_compare: Compare, tmp_path: Path, name: str) -> None:
    app = chat_app(tmp_path, talk())
    assert snap_compare(app, run_before=opened(*VIEWS[name]), terminal_size=(40, 12))


def test_ascii_signs(snap_compare: Compare, tmp_path: Path) -> None:
    app = chat_app(tmp_path, talk(), glyphs="ascii")
    assert snap_compare(app, run_before=opened(*VIEWS["held"]), terminal_size=SIZES["wide"])


def test_light_colours(snap_compare: Compare, tmp_path: Path) -> None:
    app = chat_app(tmp_path, talk(), theme="dawn")
    keys = ("enter", "right_square_bracket", "space")
    shown = opened((HELD, *OLDER), keys)
    assert snap_compare(app, run_before=shown, terminal_size=SIZES["wide"])
