"""The app without a screen, with a scripted model and a clock that the test moves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from app.background_settings import AwaySettings, BackgroundSettings, SuggestionSettings
from app.controller import Controller
from app.installation import Options
from app.models.provider import StreamEvent, Usage
from app.sessions.codec import parse_transcript
from app.sessions.records import Record
from app.state.background import Gate, Mechanism, Task
from app.state.model import State
from tests.fakes.clock import ManualClock, settled
from tests.fakes.provider import ScriptedProvider, Step, ended, said, started
from tests.fakes.stage import installation, until

CACHED = Usage(input=10, output=20, cache_read=900, cache_write_5m=50)
"""A call that leaves the cache known, for another five minutes."""


def told(text: str, usage: Usage = CACHED) -> list[StreamEvent]:
    """A reply whose request has read and written the cache."""
    return [started(), *said(text), ended(usage=usage)]


class Desk:
    """What a test sees and does."""

    def __init__(self, controller: Controller, provider: ScriptedProvider, clock: ManualClock):
        self.controller = controller
        self.provider = provider
        self.clock = clock

    @property
    def state(self) -> State:
        return self.controller.state

    @property
    def background(self) -> Any:
        return self.controller.desks.background

    def queue(self, *scripts: Sequence[Step]) -> None:
        self.provider.scripts += scripts

    async def turn(self, text: str, reply: Sequence[Step] | str = "I have done it.") -> None:
        """A turn from its prompt to its end, everything behind it included."""
        self.provider.scripts.insert(0, told(reply) if isinstance(reply, str) else list(reply))
        before = self.state.live.last
        await self.controller.submit(text)
        await until(
            self.controller.store,
            lambda s: s.live.turn_id is None and s.live.last is not before,
        )
        await settled()

    async def leave(self, seconds: float = 0.0) -> None:
        self.background.focus(is_here=False)
        await settled()
        await self.clock.pass_time(seconds)

    async def come_back(self) -> None:
        self.background.focus(is_here=True)
        await settled()

    def gate(self, mechanism: str, name: str) -> Gate:
        gates = self.mechanism(mechanism).gates
        return next(gate for gate in gates if gate.name == name)

    def mechanism(self, name: str) -> Mechanism:
        self.background.look()
        return next(each for each in self.state.background.mechanisms if each.name == name)

    def held_by(self, name: str) -> str:
        held = self.mechanism(name).held_by
        return held.name if held is not None else ""

    def tasks(self, kind: str) -> list[Task]:
        return [task for task in self.state.tasks.values() if task.kind == kind]

    def records(self) -> Sequence[Record]:
        session = self.state.session.session_id
        here = self.controller.here
        file = here.places.transcript(here.folder, session)
        return parse_transcript(file.read_bytes()).records if file.exists() else ()

    def recaps(self) -> list[str]:
        return [r.data["content"] for r in self.records() if r.subtype == "away_summary"]


@asynccontextmanager
async def background(
    tmp_path: Path,
    *,
    away: AwaySettings | None = None,
    suggestion: SuggestionSettings | None = None,
    budget: float | None = None,
    environment: dict[str, str] | None = None,
    options: Options | None = None,
    provider: Any = None,
    **settings: Any,
) -> AsyncIterator[Desk]:
    """A session with away summaries on and suggestions off, unless told otherwise."""
    clock = ManualClock()
    plain = installation(tmp_path, clock)
    added = {"ANTHROPIC_API_KEY": "k", **(environment or {})}
    here = replace(plain, environment={**plain.environment, **added})
    chosen = options or Options()
    loaded = here.settings(chosen)
    loaded = replace(
        loaded,
        settings=msgspec.structs.replace(
            loaded.settings,
            titles=settings.pop("titles", False),
            away_summary=away or AwaySettings(),
            suggestion=suggestion or SuggestionSettings(enabled=False),
            background=BackgroundSettings(daily_budget_usd=budget),
            **settings,
        ),
    )
    provider = provider or ScriptedProvider()
    controller = Controller(here, chosen, loaded, lambda *_: provider)
    await controller.start()
    try:
        yield Desk(controller, provider, clock)
    finally:
        await controller.close()
