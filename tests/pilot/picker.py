"""Looks at the list of sessions and types into it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from textual import events

from app.paths import Places
from tests.fakes.clock import StillClock
from tests.fakes.sessions import Made
from tests.pilot.stage import Window
from widgets.screens.sessions import SessionScreen
from widgets.sessions.session_list import SessionList

NOW = StillClock().now().timestamp()
HOUR = 3_600


def keep(tmp_path: Path, made: Made, hours: float = 1, folder: str = "work") -> Path:
    places = Places(tmp_path / "config", tmp_path / "data", tmp_path / "logs")
    made.lines = [line.replace('"cwd":"/w"', f'"cwd":"{tmp_path / folder}"') for line in made.lines]
    (tmp_path / folder).mkdir(exist_ok=True)
    return made.keep(places, tmp_path / folder, NOW - hours * HOUR)


def three(tmp_path: Path) -> list[Path]:
    return [
        keep(tmp_path, Made(1).talk("mend the clock", "The needle was bent."), 1),
        keep(tmp_path, Made(2).talk("write a poem", "Roses.").titled("Poetry"), 2),
        keep(tmp_path, Made(3).user("clean up"), 3),
    ]


def picker(seen: Window) -> SessionScreen:
    screen = seen.app.screen
    assert isinstance(screen, SessionScreen)
    return screen


async def settled(seen: Window) -> SessionScreen:
    """The screen once nothing is read or sought any more."""
    screen = picker(seen)
    await seen.app.workers.wait_for_complete()
    await seen.pilot.pause()
    return screen


async def opened(seen: Window) -> SessionScreen:
    await seen.pilot.press("ctrl+r")
    await seen.pilot.pause()
    return await settled(seen)


def lines(seen: Window) -> list[str]:
    rows = picker(seen).query_one(SessionList)
    return [rows.render_line(y).text.rstrip() for y in range(rows.size.height)]


def titles(seen: Window) -> list[str]:
    return [row.session.title for row in picker(seen).rows._rows]


def chosen(seen: Window) -> str:
    row = picker(seen).rows.chosen
    assert row is not None
    return row.session.title


def notices(seen: Window) -> str:
    return " ".join(notice.text for notice in seen.state.notices)


async def shown(seen: Window, holds: Callable[[], object]) -> None:
    while not holds():
        await settled(seen)


async def burst(seen: Window, *keys: str) -> None:
    """Keys that arrive all at once, before any of them has done anything."""
    for key in keys:
        character = key if len(key) == 1 else None
        seen.app.post_message(events.Key(key, character))
    await seen.pilot.pause()
    if isinstance(seen.app.screen, SessionScreen):
        await settled(seen)
