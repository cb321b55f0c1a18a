"""The real app on a temporary home with a scripted model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
from textual.pilot import Pilot

from app.background_settings import AwaySettings, SuggestionSettings
from app.controller import Controller
from app.installation import Options
from app.main import ReverieApp
from app.state.model import State
from tests.fakes.clock import StillClock
from tests.fakes.provider import ScriptedProvider, Step
from tests.fakes.stage import installation, until
from widgets.conversation.conversation import Conversation
from widgets.prompt.prompt import Prompt
from widgets.screens.chat import ChatScreen


class Window:
    """What a test sees and does."""

    def __init__(
        self, app: ReverieApp, pilot: Pilot[Any], provider: ScriptedProvider, clock: StillClock
    ) -> None:
        self.app = app
        self.clock = clock
        self.pilot = pilot
        self.provider = provider

    @property
    def controller(self) -> Controller:
        return self.app.controller

    @property
    def state(self) -> State:
        return self.controller.state

    @property
    def screen(self) -> ChatScreen:
        screen = self.app.screen_stack[0]
        assert isinstance(screen, ChatScreen)
        return screen

    @property
    def prompt(self) -> Prompt:
        return self.screen.query_one(Prompt)

    @property
    def conversation(self) -> Conversation:
        return self.screen.query_one(Conversation)

    async def type(self, text: str) -> None:
        self.prompt.insert(text)
        await self.pilot.pause()

    async def send(self, text: str) -> None:
        await self.type(text)
        await self.pilot.press("enter")
        await self.pilot.pause()

    async def until(self, holds: Any) -> None:
        await until(self.controller.store, holds)
        await self.pilot.pause()

    def pass_time(self, seconds: float) -> None:
        self.clock.advance(seconds)

    async def box(self, selector: str) -> Any:
        """The box in the prompt's place, once the typing has paused."""
        while not self.screen.query(selector):
            self.pass_time(1)
            await self.pilot.pause()
        return self.screen.query(selector).first()

    async def idle(self) -> None:
        await self.until(lambda state: state.live.turn_id is None and state.live.last)

    def shown(self) -> str:
        width = self.conversation.size.width
        rows = range(self.conversation.size.height)
        return "\n".join(
            self.conversation.render_line(y).crop(0, width).text.rstrip() for y in rows
        )


@asynccontextmanager
async def window(
    tmp_path: Path,
    *scripts: Sequence[Step],
    size: tuple[int, int] = (100, 30),
    environment: dict[str, str] | None = None,
    options: Options | None = None,
    titles: bool = False,
    background: bool = False,
) -> AsyncIterator[Window]:
    clock = StillClock()
    plain = installation(tmp_path, clock)
    added = {"ANTHROPIC_API_KEY": "k"} if environment is None else environment
    here = replace(plain, environment={**plain.environment, **added})
    provider = ScriptedProvider(*scripts)
    chosen = options or Options()
    loaded = here.settings(chosen)
    settings = msgspec.structs.replace(
        loaded.settings,
        titles=titles,
        away_summary=AwaySettings(enabled=background),
        suggestion=SuggestionSettings(enabled=background),
    )
    loaded = replace(loaded, settings=settings)
    controller = Controller(here, chosen, loaded, lambda *_: provider)
    app = ReverieApp(controller, fps=None)
    async with app.run_test(size=size) as pilot:
        seen = Window(app, pilot, provider, clock)
        await seen.until(lambda state: state.session.session_id)
        yield seen
