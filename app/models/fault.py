"""What a server's refusal means: its status, error type and sentence as one of our errors.

Anthropic's envelope is `{"error": {"type", "message"}}`; compatible servers differ, so every part
may be missing. Pure: no SDK, no network.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

from app.models.errors import (
    BadRequest,
    ConnectionFailed,
    ContextExceeded,
    Forbidden,
    ModelError,
    ModelNotFound,
    NotOffered,
    Overloaded,
    PaymentRequired,
    RateLimited,
    RequestTooLarge,
    ServerFault,
    ThinkingRejected,
    Unauthenticated,
)
from app.models.limits import parse_retry_after

_BY_TYPE: Mapping[str, type[ModelError]] = {
    "invalid_request_error": BadRequest,
    "exceed_context_size_error": ContextExceeded,
    "authentication_error": Unauthenticated,
    "billing_error": PaymentRequired,
    "permission_error": Forbidden,
    "not_found_error": ModelNotFound,
    "request_too_large": RequestTooLarge,
    "rate_limit_error": RateLimited,
    "timeout_error": ServerFault,
    "api_error": ServerFault,
    "overloaded_error": Overloaded,
}

_BY_STATUS: Mapping[int, type[ModelError]] = {
    401: Unauthenticated,
    402: PaymentRequired,
    403: Forbidden,
    404: ModelNotFound,
    405: NotOffered,
    408: ConnectionFailed,
    409: ServerFault,
    413: RequestTooLarge,
    429: RateLimited,
    431: RequestTooLarge,
    501: NotOffered,
    529: Overloaded,
}

_SENTENCES: Mapping[type[ModelError], tuple[str, str]] = {
    Unauthenticated: (
        "The server refused the key.",
        "Enter another key, or check the environment.",
    ),
    PaymentRequired: ("The account has no credit left.", "Add credit, or use another key."),
    Forbidden: ("The key may not do this.", "Check what the key is allowed to use."),
    ModelNotFound: ("The server has no such model or path.", "Choose another model."),
    NotOffered: ("The server does not offer this part of the API.", ""),
    ThinkingRejected: ("The server does not accept a stored thinking block.", ""),
    ContextExceeded: (
        "The conversation is longer than the model can read.",
        "Begin a new session with /clear.",
    ),
    RequestTooLarge: (
        "The request is too large.",
        "Begin a new session with /clear, or send less at once.",
    ),
    BadRequest: ("The server does not accept the request.", ""),
    RateLimited: ("The rate limit is reached.", ""),
    Overloaded: ("The service is overloaded.", ""),
    ServerFault: ("The server failed.", ""),
    ConnectionFailed: ("The server did not answer in time.", ""),
}

_TOO_LONG = re.compile(
    r"prompt is too long|exceed_context_size|exceeds? the (?:available )?context"
    r"|context (?:length|window|size)[^.]*exceed|input length and .max_tokens. exceed",
    re.IGNORECASE,
)
_NO_CREDIT = re.compile(r"credit balance is too low|insufficient credit", re.IGNORECASE)
_THINKING = re.compile(
    r"signature[^.]*thinking|thinking[^.]*(?:signature|block)|redacted_thinking", re.IGNORECASE
)

_KEY_SHAPES = re.compile(r"sk-[A-Za-z0-9_-]{8,}|(?<=Bearer )\S+", re.IGNORECASE)
_LONGEST_QUOTE = 300


def fault_from_response(
    status: int,
    body: object,
    headers: Mapping[str, str],
    now: datetime,
    secret: str = "",
) -> ModelError:
    """The error for a response of status 400 or more; `secret` is struck from whatever it says."""
    kind, message = _envelope(body)
    error_class = _classify(status, kind, message)
    sentence, todo = _SENTENCES[error_class]
    error = error_class(
        _told(f"{sentence.removesuffix('.')} ({status}).", message, secret),
        todo=todo,
        status=status,
        request_id=headers.get("request-id"),
        retry_after=parse_retry_after(headers, now),
    )
    if headers.get("x-should-retry") == "false":
        error.retryable = False
    return error


def fault_from_event(body: object, request_id: str | None = None, secret: str = "") -> ModelError:
    """The error for an `event: error` inside a stream: its type decides, the status was 200."""
    kind, message = _envelope(body)
    error_class = _classify(200, kind, message)
    sentence, todo = _SENTENCES[error_class]
    return error_class(_told(sentence, message, secret), todo=todo, request_id=request_id)


def quote(text: str, secret: str = "") -> str:
    """A server's words, fit to be shown: one line, bounded, without control characters or keys."""
    if secret:
        text = text.replace(secret, "[key]")
    text = _KEY_SHAPES.sub("[key]", text)
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= _LONGEST_QUOTE else line[: _LONGEST_QUOTE - 1] + "…"


def _told(sentence: str, message: str, secret: str) -> str:
    quoted = quote(message, secret)
    return f"{sentence} It says: {quoted}" if quoted else sentence


def _envelope(body: object) -> tuple[str, str]:
    """Error type and message, wherever this server puts them; empty strings when nowhere."""
    if not isinstance(body, Mapping):
        return "", body if isinstance(body, str) else ""
    outer = cast("Mapping[str, Any]", body)
    inner: Any = outer.get("error", outer)
    if not isinstance(inner, Mapping):
        return "", str(inner)
    fields = cast("Mapping[str, Any]", inner)
    message: Any = fields.get("message") or fields.get("detail") or outer.get("detail") or ""
    return str(fields.get("type") or ""), str(message)


def _classify(status: int, kind: str, message: str) -> type[ModelError]:
    found = _BY_STATUS.get(status) or _BY_TYPE.get(kind)
    if found is None:
        found = ServerFault if status >= 500 or status < 400 else BadRequest
    if found is not BadRequest:
        return found
    if _TOO_LONG.search(message):
        return ContextExceeded
    if _NO_CREDIT.search(message):
        return PaymentRequired
    return ThinkingRejected if _THINKING.search(message) else BadRequest
