"""Intents about dreams, and when one begins by itself."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import replace as replace_fields
from datetime import datetime
from typing import Any, Final

from msgspec.structs import replace

from app.agent.caller import Caller
from app.agent.permission import hidden_from_search
from app.agent.remembering import documents_of
from app.background.dream import lock
from app.background.dream.dreamer import Dreamer, Skipped
from app.background.dream.place import Place, Update, add_update, place_of, take_updates
from app.background.dream.publish import publish, revert, settled, shown, with_hunks
from app.background.dream.record import Dream, DreamLog
from app.background.dream.schedule import Schedule, sessions_of
from app.background.frame import Frame
from app.background.gates import NO_CALLS
from app.background.registry import Job, Skip
from app.clock import timestamp
from app.errors import ReverieError, StorageError
from app.memory.documents import Documents
from app.state.background import Mechanism
from app.state.model import Severity

NAME: Final = "dream"
_log = logging.getLogger(__name__)


class DreamDesk:
    """The dreams of the project that the app was opened in."""

    def __init__(
        self,
        frame: Frame,
        notice: Callable[[str, Severity], None],
        spawn: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]],
        has_terminal: Callable[[], bool] = sys.stdout.isatty,
    ) -> None:
        """`spawn` runs a coroutine that ends with the app."""
        self._frame = frame
        self._scene = scene = frame.scene
        self._notice = notice
        self._spawn = spawn
        self._has_terminal = has_terminal
        self.place: Place = place_of(scene.here, scene.settings())
        self._documents: Documents = documents_of(scene.here, scene.settings())
        self._log = DreamLog(self.place.dreams)
        self._job = ""
        self._looking = False
        self._mechanism = Mechanism(NAME, "Dream", "dream.enabled", is_on=True)
        self.schedule = Schedule(
            self.place.memory,
            self.place.sessions,
            scene.clock,
            lambda: scene.settings().dream,
            self._why_off,
            lambda: frame.registry.is_running(self._job),
        )

    def _why_off(self) -> str:
        settings = self._scene.settings()
        if not settings.dream.enabled:
            return "switched off in the settings"
        if not settings.auto_memory:
            return "memory is off (`auto_memory`)"
        if not self._has_terminal():
            return "there is no terminal"
        state = self._scene.state()
        if not state.access.ready:
            return "no model is connected"
        return "the built-in small model cannot dream" * (state.session.provider in NO_CALLS)

    # By itself

    def turn_over(self) -> None:
        """A turn is wholly over: nearly always nothing happens."""
        state = self._scene.state()
        pending = state.compaction.trigger or state.compaction.receipt or state.live.queue
        if pending or self.schedule.refused():
            return
        self._spawn(self._begin_if_due())

    async def _begin_if_due(self) -> None:
        current = self._scene.state().session.session_id
        touched = await asyncio.to_thread(self.schedule.touched, current)
        needed = sessions_of(self._scene.settings().dream)
        if len(touched) >= needed and self._frame.held_by(NAME) is None and not self._is_running:
            self._start(touched)
        await self.look()

    async def begin(self) -> None:
        """Dream now, because the person wants it: no wait, but never past the lock."""
        if self._is_running:
            self._notice("A dream runs already; f2 shows it.", "info")
            return
        off = self._why_off()
        if off:
            self._notice(f"No dream: {off}.", "warning")
            return
        current = self._scene.state().session.session_id
        self._start(await asyncio.to_thread(self.schedule.touched, current))
        self._notice("A dream begins; f2 shows it, and you can go on.", "info")

    @property
    def _is_running(self) -> bool:
        return self._frame.registry.is_running(self._job)

    def _start(self, sessions: list[str]) -> None:
        async def work(job: Job) -> str:
            try:
                made = await self._dreamer(job).dream(sessions)
            except Skipped as reason:
                raise Skip(str(reason)) from reason
            except ReverieError:
                self.schedule.failed()
                raise
            if made.status == "held":
                self._notice("A dream waits for your word: /dreams shows it.", "info")
            return await asyncio.to_thread(self._ended, made)

        self._job = self._frame.run(NAME, "puts memory in order", work)

    def _dreamer(self, job: Job) -> Dreamer:
        scene, loop = self._scene, self._scene.loop()
        return Dreamer(
            self.place,
            self._documents,
            scene.clock,
            scene.settings().dream,
            dreaming(loop.caller, scene.settings().dream.model or scene.small_model()),
            loop.measure,
            job,
            hidden_from_search(loop.runner.gate.policy),
        )

    def _ended(self, made: Dream) -> str:
        return told(self.place, made, self._scene.clock.now())

    def session_opened(self) -> None:
        """Tell of what dreams have changed since somebody was told."""
        self._spawn(self._tell())

    async def _tell(self) -> None:
        await asyncio.to_thread(lock.recover, self.place.memory, self._scene.clock, _log.warning)
        for update in await asyncio.to_thread(take_updates, self.place):
            at = datetime.fromisoformat(update.at).astimezone()
            count = len(update.files)
            files = f"{count} file{'s' * (count != 1)}"
            self._notice(f"Memory changed: {files}, by {update.source}, {at:%H:%M}.", "info")

    # What is known

    async def look(self) -> None:
        """Find out anew what holds a dream back."""
        if self._looking:
            return
        self._looking = True
        try:
            current = self._scene.state().session.session_id
            words = await asyncio.to_thread(lock.lock_words, self.place.memory, self._scene.clock)
            gates = await asyncio.to_thread(self.schedule.gates, current, words)
        finally:
            self._looking = False
        settings = self._scene.settings()
        self._mechanism = replace(
            self._mechanism, is_on=settings.dream.enabled, gates=(*gates, *self._frame.gates(NAME))
        )
        self._frame.show()

    @property
    def mechanism(self) -> Mechanism:
        """What held a dream back when it was looked at last."""
        return self._mechanism

    async def dreams(self) -> list[Dream]:
        """All dreams, newest first."""

        def read() -> list[Dream]:
            return [shown(each, self._documents) for each in self._log.all()]

        return await asyncio.to_thread(read)

    # The person's word

    async def accept(
        self, dream_id: str, hunks: Mapping[str, Collection[int]] | None = None
    ) -> Dream:
        """Publish a dream that is held; of each document only these hunks, where they are given.

        Raises `ReverieError`.
        """
        made = await asyncio.to_thread(accept, self._log, self._documents, dream_id, hunks)
        await asyncio.to_thread(self._ended, made)
        return made

    async def discard(self, dream_id: str) -> Dream:
        """Throw a dream that is held away; its texts stay in its file. Raises `ReverieError`."""
        return await asyncio.to_thread(discard, self._log, self._documents, dream_id)

    async def revert(self, dream_id: str, *names: str) -> tuple[Dream, list[str]]:
        """Take a dream back, or some of its documents. Raises `ReverieError`.

        Returns a sentence for each document that a later edit keeps as it is.
        """

        return await asyncio.to_thread(take_back, self._log, self._documents, dream_id, names)

    def close(self) -> None:
        """Release the history of memory."""
        self._documents.store.close()


def dreaming(caller: Caller, model: str | None) -> Caller:
    """The caller of a session with the model that dreams; a built-in model dreams itself."""
    if model is None or caller.provider.name != "anthropic":
        return caller
    return replace_fields(caller, model=model)


def told(place: Place, made: Dream, now: datetime) -> str:
    """What came of a dream, in a few words; word is left for the next session. Blocking."""
    if made.status == "held":
        return f"held: {made.reason}"
    changed = made.touched
    if changed:
        try:
            add_update(place, Update(made.id, timestamp(now), changed))
        except StorageError as error:
            _log.warning("The next session will not hear of the dream: %s", error)
        count = len(changed)
        return f"{count} file{'s' * (count != 1)} changed. {made.reason}".strip()
    return made.reason or "nothing was changed"


def accept(
    log: DreamLog,
    documents: Documents,
    dream_id: str,
    hunks: Mapping[str, Collection[int]] | None = None,
) -> Dream:
    """Publish a dream that is held. Blocking; raises `ReverieError`."""
    with log.deciding():
        dream = chosen = _held(log, documents, dream_id)
        if hunks is not None:
            files = tuple(with_hunks(each, hunks.get(each.name, ())) for each in dream.files)
            chosen = replace(dream, files=files)
        try:
            return publish(chosen, documents, log)
        except StorageError:
            if log.load(dream_id).status == "held":
                log.save(dream)
            raise


def discard(log: DreamLog, documents: Documents, dream_id: str) -> Dream:
    """Throw a dream that is held away. Blocking; raises `ReverieError`."""
    with log.deciding():
        dream = replace(_held(log, documents, dream_id), status="discarded")
        log.save(dream)
        return dream


def take_back(
    log: DreamLog, documents: Documents, dream_id: str, names: Sequence[str]
) -> tuple[Dream, list[str]]:
    """Take a dream back, or some of its documents (`revert`). Blocking; raises `ReverieError`."""
    with log.deciding():
        return revert(settled(log.load(dream_id), documents), documents, log, names)


def _held(log: DreamLog, documents: Documents, dream_id: str) -> Dream:
    dream = settled(log.load(dream_id), documents)
    if dream.status != "held":
        raise ReverieError(f"The dream {dream.id} is not held: it is {dream.status}.")
    return dream
