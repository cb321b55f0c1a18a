"""When to tell a person who comes back where things stand (spec/background.md, Away summary)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from app.background import gates
from app.background.gates import Seen
from app.background.words import count_words
from app.background_settings import AwaySettings
from app.models.cache_clock import CacheClock
from app.plain_text import cut
from app.state.background import Gate, TurnSummary

VARIABLE: Final = "REVERIE_ENABLE_AWAY_SUMMARY"
SHORTEST_DELAY: Final = 30.0
"""Seconds; a smaller setting is raised to this."""
CACHE_SHARE: Final = 0.8
"""Share of the cache's remaining life that is waited at most."""
LAST_OF_LIFE: Final = timedelta(seconds=10)
"""With less life left than this, the cache may be gone when the call arrives."""
FIRST_TURNS: Final = 3
LATER_TURNS: Final = 2
MOST_WORDS: Final = 40
"""A recap has fewer words than this."""


def is_on(seen_settings: AwaySettings, environment: Mapping[str, str]) -> bool:
    """Whether away summaries are on."""
    return gates.switched(environment, VARIABLE, seen_settings.enabled)


def delay(delay_ms: int, cache: CacheClock, now: datetime) -> float:
    """Seconds between leaving and the recap, by the cache's remaining life at the leaving."""
    seconds = max(delay_ms / 1000, SHORTEST_DELAY)
    remaining = cache.remaining(now)
    if remaining is None:
        return seconds
    return min(seconds, CACHE_SHARE * remaining.total_seconds())


def away_gates(seen: Seen) -> tuple[Gate, ...]:
    """What must hold before a recap is made by itself."""
    settings = seen.settings.away_summary
    needed = LATER_TURNS if seen.look.has_recap else FIRST_TURNS
    return (
        gates.enabled(is_on(settings, seen.environment), VARIABLE, seen.environment),
        gates.model(seen),
        gates.quiet(seen),
        gates.budget(seen),
        gates.turns(needed, seen.look.turns),
        _newer_than_recap(seen),
        gates.nothing_pending(seen),
        gates.nothing_asked(seen),
        gates.empty_prompt(seen),
        _cache(seen),
        gates.rate_limit(seen),
        _away(seen),
    )


def _newer_than_recap(seen: Seen) -> Gate:
    if seen.look.ends_in_recap:
        return Gate("news", False, "nothing happened since the last recap")
    if seen.look.has_structured:
        return Gate("news", False, "the last turn has told it in a form")
    return Gate("news", True, "something happened")


def _cache(seen: Seen) -> Gate:
    cache = seen.state.limits.cache
    remaining = cache.remaining(seen.now)
    if remaining is None:
        return Gate("cache", False, "its age is not known")
    if remaining < LAST_OF_LIFE:
        words = "has run out" if remaining <= timedelta() else "is about to run out"
        return Gate("cache", False, words)
    return Gate("cache", True, f"lives for another {int(remaining.total_seconds())} s")


def _away(seen: Seen) -> Gate:
    is_away = seen.state.away.is_away
    return Gate("away", is_away, "you are away" if is_away else "you are here")


def composed(summaries: Sequence[TurnSummary], last_prompt: str) -> str:
    """A recap from what the turns have said of themselves; empty where that is not enough."""
    if not summaries or not all(each.is_told for each in summaries):
        return ""
    last = summaries[-1]
    first = f"You asked: {cut(' '.join(last_prompt.split()), 60)}."
    state = last.detail[:1].upper() + last.detail[1:].rstrip(".")
    text = f"{first} {state}."
    return text if count_words(text) < MOST_WORDS else ""
