"""What the state knows of background work: who may run, what it cost, what it has to say."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from app.models.provider import Usage

TaskStatus: TypeAlias = Literal["pending", "running", "completed", "failed", "aborted", "skipped"]
Category: TypeAlias = Literal["working", "waiting", "blocked", "completed", "failed", "idle"]


class Task(msgspec.Struct, frozen=True):
    """A background job."""

    id: str
    kind: str
    """The mechanism it belongs to; `shell` for a command that the model sent there."""
    title: str
    status: TaskStatus
    started: float
    """Monotonic seconds."""
    ended: float | None = None
    detail: str = ""
    """What came of it, in a few words."""
    began: float = 0.0
    """Seconds since the epoch; 0 where nobody noted it."""
    phase: str = ""
    lines: tuple[str, ...] = ()
    """What it said on its way, newest last."""
    calls: int = 0
    usage: Usage = Usage()
    cost_usd: float | None = 0.0
    """None when a price is unknown."""
    files: tuple[str, ...] = ()
    """The files it has changed."""
    session_id: str = ""


class Gate(msgspec.Struct, frozen=True):
    """A condition that must hold before a mechanism runs, as it stands now."""

    name: str
    holds: bool
    detail: str = ""
    """The present value in words."""
    opens_at: float | None = None
    """Seconds since the epoch when it may hold next; None where no clock decides."""


class Mechanism(msgspec.Struct, frozen=True):
    """One mechanism and why it runs or does not."""

    name: str
    title: str
    setting: str
    """The setting that switches it; empty where there is none."""
    is_on: bool
    gates: tuple[Gate, ...] = ()
    since: float = 0.0
    """Seconds since the epoch since when the same gate holds it back."""
    trouble: str = ""
    """Why it is silent until something changes; empty when nothing is wrong."""

    @property
    def held_by(self) -> Gate | None:
        """The first gate that does not hold."""
        return next((gate for gate in self.gates if not gate.holds), None)


class Spend(msgspec.Struct, frozen=True):
    """What a mechanism used on one day."""

    day: str
    """ISO date, local."""
    mechanism: str
    calls: int = 0
    usage: Usage = Usage()
    cost_usd: float | None = 0.0
    """None when a price is unknown."""


class Background(msgspec.Struct, frozen=True):
    """The frame that all mechanisms live in."""

    mechanisms: tuple[Mechanism, ...] = ()
    budget_usd: float | None = None
    """What all of them may cost in a day; None = no limit."""
    today: str = ""
    spend: tuple[Spend, ...] = ()
    """By day and mechanism, oldest first."""

    @property
    def spent_today(self) -> float | None:
        """USD of today; None when a price is unknown."""
        costs = [each.cost_usd for each in self.spend if each.day == self.today]
        known = [cost for cost in costs if cost is not None]
        return None if len(known) < len(costs) else sum(known)


class Away(msgspec.Struct, frozen=True):
    """Whether the person is at the terminal."""

    is_away: bool = False
    watch: Literal["", "focus", "keys"] = ""
    """How that is known: by the terminal's focus events, or by the keys that are not pressed;
    empty while it is not."""


class Suggestion(msgspec.Struct, frozen=True):
    """What the person may want to say next."""

    text: str = ""
    """Empty when there is nothing to offer."""
    has_draft: bool = False
    """Whether there is something in the prompt."""


class TurnSummary(msgspec.Struct, frozen=True):
    """Where a turn has left things (spec/background.md, Post-turn summary)."""

    category: Category
    detail: str
    needs_action: bool = False
    is_told: bool = False
    """Whether the reply itself said where things stand, in words that `detail` has."""

    @property
    def in_words(self) -> str:
        """`completed · tests pass`, the category alone where there is no more to say."""
        return f"{self.category} · {self.detail}" if self.detail else self.category
