"""Intents about compaction: the person sees a summary before it counts (spec/sessions.md)."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from app.errors import ReverieError
from app.sessions.envelope import new_uuid
from app.state.facts import Fact, TurnEnded, TurnStarted
from app.state.model import Outcome, Severity

if TYPE_CHECKING:
    from app.agent.compaction import Part
    from app.assembly import Runtime

BUSY = "The turn is still going on; this works when it is over (esc stops it)."


class CompactionDesk:
    """Compactions of the session on screen; each runs as a turn, so that `esc` stops it."""

    def __init__(
        self,
        emit: Callable[[Fact], None],
        notice: Callable[[str, Severity], None],
        runtime: Callable[[], Runtime],
        begin: Callable[[Coroutine[Any, Any, None]], object],
    ) -> None:
        """`begin` runs a coroutine as the turn of the session that `runtime` gives."""
        self._emit = emit
        self._notice = notice
        self._runtime = runtime
        self._begin = begin

    def draft(self, instructions: str = "", part: Part | None = None) -> None:
        """Write a summary, of all or of a part, to be looked at, with wishes for it."""
        runtime = self._runtime()

        async def write() -> None:
            runtime.loop.answer_leftovers()
            await runtime.compactor.draft(instructions, part)

        self._begin(self._as_turn(runtime, write))

    def accept(self, summary: str) -> None:
        """Let the summary count, as the person left it."""
        runtime = self._runtime()

        async def accept() -> None:
            went_back = await runtime.compactor.accept(summary)
            undo = "/undo takes that back." if went_back else "/uncompact goes back."
            self._notice(f"The summary counts from here on. {undo}", "info")

        self._begin(self._as_turn(runtime, accept))

    def postpone(self, summary: str) -> None:
        """Put the summary away as it is; the next /compact shows it again."""
        self._runtime().compactor.postpone(summary)
        if summary.strip():
            words = "The summary is kept: /compact shows it again. Nothing was changed."
            self._notice(words, "info")

    def discard(self) -> None:
        """Throw the summary away; the conversation stays as it is."""
        self._runtime().compactor.discard()

    def undo(self) -> None:
        """Go back to before the last compaction of this branch."""
        if self._runtime().compactor.undo():
            words = "Back to before the compaction; what came after it stays in its own branch."
            self._notice(words, "info")
        else:
            self._notice("This branch has no compaction that could be undone.", "warning")

    async def _as_turn(
        self, runtime: Runtime, work: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        turn_id, clock = new_uuid(), runtime.loop.clock
        started = clock.monotonic()
        outcome: Outcome = "interrupted"
        self._emit(TurnStarted(turn_id, started))
        try:
            await work()
            outcome = "completed"
        except ReverieError as error:
            outcome = "failed"
            self._notice(str(error), "error")
        finally:
            self._emit(TurnEnded(turn_id, outcome, "", clock.monotonic() - started))
