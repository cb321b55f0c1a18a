"""Notices that the person leaves, and has a recap ready when they come back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from app.background.away import composed, delay
from app.background.frame import Frame
from app.background.recap import make_recap
from app.background.registry import Job, Stale
from app.sessions.outline import RECAP
from app.state.background import TurnSummary
from app.state.facts import FocusChanged, FocusWatched

NAME = "away_summary"


class AwayWatch:
    """One app's away summaries: at most one in each time away."""

    def __init__(
        self, frame: Frame, spawn: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]
    ) -> None:
        self._frame = frame
        self._scene = frame.scene
        self._spawn = spawn
        self._pressed = self._scene.clock.monotonic()
        self._timer: asyncio.Task[None] | None = None
        self.job = ""
        """The id of the recap's job, empty before the first."""
        self._asked = False
        self._told: list[tuple[str, TurnSummary]] = []
        """The prompts since the last recap, and where their turns left things."""

    # Leaving and coming back

    def focus(self, *, is_here: bool) -> None:
        """The terminal says that it got the focus, or lost it."""
        if self._scene.state().away.watch != "focus":
            self.abort()  # idle keys count no more
            self._scene.emit(FocusWatched("focus"))
        self._set_away(not is_here)

    def pressed(self) -> None:
        """A key was pressed."""
        self._pressed = self._scene.clock.monotonic()
        away = self._scene.state().away
        if away.is_away and away.watch == "keys":
            self._set_away(is_away=False)

    def _set_away(self, is_away: bool) -> None:
        if self._scene.state().away.is_away == is_away:
            return
        self._scene.emit(FocusChanged(is_away))
        self._asked = False
        if is_away:
            self._arm()
        else:
            self.abort()
        self._frame.show()

    def turn_over(self, prompt: str, summary: TurnSummary | None) -> None:
        """A turn ended: the time until the recap begins anew."""
        if summary is not None:
            self._told.append((prompt, summary))
        away = self._scene.state().away
        if not away.watch:
            self._scene.emit(FocusWatched("keys"))  # none has come by now
        if away.is_away or away.watch != "focus":
            self._arm()

    def begin_anew(self) -> None:
        """Another conversation is on screen, or another branch of it."""
        self._told.clear()

    def abort(self) -> None:
        """Stop waiting, and stop the call that may be under way."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._frame.registry.kill(self.job)

    # The recap

    def _arm(self) -> None:
        self.abort()
        if not self._asked:
            self._timer = self._spawn(self._wait())

    async def _wait(self) -> None:
        scene = self._scene
        away, limits = scene.state().away, scene.state().limits
        seconds = delay(scene.settings().away_summary.delay_ms, limits.cache, scene.clock.now())
        if away.is_away:
            await scene.clock.sleep(seconds)
        else:
            seen = -1.0
            while seen != self._pressed:
                seen = self._pressed
                idle = scene.clock.monotonic() - seen
                await scene.clock.sleep(max(seconds - idle, 0.0))
            scene.emit(FocusChanged(is_away=True))
        self._timer = None
        self._begin()

    def _begin(self) -> None:
        if self._frame.held_by(NAME) is None:
            self._asked = True
            self.job = self._frame.run(NAME, "where things stand, for your return", self._work)
        self._frame.show()

    async def _work(self, job: Job) -> str:
        scene = self._scene
        version, loop = scene.version, scene.loop()
        choice = scene.settings().away_summary.model
        summaries = [summary for _, summary in self._told]
        text = ""
        if choice != "always" and self._told:
            text = composed(summaries, self._told[-1][0])
        if text:
            job.say("put together from what the turns have said, without a call")
        elif choice == "never":
            raise Stale("the turns have not said enough, and no model may be asked")
        else:
            job.say(f"asking {loop.caller.model}")
            text = await make_recap(loop, NAME)
        if not text:
            raise Stale("the model wrote nothing")
        if scene.version != version:
            raise Stale("the conversation went on meanwhile")
        turns = [
            {"prompt": prompt, "category": each.category, "detail": each.detail}
            for prompt, each in self._told
        ]
        conversation = loop.conversation
        payload = {"content": text, "isMeta": False, "turns": turns}
        conversation.append(conversation.envelope.system(conversation.leaf, RECAP, payload))
        self._told.clear()
        return text
