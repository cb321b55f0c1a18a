"""Why a mechanism falls silent: said once, and until when another call could help."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from msgspec import Struct

from app.models.errors import (
    BadRequest,
    ConnectionFailed,
    ModelError,
    Overloaded,
    RateLimited,
    ServerFault,
    StreamBroken,
)

PAUSE: Final = 600.0
"""Seconds of silence after a server that could not answer."""
NO_TOOL_CHOICE: Final = "this server takes no calls without tools (`tool_choice`)"
_PASSES: Final = (RateLimited, Overloaded, ServerFault, ConnectionFailed, StreamBroken)


class Trouble(Struct, frozen=True):
    """What is wrong."""

    words: str
    until: float | None = None
    """Seconds since the epoch; None = until another model is chosen."""


def trouble_of(error: ModelError, now: datetime) -> Trouble:
    """What a failed call means for those that would follow it."""
    if isinstance(error, _PASSES):
        wait = PAUSE if error.retry_after is None else max(error.retry_after, 0.0)
        return Trouble(error.happened.rstrip("."), now.timestamp() + wait)
    if isinstance(error, BadRequest) and "tool_choice" in error.happened:
        return Trouble(NO_TOOL_CHOICE)
    return Trouble(error.happened.rstrip("."))
