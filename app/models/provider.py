"""What the agent needs of a model, whoever serves it: one request in, a stream of events out.

Structs, not dataclasses, which cost 0.4 ms each at import, before the first frame.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct, field

Block: TypeAlias = dict[str, Any]
"""A content block in the form of the Messages API."""

Message: TypeAlias = dict[str, Any]
"""`{"role": …, "content": [blocks]}` in the form of the Messages API."""


class ModelRequest(Struct, frozen=True):
    """One call. `system`, `messages` and `tools` go out exactly as they stand here."""

    model: str
    messages: tuple[Message, ...]
    system: tuple[Block, ...] = ()
    tools: tuple[Block, ...] = ()
    max_tokens: int = 32_000
    thinking: Literal["adaptive", "off"] = "off"
    tool_choice: Mapping[str, Any] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further top-level parameters of the API, for example `output_config`."""


class Usage(Struct, frozen=True):
    """Tokens of one request; `whole input = input + cache_read + cache_write`."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0

    @property
    def cache_write(self) -> int:
        """Tokens written to the prompt cache, both lifetimes."""
        return self.cache_write_5m + self.cache_write_1h

    @property
    def whole_input(self) -> int:
        """Tokens of the request's prompt, however they were billed."""
        return self.input + self.cache_read + self.cache_write

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write_5m + other.cache_write_5m,
            self.cache_write_1h + other.cache_write_1h,
        )


class Limit(Struct, frozen=True):
    """One allowance of the server: how much there is, what is left, when it is full again."""

    name: str
    limit: int | None
    remaining: int | None
    reset: datetime | None


class MessageStarted(Struct, frozen=True):
    """The reply has begun."""

    message_id: str
    model: str
    usage: Usage


class BlockStarted(Struct, frozen=True):
    """A content block has begun; `tool_id` and `tool_name` only for `tool_use`."""

    index: int
    kind: str
    tool_id: str = ""
    tool_name: str = ""


class BlockGrew(Struct, frozen=True):
    """More of an open block: text, thinking, or the JSON of a tool's input."""

    index: int
    kind: Literal["text", "thinking", "input"]
    text: str


class BlockStopped(Struct, frozen=True):
    """A block is whole. A `tool_use` without this event must never be run (cases/B40)."""

    index: int
    block: Block


class MessageEnded(Struct, frozen=True):
    """The reply is whole: its last event."""

    stop_reason: str
    usage: Usage
    stop_details: Mapping[str, Any] | None = None
    request_id: str | None = None
    raw_usage: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The server's own usage object, kept for the transcript."""


class LimitsSeen(Struct, frozen=True):
    """Rate-limit headers of a response."""

    limits: tuple[Limit, ...]


class RetryPlanned(Struct, frozen=True):
    """An attempt failed and the next one starts in `delay` seconds; what came before is void."""

    attempt: int
    delay: float
    reason: str


StreamEvent: TypeAlias = (
    MessageStarted
    | BlockStarted
    | BlockGrew
    | BlockStopped
    | MessageEnded
    | LimitsSeen
    | RetryPlanned
)


class TokenCount(Struct, frozen=True):
    """Tokens of a request, and whether the server counted them or we guessed."""

    tokens: int
    estimated: bool


class ModelInfo(Struct, frozen=True):
    """A model the server offers."""

    id: str
    name: str
    context: int | None = None
    max_output: int | None = None


class Provider(Protocol):
    """A server of models, or one of the built-in stand-ins."""

    name: str
    """`anthropic`, `local` or `rehearsal`."""

    supports_tools: bool

    def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """One attempt. Ends with `MessageEnded`; raises a `ModelError` otherwise."""
        ...

    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        """Tokens of the request's prompt; an estimate where the server cannot count."""
        ...

    async def models(self) -> tuple[ModelInfo, ...]:
        """What the server offers; empty when it does not say."""
        ...

    async def close(self) -> None:
        """Release connections and child processes."""
        ...
