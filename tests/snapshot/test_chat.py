from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.snapshot.states import STATES, chat_app, talk
from widgets.ask.line import LineBox
from widgets.prompt.prompt import Prompt
from widgets.screens.chat import ChatScreen

Compare = Callable[..., bool]
SIZES = {"wide": (120, 40), "small": (80, 24)}
Before = Callable[[Pilot[Any]], Awaitable[None]]


def screen_of(pilot: Pilot[Any]) -> ChatScreen:
    screen = pilot.app.screen_stack[0]
    assert isinstance(screen, ChatScreen)
    return screen


@pytest.fixture(params=SIZES)
def size(request: pytest.FixtureRequest) -> tuple[int, int]:
    return SIZES[request.param]


@pytest.mark.parametrize("name", STATES)
def test_state(snap_compare: Compare, tmp_path: Path, size: tuple[int, int], name: str) -> None:
    async def settle(pilot: Pilot[Any]) -> None:
        if name == "tasks":
            await pilot.press("f2")
        await pilot.pause()

    app = chat_app(tmp_path, STATES[name]())
    assert snap_compare(app, terminal_size=size, run_before=settle)


async def _type(pilot: Pilot[Any], text: str) -> None:
    prompt = pilot.app.query_one(Prompt)
    prompt.insert(text)
    await pilot.pause()


async def command_list(pilot: Pilot[Any]) -> None:
    await _type(pilot, "/")
    await pilot.press("down")


async def shell_line(pilot: Pilot[Any]) -> None:
    await _type(pilot, "!git status")


async def many_lines(pilot: Pilot[Any]) -> None:
    await _type(
        pilot,
        "fix the same clock in session.py\n\nand keep 日本語 👍🏽 as they are\n" + "line\n" * 12,
    )


async def reading(pilot: Pilot[Any]) -> None:
    await pilot.press("tab", "k", "k", "k")


async def unfolded(pilot: Pilot[Any]) -> None:
    await pilot.press("tab", "g", "j", "enter")


async def at_first_prompt(pilot: Pilot[Any]) -> None:
    await pilot.press("tab", "g")


async def finding(pilot: Pilot[Any]) -> None:
    await pilot.press("tab", "slash")


async def found(pilot: Pilot[Any]) -> None:
    await pilot.press("tab", "slash", *"wall", "enter")


async def help_screen(pilot: Pilot[Any]) -> None:
    await pilot.press("f1")


async def mode_picker(pilot: Pilot[Any]) -> None:
    await screen_of(pilot).run_command_named("mode")


async def theme_picker(pilot: Pilot[Any]) -> None:
    await screen_of(pilot).run_command_named("theme")


async def no_tasks(pilot: Pilot[Any]) -> None:
    await pilot.press("f2")


async def key_line(pilot: Pilot[Any]) -> None:
    await screen_of(pilot).foot.ask_line(LineBox("key", "Your Anthropic API key:", secret=True))


VIEWS: dict[str, Before] = {
    "command_list": command_list,
    "shell_line": shell_line,
    "many_lines": many_lines,
    "reading": reading,
    "unfolded": unfolded,
    "at_first_prompt": at_first_prompt,
    "finding": finding,
    "found": found,
    "help": help_screen,
    "mode_picker": mode_picker,
    "theme_picker": theme_picker,
    "no_tasks": no_tasks,
    "key_line": key_line,
}


@pytest.mark.parametrize("name", VIEWS)
def test_view(snap_compare: Compare, tmp_path: Path, size: tuple[int, int], name: str) -> None:
    async def act(pilot: Pilot[Any]) -> None:
        await pilot.pause()
        await VIEWS[name](pilot)
        await pilot.pause()

    assert snap_compare(chat_app(tmp_path, talk()), terminal_size=size, run_before=act)


@pytest.mark.parametrize("theme", ["dawn", "ink", "ember", "textual-dark"])
def test_theme(snap_compare: Compare, tmp_path: Path, theme: str) -> None:
    app = chat_app(tmp_path, STATES["permission_bash"](), theme=theme)
    assert snap_compare(app, terminal_size=SIZES["wide"])


def test_ascii_signs(snap_compare: Compare, tmp_path: Path) -> None:
    app = chat_app(tmp_path, talk(), glyphs="ascii")
    assert snap_compare(app, terminal_size=SIZES["wide"])


@pytest.mark.parametrize(
    "name", ["conversation", "permission_bash", "receipt", "welcome_none_found"]
)
def test_tiny_terminal(snap_compare: Compare, tmp_path: Path, name: str) -> None:
    assert snap_compare(chat_app(tmp_path, STATES[name]()), terminal_size=(20, 5))
