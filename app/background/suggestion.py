"""What the person may want to say next (spec/background.md, Prompt suggestion)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app.agent.loop import AgentLoop
from app.agent.side_call import ask
from app.background import gates
from app.background.forked_call import forked_request
from app.background.gates import Seen
from app.background.recap import ONCE
from app.background.suggestion_text import cleaned, refused
from app.background_settings import SuggestionSettings
from app.models.rehearsal.markers import SUGGESTION_MARKER
from app.state.background import Gate

VARIABLE: Final = "REVERIE_ENABLE_PROMPT_SUGGESTION"
FIRST_TURNS: Final = 2
COLD: Final = 10_000
"""Uncached, cache-write and output tokens of a turn above which another call would be dear."""
INSTRUCTION: Final = f"""\
{SUGGESTION_MARKER}: write the next prompt that this person would most likely type, in their own \
words and language, in 2 to 12 words. One short sentence or phrase that asks for something \
concrete: the step that follows from what was just done. Only what you would bet on; where nothing \
is obvious, answer with nothing at all. No question to the person, no praise, no explanation, \
nothing that deletes or discards, no Markdown. Call no tools; the answer is the prompt alone."""


def is_on(
    settings: SuggestionSettings, environment: Mapping[str, str], *, interactive: bool = True
) -> bool:
    """Whether suggestions are made: the environment, then the setting where somebody types."""
    return gates.switched(environment, VARIABLE, settings.enabled and interactive)


def suggestion_gates(seen: Seen) -> tuple[Gate, ...]:
    """What must hold before a suggestion is asked for."""
    settings = seen.settings.suggestion
    on = is_on(settings, seen.environment, interactive=seen.is_interactive)
    live = seen.state.live
    outcome = live.last.outcome if live.last is not None else "completed"
    cold = seen.turn_tokens > COLD
    mode = seen.state.session.mode
    return (
        gates.enabled(on, VARIABLE, seen.environment),
        gates.model(seen),
        gates.quiet(seen),
        gates.budget(seen),
        gates.turns(FIRST_TURNS, seen.look.answered),
        gates.nothing_pending(seen),
        Gate("no error", outcome == "completed", f"the last turn was {outcome}"),
        gates.nothing_asked(seen),
        _nothing_to_decide(seen),
        Gate("mode", mode != "plan", f"{mode} mode"),
        gates.rate_limit(seen),
        gates.empty_prompt(seen),
        Gate(
            "cache",
            not cold,
            f"cache_cold: the last turn paid for {seen.turn_tokens:,} tokens"
            if cold
            else f"the last turn paid for {seen.turn_tokens:,} tokens",
        ),
    )


def _nothing_to_decide(seen: Seen) -> Gate:
    """The reply asks nothing: an answer is the person's own."""
    summary = seen.state.summary
    waits = summary is not None and (
        summary.needs_action or summary.category in {"waiting", "blocked"}
    )
    return Gate("no question", not waits, "the reply asks you something" if waits else "asks none")


async def suggest(loop: AgentLoop, last_prompt: str) -> tuple[str, str]:
    """A suggestion, and why it is not shown; the reason is empty when it is.

    Raises `ModelError`.
    """
    caller = loop.caller
    request = forked_request(
        loop.conversation.view,
        caller,
        loop.last_request,
        INSTRUCTION,
        strip_thinking=loop.strips_thinking,
    )
    reply = await ask(
        request, caller, "suggestion", loop.clock, loop.measure, ONCE, reads_cache=True
    )
    text = cleaned(reply)
    return text, refused(text, last_prompt)
