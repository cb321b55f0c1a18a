from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from app.main import ReverieApp
from tests.fakes.clock import StillClock
from tests.fakes.sessions import Made
from tests.snapshot.states import chat_app, opened
from widgets.screens.sessions import SessionScreen

Compare = Callable[..., bool]
SIZES = {"wide": (120, 40), "small": (80, 24), "tiny": (20, 5)}
HOUR = 3_600
DAY = 24 * HOUR
NOW = StillClock().now().timestamp()


def sessions() -> dict[Made, float]:
    """Sessions and how long ago they were written to."""
    clock = Made(1, None).talk("the checkout test fails about one run in five", "It is the clock.")
    clock.talk("fix it").titled("Fix the flaky checkout test")
    forked = Made(2, None).talk("use freezegun instead").talk("now remove the helper")
    forked.user("try asyncio timers", parent=None).says("They keep the same clock.")
    asked = Made(3, None).talk("what does this repository do?").user("and where does it start?")
    wide = Made(4, None).talk("日本語のテストを書いて 👍🏽 " * 6, "はい。").titled("テスト")
    hostile = Made(5, None).talk("[red]x[/] \x1b[2J\u202eabc")
    long = Made(6, None).talk("migrate the whole shop to PostgreSQL").long(150_000)
    unknown = Made(7, None).talk("an older model's price is not known")
    unknown.lines = [line.replace("claude-haiku-4-5", "someone-else") for line in unknown.lines]
    empty = Made(8, None).raw(type="mode", mode="normal")
    ages = (240, 3 * HOUR, 7 * HOUR, 2 * DAY, 9 * DAY, 20 * DAY, 200 * DAY, 3 * 366 * DAY)
    made = (clock, forked, asked, wide, hostile, long, unknown, empty)
    return dict(zip(made, ages, strict=True))


def app_with(tmp_path: Path, made: dict[Made, float], **settings: Any) -> ReverieApp:
    app = chat_app(tmp_path, opened(), **settings)
    here = app.controller.here
    for each, ago in made.items():
        each.keep(here.places, here.folder, NOW - ago)
    return app


async def settled(pilot: Pilot[Any]) -> None:
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def shown(pilot: Pilot[Any]) -> None:
    await pilot.press("ctrl+r")
    await pilot.pause()
    await settled(pilot)
    screen = pilot.app.screen
    assert isinstance(screen, SessionScreen)
    screen._draw_known()


async def listed(pilot: Pilot[Any]) -> None:
    await pilot.press("down")


async def found(pilot: Pilot[Any]) -> None:
    await pilot.press(*"clock")
    await settled(pilot)


async def nothing_found(pilot: Pilot[Any]) -> None:
    await pilot.press(*"zebra")
    await settled(pilot)


async def renaming(pilot: Pilot[Any]) -> None:
    await pilot.press("ctrl+t")


async def thrown_away(pilot: Pilot[Any]) -> None:
    await pilot.press("down", "ctrl+d")
    await settled(pilot)


VIEWS: dict[str, Callable[[Pilot[Any]], Awaitable[None]]] = {
    "listed": listed,
    "found": found,
    "nothing_found": nothing_found,
    "renaming": renaming,
    "thrown_away": thrown_away,
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", VIEWS)
def test_view(snap_compare: Compare, tmp_path: Path, size: str, name: str) -> None:
    async def act(pilot: Pilot[Any]) -> None:
        await shown(pilot)
        await VIEWS[name](pilot)
        await pilot.pause()

    app = app_with(tmp_path, sessions())
    assert snap_compare(app, terminal_size=SIZES[size], run_before=act)


@pytest.mark.parametrize("size", SIZES)
def test_no_session(snap_compare: Compare, tmp_path: Path, size: str) -> None:
    app = app_with(tmp_path, {})
    assert snap_compare(app, terminal_size=SIZES[size], run_before=shown)


def test_many(snap_compare: Compare, tmp_path: Path) -> None:
    async def act(pilot: Pilot[Any]) -> None:
        await shown(pilot)
        await pilot.press("pagedown", "pagedown", "up")
        await pilot.pause()

    made = {Made(n, None).talk(f"prompt {n}"): float(n * HOUR) for n in range(1, 100)}
    assert snap_compare(app_with(tmp_path, made), terminal_size=SIZES["small"], run_before=act)


@pytest.mark.parametrize("theme", ["dawn", "ink"])
def test_theme(snap_compare: Compare, tmp_path: Path, theme: str) -> None:
    app = app_with(tmp_path, sessions(), theme=theme)

    async def act(pilot: Pilot[Any]) -> None:
        await shown(pilot)
        await found(pilot)

    assert snap_compare(app, terminal_size=SIZES["wide"], run_before=act)


def test_ascii_signs(snap_compare: Compare, tmp_path: Path) -> None:
    app = app_with(tmp_path, sessions(), glyphs="ascii")
    assert snap_compare(app, terminal_size=SIZES["wide"], run_before=shown)
