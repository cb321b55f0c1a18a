"""Conditions that must hold before a mechanism runs: named, with the present value in words.

Nothing here decides alone or hides: the panel shows every gate of every mechanism.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from app.background.conversation_look import ConversationLook
from app.config import Settings
from app.models.limits import near_limit
from app.models.provider import Usage
from app.models.retry import wait_in_words
from app.models.usage import cost_usd, price_table
from app.state.background import Gate
from app.state.model import State

NO_CALLS: Final = frozenset({"local"})
"""Providers that are not asked: the built-in small model is for chat alone."""
_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_FALSE: Final = frozenset({"0", "false", "no", "off"})


@dataclass(frozen=True, slots=True)
class Seen:
    """What the gates look at."""

    state: State
    now: datetime
    settings: Settings
    environment: Mapping[str, str]
    look: ConversationLook
    turn_tokens: int = 0
    """Uncached, cache-write and output tokens of the last turn."""
    trouble: str = ""
    """Why the mechanism is silent until something changes."""
    trouble_until: float | None = None
    """Seconds since the epoch."""
    ledger_trouble: str = ""
    """Why it is not known what was spent."""
    is_interactive: bool = True
    """Whether somebody types here, or it is wanted all the same."""


def switched(environment: Mapping[str, str], name: str, setting: bool) -> bool:
    """Whether a mechanism is on: the environment's word beats the setting."""
    word = environment.get(name, "").strip().lower()
    if word in _TRUE:
        return True
    return False if word in _FALSE else setting


def enabled(is_on: bool, variable: str, environment: Mapping[str, str]) -> Gate:
    """The mechanism is switched on."""
    if is_on:
        return Gate("enabled", True, "on")
    by = f" by {variable}" if environment.get(variable) else " in the settings"
    return Gate("enabled", False, f"switched off{by}")


def model(seen: Seen) -> Gate:
    """A model can be reached that takes calls beside the conversation."""
    if not seen.state.access.ready:
        return Gate("model", False, "no model is connected")
    provider = seen.state.session.provider
    if provider in NO_CALLS:
        return Gate("model", False, "the built-in small model is for chat alone")
    return Gate("model", True, seen.state.session.model)


def budget(seen: Seen) -> Gate:
    """The day's budget for background work is not spent."""
    most = seen.settings.background.daily_budget_usd
    if most is None:
        return Gate("budget", True, "no limit is set")
    if seen.ledger_trouble:
        return Gate("budget", False, seen.ledger_trouble)
    name = seen.state.session.model
    if cost_usd(name, Usage(1), seen.now, price_table(seen.settings.prices)) is None:
        return Gate("budget", False, f"the price of {name} is unknown")
    spent = seen.state.background.spent_today
    if spent is None:
        return Gate("budget", False, "a price is unknown, so the budget cannot be kept")
    words = f"${spent:.2f} of ${most:.2f} today"
    return Gate("budget", spent < most, words, None if spent < most else _midnight(seen.now))


def _midnight(now: datetime) -> float:
    local = now.astimezone()
    return local.replace(hour=0, minute=0, second=0, microsecond=0).timestamp() + 86_400


def quiet(seen: Seen) -> Gate:
    """Nothing went wrong that makes another call useless for now."""
    return Gate("server", not seen.trouble, seen.trouble or "answers", seen.trouble_until)


def rate_limit(seen: Seen) -> Gate:
    """The server allows more than a tenth of what it allows."""
    tight = near_limit(seen.state.limits.allowances, seen.now)
    if tight is None:
        return Gate("rate limit", True, "not near")
    reset = None if tight.reset is None else tight.reset.timestamp()
    return Gate("rate limit", False, f"{tight.remaining} of {tight.limit} {tight.name} left", reset)


def empty_prompt(seen: Seen) -> Gate:
    """Nothing is being written."""
    draft = seen.state.suggestion.has_draft
    return Gate("empty prompt", not draft, "draft in the prompt" if draft else "empty")


def turns(needed: int, found: int) -> Gate:
    """Enough was said that there is something to tell."""
    if found >= needed:
        return Gate("turns", True, f"{found} of {needed}")
    more = needed - found
    return Gate("turns", False, f"{more} more turn{'s' * (more > 1)} needed ({found} of {needed})")


def nothing_pending(seen: Seen) -> Gate:
    """No agent, tool or summary runs or waits."""
    state = seen.state
    running = [task for task in state.tasks.values() if task.status == "running"]
    busy = next((task for task in running if task.kind in WORKS_FOR_THE_PERSON), None)
    if state.live.turn_id is not None:
        words = "a turn runs"
    elif state.live.queue:
        words = "a message is queued"
    elif state.compaction.trigger is not None or state.compaction.receipt is not None:
        words = "the conversation is being summed up"
    elif busy is not None:
        words = f"a background command runs: {busy.title}"
    else:
        return Gate("nothing pending", True, "nothing runs")
    return Gate("nothing pending", False, words)


WORKS_FOR_THE_PERSON: Final = frozenset({"shell"})
"""Kinds of tasks that the conversation waits for."""


def nothing_asked(seen: Seen) -> Gate:
    """Nothing waits for the person's word."""
    permission = seen.state.permission
    if permission.requests:
        return Gate("permission", False, f"{permission.requests[0].tool} waits for your word")
    if permission.questions:
        return Gate("permission", False, "a question waits for your answer")
    return Gate("permission", True, "nothing waits")


def wait(seen: Seen, opens_at: float) -> str:
    """How long until a moment, in words."""
    return wait_in_words(max(opens_at - seen.now.timestamp(), 0))
