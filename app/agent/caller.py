"""How the model of a session is called, and who is told what a call used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

from app.models.provider import Block, Provider, Usage
from app.models.retry import RetryPolicy
from app.state.model import Severity

Purpose: TypeAlias = Literal[
    "turn",
    "compact",
    "compact_ahead",
    "title",
    "recap",
    "away_summary",
    "suggestion",
    "post_turn",
    "dream",
]
"""What a call was made for."""

Tell: TypeAlias = Callable[[str, Severity], None]
"""Says one sentence to the person."""


@dataclass(slots=True)
class Caller:
    """How the model of a session is called."""

    provider: Provider
    model: str
    max_tokens: int
    identity: tuple[Block, ...]
    tools: tuple[Block, ...]
    notes: tuple[Block, ...] = ()
    """What every request carries of instruction files and memory."""
    retry: RetryPolicy = field(default_factory=RetryPolicy)

    @property
    def system(self) -> tuple[Block, ...]:
        """The system blocks of a request."""
        return (*self.identity, *self.notes)


class Measure(Protocol):
    """Told what every finished call used."""

    def __call__(
        self, model: str, usage: Usage, began: datetime, purpose: Purpose = "turn"
    ) -> float | None:
        """`began` is when the call started: prices have dates. Returns USD, None: unknown."""
        ...
