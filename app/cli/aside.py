"""What print mode does beside the turns: where they left things, and a suggestion behind them."""

from __future__ import annotations

from collections.abc import Mapping

from app.assembly import Runtime
from app.background.conversation_look import look
from app.background.gates import Seen
from app.background.ledger import Ledger, today
from app.background.suggestion import suggest, suggestion_gates
from app.cli.output import JsonObject
from app.config import Loaded
from app.errors import StorageError
from app.models.errors import ModelError
from app.sessions.envelope import new_uuid
from app.state.background import TurnSummary
from app.state.facts import SpendCounted
from app.state.model import State
from app.state.reduce import reduce


def post_turn_event(summary: TurnSummary | None, session_id: str) -> JsonObject:
    """Where a turn has left things; with None what was said before does not count any more."""
    return {
        "type": "post_turn_summary",
        "status_category": None if summary is None else summary.category,
        "status_detail": None if summary is None else summary.detail,
        "needs_action": None if summary is None else summary.needs_action,
        "session_id": session_id,
        "uuid": new_uuid(),
    }


async def suggestion_event(
    runtime: Runtime,
    state: State,
    loaded: Loaded,
    environment: Mapping[str, str],
    turn_tokens: int,
    ledger: Ledger,
) -> JsonObject | None:
    """What the person may want to say next; None where it is off, held back or refused."""
    now, trouble = runtime.loop.clock.now(), ""
    limit = loaded.settings.background.daily_budget_usd
    try:
        state = reduce(state, SpendCounted(limit, today(now), ledger.spend()))
    except StorageError:
        trouble = "the ledger cannot be read"
    seen = Seen(
        state,
        now,
        loaded.settings,
        environment,
        look(state.session.view),
        turn_tokens,
        ledger_trouble=trouble,
        is_interactive=loaded.origin.get("suggestion.enabled") == "managed",
    )
    if not all(gate.holds for gate in suggestion_gates(seen)):
        return None
    try:
        text, reason = await suggest(runtime.loop, seen.look.last_prompt)
    except ModelError:
        return None  # a suggestion is no reason to bother a program
    if reason:
        return None
    return {
        "type": "prompt_suggestion",
        "suggestion": text,
        "session_id": state.session.session_id,
        "uuid": new_uuid(),
    }
