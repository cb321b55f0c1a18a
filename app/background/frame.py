"""The frame of all mechanisms: their jobs, what they cost, and what holds each of them back."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

from app.background.away import VARIABLE as AWAY_VARIABLE
from app.background.away import away_gates
from app.background.away import is_on as away_is_on
from app.background.conversation_look import ConversationLook, look
from app.background.gates import Seen, budget, model, quiet
from app.background.ledger import MECHANISMS, Ledger, today
from app.background.registry import Job, TaskRegistry
from app.background.scene import Scene
from app.background.suggestion import VARIABLE as SUGGESTION_VARIABLE
from app.background.suggestion import is_on as suggestion_is_on
from app.background.suggestion import suggestion_gates
from app.background.trouble import Trouble, trouble_of
from app.errors import StorageError
from app.models.errors import ModelError
from app.state.background import Gate, Mechanism
from app.state.facts import MechanismsSeen, RequestMeasured, SpendCounted
from app.state.model import Severity

Gates = Callable[[Seen], tuple[Gate, ...]]

VARIABLES: Final[Mapping[str, str]] = {
    "away_summary.enabled": AWAY_VARIABLE,
    "suggestion.enabled": SUGGESTION_VARIABLE,
}
"""Variables of the environment that beat a switch."""


class Frame:
    """Runs jobs for the mechanisms and answers "why did it not run?" for each."""

    def __init__(
        self,
        scene: Scene,
        registry: TaskRegistry,
        notice: Callable[[str, Severity], None],
    ) -> None:
        self.scene = scene
        self.registry = registry
        self.turn_tokens = 0
        """Uncached, cache-write and output tokens of the last turn."""
        self.others: Callable[[], tuple[Mechanism, ...]] = tuple
        """Mechanisms that know of their gates themselves."""
        self._notice = notice
        self._ledger = Ledger(scene.here.places.data)
        self._ledger_fails = False
        self._ledger_trouble = ""
        self._jobs: dict[str, Job] = {}
        self._troubles: dict[str, Trouble] = {}
        self._held: dict[str, tuple[str, float]] = {}
        self._looked: tuple[object, ConversationLook] = None, ConversationLook()

    # Jobs

    def run(self, name: str, title: str, work: Callable[[Job], Coroutine[Any, Any, str]]) -> str:
        """Start a mechanism's job; what its calls use is shown with it. Returns the job's id."""

        async def metered(job: Job) -> str:
            self._jobs[name] = job
            try:
                return await work(job)
            except ModelError as error:
                self._troubles[name] = trouble_of(error, self.scene.clock.now())
                raise
            finally:
                if self._jobs.get(name) is job:
                    del self._jobs[name]
                self.show()

        return self.registry.start(name, title, metered, self.scene.state().session.session_id)

    def measured(self, fact: RequestMeasured) -> None:
        """A model call ended: one of a turn, or one that goes into the ledger."""
        usage = fact.usage
        if fact.purpose == "turn":
            self.turn_tokens += usage.input + usage.cache_write + usage.output
        if fact.purpose not in MECHANISMS:
            return
        job = self._jobs.get(fact.purpose)
        if job is not None:
            job.measured(usage, fact.cost_usd)
        try:
            self._ledger.add(
                fact.purpose, fact.session_id, fact.model, usage, fact.cost_usd, fact.at
            )
            self._ledger_fails = False
        except StorageError as error:
            if not self._ledger_fails:
                self._ledger_fails = True
                self._notice(str(error), "warning")
        self.count()

    def count(self) -> None:
        """Read the ledger, in which other processes write too."""
        try:
            spend = self._ledger.spend()
        except StorageError as error:
            if not self._ledger_trouble:
                self._notice(str(error), "warning")
            self._ledger_trouble = "the ledger cannot be read"
            return
        self._ledger_trouble = ""
        limit = self.scene.settings().background.daily_budget_usd
        self.scene.emit(SpendCounted(limit, today(self.scene.clock.now()), spend))

    def clear_troubles(self) -> None:
        """Another model or way to it was chosen: what went wrong may go well now."""
        self._troubles.clear()

    def close(self) -> None:
        """Release the ledger."""
        self._ledger.close()

    # Gates

    def seen(self, name: str) -> Seen:
        """What the gates of a mechanism look at now."""
        now = self.scene.clock.now()
        trouble = self._troubles.get(name)
        if trouble is not None and trouble.until is not None and trouble.until <= now.timestamp():
            trouble = None
        return Seen(
            self.scene.state(),
            now,
            self.scene.settings(),
            self.scene.here.environment,
            self._look(),
            self.turn_tokens,
            trouble.words if trouble else "",
            trouble.until if trouble else None,
            self._ledger_trouble,
        )

    def _look(self) -> ConversationLook:
        view = self.scene.state().session.view
        if self._looked[0] is not view:
            self._looked = view, look(view)
        return self._looked[1]

    def held_by(self, name: str) -> Gate | None:
        """The first gate that does not hold, of a mechanism that would run now."""
        self.count()
        return next((gate for gate in self.gates(name) if not gate.holds), None)

    def gates(self, name: str) -> tuple[Gate, ...]:
        """The gates of a mechanism as they stand."""
        return tuple(_GATES[name](self.seen(name)))

    def show(self) -> None:
        """Tell the store what holds each mechanism back."""
        settings, environment = self.scene.settings(), self.scene.here.environment
        shown = (
            ("away_summary", "Away summary", "away_summary.enabled",
             away_is_on(settings.away_summary, environment)),
            ("suggestion", "Suggestion", "suggestion.enabled",
             suggestion_is_on(settings.suggestion, environment)),
            ("post_turn", "Turn summary", "", True),
            ("title", "Session title", "titles", settings.titles),
            ("compact_ahead", "Summary ahead", "", True),
        )  # fmt: skip
        own = tuple(self._mechanism(*each) for each in shown)
        self.scene.emit(MechanismsSeen((*own, *self.others())))

    def _mechanism(self, name: str, title: str, setting: str, is_on: bool) -> Mechanism:
        gates = self.gates(name)
        held = next((gate.name for gate in gates if not gate.holds), "")
        before, since = self._held.get(name, ("", 0.0))
        if held != before or not since:
            since = self.scene.clock.now().timestamp()
            self._held[name] = held, since
        trouble = self._troubles.get(name)
        return Mechanism(
            name, title, setting, is_on, gates, since, trouble.words if trouble else ""
        )


def _post_turn_gates(seen: Seen) -> tuple[Gate, ...]:
    if seen.settings.post_turn.engine == "heuristic":
        return (Gate("enabled", True, "by rules, without a call"),)
    return (Gate("enabled", True, "by the small model"), model(seen), quiet(seen), budget(seen))


def _title_gates(seen: Seen) -> tuple[Gate, ...]:
    is_on = seen.settings.titles
    return (
        Gate("enabled", is_on, "on" if is_on else "switched off in the settings"),
        model(seen),
        budget(seen),
    )


_GATES: Final[Mapping[str, Gates]] = {
    "away_summary": away_gates,
    "suggestion": suggestion_gates,
    "post_turn": _post_turn_gates,
    "title": _title_gates,
    "compact_ahead": lambda seen: (budget(seen),),
    "dream": lambda seen: (quiet(seen), budget(seen)),
}
