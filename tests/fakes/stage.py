"""A session on a temporary folder with a scripted model: the loop without a screen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.assembly import Hooks, Runtime, open_session
from app.installation import Installation, Options
from app.paths import Places
from app.sessions.codec import parse_transcript
from app.sessions.graph import open_view
from app.sessions.records import Record
from app.sessions.view import request_view
from app.state import facts as f
from app.state.model import State
from app.state.reduce import reduce
from app.state.store import Store
from tests.fakes.clock import FakeClock
from tests.fakes.provider import ScriptedProvider, Step

SESSION = "11111111-2222-4333-8444-555555555555"


@dataclass
class Stage:
    here: Installation
    provider: ScriptedProvider
    store: Store[State, f.Fact]
    facts: list[f.Fact]
    runtime: Runtime
    saved_rules: list[str]
    storage_errors: list[str]
    told: list[str]

    @property
    def file(self) -> Path:
        return self.here.places.transcript(self.here.folder, SESSION)

    def records(self) -> list[Record]:
        """What was said, read from the disk: all but the file history."""
        records = parse_transcript(self.file.read_bytes()).records
        return [record for record in records if not record.type.startswith("file-history")]

    def messages(self) -> list[dict[str, Any]]:
        """What a later request would carry, read from the disk."""
        view = open_view(self.records())
        return request_view(view.graph, view.leaf).messages

    async def turn(self, text: str = "go") -> Any:
        return await self.runtime.loop.run_turn(text)


def installation(tmp_path: Path, clock: FakeClock | None = None) -> Installation:
    folder = tmp_path / "work"
    folder.mkdir(exist_ok=True)
    places = Places(tmp_path / "config", tmp_path / "data", tmp_path / "logs")
    environment = {"HOME": str(tmp_path / "home"), "PATH": "/usr/local/bin:/usr/bin:/bin"}
    return Installation(places, folder, environment, clock or FakeClock())


async def stage(
    tmp_path: Path,
    *scripts: Sequence[Step],
    options: Options | None = None,
    can_ask: bool = True,
    shows_partials: bool = True,
) -> Stage:
    here = installation(tmp_path)
    provider = ScriptedProvider(*scripts)
    store: Store[State, f.Fact] = Store(State(), reduce)
    facts: list[f.Fact] = []
    rules: list[str] = []
    errors: list[str] = []
    told: list[str] = []

    def emit(fact: f.Fact) -> None:
        facts.append(fact)
        store.dispatch(fact)

    hooks = Hooks(
        emit=emit,
        storage_changed=lambda error: errors.append(str(error or "mended")),
        shell_changed=lambda _: None,
        save_rule=rules.append,
        tell=lambda sentence, _severity: told.append(sentence),
        can_ask=can_ask,
        shows_partials=shows_partials,
    )
    chosen = options or Options()
    runtime = await open_session(here, chosen, here.settings(chosen), provider, SESSION, hooks)
    emit(runtime.opened)
    return Stage(here, provider, store, facts, runtime, rules, errors, told)


async def until(store: Store[State, f.Fact], holds: Callable[[State], object]) -> None:
    """Wait for the state to satisfy a condition; no clock is involved."""
    reached = asyncio.Event()

    def look(state: State) -> None:
        if holds(state):
            reached.set()

    release = store.subscribe(look)
    look(store.state)
    await reached.wait()
    release()
