"""Every way a model call can fail, as one tree (notes/wire.md, section 4)."""

from __future__ import annotations

from app.errors import ReverieError


class ModelError(ReverieError):
    """A model call failed. `retryable` says whether the same request may be sent again."""

    retryable = False

    def __init__(
        self,
        happened: str,
        *,
        kept: str = "",
        todo: str = "",
        status: int | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(happened, kept=kept, todo=todo)
        self.status = status
        self.request_id = request_id
        self.retry_after = retry_after
        """Seconds the server asked us to wait, uncapped."""


class NoCredentials(ModelError):
    """Neither a key nor a token is known for this server."""


class Unauthenticated(ModelError):
    """401: the key or token was refused."""


class Forbidden(ModelError):
    """403: the key may not do this."""


class ModelNotFound(ModelError):
    """404: the server has no such model or path."""


class BadRequest(ModelError):
    """400, 422: the server does not accept the request as it is."""


class ThinkingRejected(BadRequest):
    """400 that names a thinking block: its signature is not accepted (cases/B13)."""


class ContextExceeded(BadRequest):
    """The request is longer than the model's window."""


class RequestTooLarge(BadRequest):
    """413: the request's bytes are too many."""


class RateLimited(ModelError):
    """429: asked too often, or the allowance is spent."""

    retryable = True


class Overloaded(ModelError):
    """529 or `overloaded_error`: the service is busy."""

    retryable = True


class ServerFault(ModelError):
    """500 and its kin."""

    retryable = True


class ConnectionFailed(ModelError):
    """The server could not be reached, or did not answer in time."""

    retryable = True


class StreamBroken(ModelError):
    """A reply began and did not end as it should; sent again once at most (cases/B40)."""

    retryable = True


class StreamCut(StreamBroken):
    """The connection closed in the middle of a reply."""


class StreamStalled(StreamBroken):
    """Nothing came for too long."""


class StreamTruncated(StreamBroken):
    """The stream ended cleanly but without a stop reason."""


class StreamMalformed(StreamBroken):
    """A chunk of the stream was not readable."""


class PaymentRequired(ModelError):
    """402, or a 400 that says the credit is used up: asking again cannot help."""


class NotOffered(ModelError):
    """405, 501: the server does not have this part of the API."""


class LocalModelMissing(ModelError):
    """The built-in small model cannot run: its runtime or its weights are not installed."""
