"""A server of the Messages API, reached through the anthropic SDK.

The only file that imports the SDK, and only in a thread: the import takes about a second
(notes/speed.md). One `stream` is one attempt; waiting and trying again is `app.models.retry`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final, cast

from app.clock import Clock
from app.credentials import PLACEHOLDER, Credentials, is_loopback
from app.models.clean import clean
from app.models.errors import (
    ConnectionFailed,
    ModelError,
    ModelNotFound,
    NoCredentials,
    NotOffered,
    StreamCut,
    StreamMalformed,
    StreamStalled,
    Unauthenticated,
)
from app.models.estimate import estimate_request
from app.models.fault import fault_from_response
from app.models.limits import parse_limits
from app.models.provider import LimitsSeen, ModelInfo, ModelRequest, StreamEvent, TokenCount
from app.models.reply import Reply
from app.models.sse import EventDecoder, ServerEvent
from app.models.usage import model_facts

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

DEFAULT_BASE_URL: Final = "https://api.anthropic.com"

WAYS_IN: Final = (
    "Set ANTHROPIC_API_KEY, or enter a key in the app; point ANTHROPIC_BASE_URL at a local server; "
    "use the built-in small model (--model local); or watch the rehearsal (--model rehearsal)."
)
"""The choices of somebody without credentials (spec/cli.md)."""

_CONNECT_TIMEOUT = 10.0
_DRAIN_TIMEOUT = 0.25
"""Seconds for the last bytes behind `message_stop`, so that the connection can be used again."""
_MODELS_A_PAGE = 1_000


class AnthropicProvider:
    """The Messages API at `base_url`; without credentials only a loopback server is asked.

    `stall_timeout` is the longest silence inside a reply and `reply_timeout` the longest wait for
    its first byte, both in seconds; a local model may read its prompt for minutes. Connections
    are used again unless the server is on this machine: llama.cpp closes its own behind a stream
    without saying so, and the next request on it would fail.
    """

    name = "anthropic"
    supports_tools = True

    def __init__(
        self,
        credentials: Credentials | None,
        clock: Clock,
        base_url: str | None = None,
        *,
        stall_timeout: float = 90.0,
        reply_timeout: float = 300.0,
        reuse_connections: bool | None = None,
    ) -> None:
        self._base_url = (base_url or DEFAULT_BASE_URL).rstrip("/").removesuffix("/v1")
        if credentials is None and is_loopback(self._base_url):
            credentials = PLACEHOLDER
        self._credentials = credentials
        self._clock = clock
        self._stall_timeout = stall_timeout
        self._reply_timeout = reply_timeout
        if reuse_connections is None:
            reuse_connections = not is_loopback(self._base_url)
        self._headers = {} if reuse_connections else {"Connection": "close"}
        self._client: AsyncAnthropic | None = None
        self._building = asyncio.Lock()
        self._counts = True
        """Whether the server is still believed to count tokens."""

    async def warm(self) -> None:
        """Import the SDK and build its client in a thread; does nothing the second time.

        Raises NoCredentials or Unauthenticated when there is no usable key.
        """
        await self._connected()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """One attempt; see `Provider.stream`. Close the iterator to close the connection."""
        client = await self._connected()
        create: Any = client.messages.with_streaming_response.create
        try:
            async with create(**_parameters(request), stream=True) as response:
                limits = parse_limits(response.headers)
                if limits:
                    yield LimitsSeen(limits)
                async with aclosing(self._events(response)) as events:
                    async for event in events:
                        yield event
        except _sdk_failures() as error:
            raise self._translated(error) from None

    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        """Tokens of the prompt: the server's figure, or the estimate when it gives none."""
        if self._counts:
            try:
                tokens = await self._counted(request)
            except (ModelNotFound, NotOffered):
                self._counts = False
            except ModelError:
                # The count guides, it decides nothing: the next request shows what is wrong.
                pass
            else:
                if tokens is not None:
                    return TokenCount(tokens, estimated=False)
        return TokenCount(estimate_request(request), estimated=True)

    async def models(self) -> tuple[ModelInfo, ...]:
        """What the server offers, newest first as it lists them; empty when it has no list."""
        client = await self._connected()
        try:
            response = await client.models.with_raw_response.list(limit=_MODELS_A_PAGE)
            listed = await response.json()
        except (*_sdk_failures(), ValueError) as error:
            translated = self._translated(error)
            if isinstance(translated, (ModelNotFound, NotOffered)):
                return ()
            raise translated from None
        return _model_infos(listed)

    async def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _connected(self) -> AsyncAnthropic:
        credentials = self._credentials
        if credentials is None:
            raise NoCredentials("There is no key for Claude.", todo=WAYS_IN)
        if not (credentials.secret.isascii() and credentials.secret.isprintable()):
            raise Unauthenticated(
                f"The key from {credentials.source} has characters that no key has.",
                todo="Copy it again.",
            )
        async with self._building:
            if self._client is None:
                self._client = await asyncio.to_thread(self._build, credentials)
            return self._client

    def _build(self, credentials: Credentials) -> AsyncAnthropic:
        import httpx2
        from anthropic import AsyncAnthropic

        is_key = credentials.kind == "api_key"
        return AsyncAnthropic(
            api_key=credentials.secret if is_key else None,
            auth_token=None if is_key else credentials.secret,
            base_url=self._base_url,
            max_retries=0,
            default_headers=self._headers,
            timeout=httpx2.Timeout(self._reply_timeout, connect=_CONNECT_TIMEOUT),
            open_telemetry=False,
        )

    async def _events(self, response: Any) -> AsyncGenerator[StreamEvent, None]:
        reply = Reply(response.headers.get("request-id"), self._secret)
        chunks = response.iter_bytes()
        decoder = EventDecoder()
        while not reply.stopped:
            try:
                chunk = await self._next_chunk(chunks)
            except ModelError:
                if reply.whole:
                    break
                raise
            if chunk is None:
                break
            for wire_event in _decoded(decoder, chunk):
                for event in reply.feed(wire_event.data):
                    yield event
        if reply.stopped:
            await _drain(chunks)
        yield reply.end()

    async def _next_chunk(self, chunks: AsyncIterator[bytes]) -> bytes | None:
        """The next bytes, None at the end. Raises StreamStalled or StreamCut."""
        try:
            async with asyncio.timeout(self._stall_timeout):
                return await anext(chunks, None)
        except TimeoutError:
            pass
        except _transport_failures() as error:
            raise StreamCut(
                f"The connection broke in the middle of the reply ({type(error).__name__})."
            ) from None
        raise StreamStalled(f"Nothing came for {self._stall_timeout:g} s in the middle of a reply.")

    async def _counted(self, request: ModelRequest) -> int | None:
        parameters: dict[str, Any] = {
            "model": request.model,
            "messages": list(request.messages),
        }
        if request.system:
            parameters["system"] = list(request.system)
        if request.tools:
            parameters["tools"] = list(request.tools)
        client = await self._connected()
        count: Any = client.messages.with_raw_response.count_tokens
        try:
            response = await count(**clean(parameters))
            body = await response.json()
        except (*_sdk_failures(), ValueError) as error:
            raise self._translated(error) from None
        tokens = _field(body, "input_tokens")
        return tokens if isinstance(tokens, int) else None

    @property
    def _secret(self) -> str:
        return self._credentials.secret if self._credentials else ""

    def _translated(self, error: Exception) -> ModelError:
        """One of our errors for one of the SDK's; never its text, which may quote the request."""
        import anthropic

        if isinstance(error, anthropic.APIStatusError):
            return fault_from_response(
                error.status_code,
                error.body,
                error.response.headers,
                self._clock.now(),
                self._secret,
            )
        if isinstance(error, anthropic.APITimeoutError):
            return ConnectionFailed(f"{self._base_url} did not answer in time.")
        if isinstance(error, (anthropic.APIConnectionError, *_transport_failures())):
            cause = type(error.__cause__ or error).__name__
            return ConnectionFailed(
                f"{self._base_url} could not be reached ({cause}).",
                todo="Check the network and the address.",
            )
        return StreamMalformed(f"The server's answer was not readable ({type(error).__name__}).")


