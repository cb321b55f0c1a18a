"""What a project's settings file may not do: widen trust, or spend the person's money."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

WIDENS_TRUST: Final = frozenset(
    {"base_url", "prices", "cleanup_period_days", "memory.folder"}
    | {"feedback.sink", "feedback.endpoint", "feedback.token", "feedback.budget_bytes"}
    | {"dream.model", "dream.budget_usd", "dream.min_hours", "dream.min_sessions"}
    | {
        "background.daily_budget_usd",
        "away_summary.delay_ms",
        "suggestion.enter_sends",
        "post_turn.notify",
    }
)
"""Keys that a project's file may not set (spec/cli.md, Settings)."""
NARROWS: Final[Mapping[str, object]] = {
    "memory.writes": "deny",
    "auto_memory": False,
    "away_summary.enabled": False,
    "away_summary.model": "never",
    "suggestion.enabled": False,
    "post_turn.engine": "heuristic",
    "dream.enabled": False,
    "dream.review": True,
    "feedback.drafts": "off",
}
"""Keys that a project's file may only set to this value, which allows less."""
