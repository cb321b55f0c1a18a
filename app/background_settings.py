"""Settings of background work: what runs by itself, and what it may cost (spec/background.md)."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

Dollars: TypeAlias = Annotated[float, msgspec.Meta(ge=0)]
"""USD, never negative."""


class AwaySettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[away_summary]`: the recap for whoever comes back (spec/background.md)."""

    enabled: bool = True
    delay_ms: Annotated[int, msgspec.Meta(ge=0)] = 180_000
    """Between leaving and the recap; never less than 30 000."""
    model: Literal["auto", "always", "never"] = "auto"
    """Whether a model writes it: where the turns have not said it themselves, always, or never."""


class SuggestionSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[suggestion]`: what one may want to say next, as ghost text in an empty prompt."""

    enabled: bool = True
    enter_sends: bool = False
    """Whether enter on the untouched ghost text takes and sends it."""


class PostTurnSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[post_turn]`: where a turn has left things."""

    engine: Literal["heuristic", "llm"] = "heuristic"
    """By rules without any call, or by the small model."""
    notify: Literal["off", "bell", "desktop"] = "off"
    """How to be called when something needs you while the terminal is not in front."""


class BackgroundSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[background]`: all background work together."""

    daily_budget_usd: Dollars | None = None
    """What it may cost in a day; None = no limit."""


class DreamSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[dream]`: memory that is put in order by itself (spec/dream.md)."""

    enabled: bool = True
    min_hours: float = 24.0
    """Between two dreams; what is not positive counts as 24."""
    min_sessions: int = 5
    """Other sessions touched since the last one; what is not positive counts as 5."""
    review: bool = False
    """Whether nothing is published before you have seen it."""
    model: str | None = None
    """The model that dreams; None = the small one, and where there is none the main one."""
    budget_usd: Dollars = 1.0
    """What one dream may cost."""


class FeedbackSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[feedback]`: reports that the model drafts and you send (spec/feedback.md)."""

    drafts: Literal["on", "off"] = "on"
    """Whether the model may queue reports; none of them leaves by itself."""
    sink: Literal["http", "github", "file"] | None = None
    """Where reports go to; None = nowhere."""
    endpoint: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    """The service's address, for github owner/name, for file a path."""
    token: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    budget_bytes: Annotated[int, msgspec.Meta(ge=65_536, le=1 << 26)] = 1 << 20
    """Of a report with its transcript; the oldest messages are left out beyond it."""