def _parameters(request: ModelRequest) -> dict[str, Any]:
    """The call's arguments; what only some servers know is left out where it is not asked for."""
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "messages": list(request.messages),
    }
    if request.system:
        body["system"] = list(request.system)
    if request.tools:
        body["tools"] = list(request.tools)
    if request.tool_choice is not None:
        body["tool_choice"] = dict(request.tool_choice)
    if request.thinking == "adaptive" and model_facts(request.model).adaptive_thinking:
        body["thinking"] = {"type": "adaptive"}
    if request.extra:
        body["extra_body"] = dict(request.extra)
    return cast("dict[str, Any]", clean(body))


def _decoded(decoder: EventDecoder, chunk: bytes) -> list[ServerEvent]:
    try:
        return list(decoder.feed(chunk))
    except UnicodeDecodeError as error:
        raise StreamMalformed("A part of the reply was not UTF-8.") from error


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    try:
        async with asyncio.timeout(_DRAIN_TIMEOUT):
            while await anext(chunks, None) is not None:
                pass
    except (TimeoutError, *_transport_failures()):
        return


def _sdk_failures() -> tuple[type[Exception], ...]:
    """What a call into the SDK may raise (notes/wire.md, section 4)."""
    import anthropic

    return (anthropic.APIError, *_transport_failures())


def _transport_failures() -> tuple[type[Exception], ...]:
    import httpx2

    return (httpx2.HTTPError, httpx2.StreamError)


def _field(value: object, name: str) -> Any:
    """A member of a JSON object; None when it is no object or has no such member."""
    return cast("Mapping[str, Any]", value).get(name) if isinstance(value, Mapping) else None


def _model_infos(listed: object) -> tuple[ModelInfo, ...]:
    entries = _field(listed, "data")
    if not isinstance(entries, list):
        return ()
    infos: list[ModelInfo] = []
    for entry in cast("list[Any]", entries):
        model = _field(entry, "id")
        if isinstance(model, str):
            infos.append(
                ModelInfo(
                    model,
                    str(_field(entry, "display_name") or model),
                    _size(_field(entry, "max_input_tokens")),
                    _size(_field(entry, "max_tokens")),
                )
            )
    return tuple(infos)


def _size(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None
