"""What the agent needs of a model, whoever serves it: one request in, a stream of events out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol, TypeAlias

Block: TypeAlias = dict[str, Any]
"""A content block in the form of the Messages API."""

Message: TypeAlias = dict[str, Any]
"""`{"role": …, "content": [blocks]}` in the form of the Messages API."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
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


@dataclass(frozen=True, slots=True)
class Usage:
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


@dataclass(frozen=True, slots=True)
class Limit:
    """One allowance of the server: how much there is, what is left, when it is full again."""

    name: str
    limit: int | None
    remaining: int | None
    reset: datetime | None


@dataclass(frozen=True, slots=True)
class MessageStarted:
    """The reply has begun."""

    message_id: str
    model: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class BlockStarted:
    """A content block has begun; `tool_id` and `tool_name` only for `tool_use`."""

    index: int
    kind: str
    tool_id: str = ""
    tool_name: str = ""


@dataclass(frozen=True, slots=True)
class BlockGrew:
    """More of an open block: text, thinking, or the JSON of a tool's input."""

    index: int
    kind: Literal["text", "thinking", "input"]
    text: str


@dataclass(frozen=True, slots=True)
class BlockStopped:
    """A block is whole. A `tool_use` without this event must never be run (cases/B40)."""

    index: int
    block: Block


@dataclass(frozen=True, slots=True)
class MessageEnded:
    """The reply is whole: its last event."""

    stop_reason: str
    usage: Usage
    stop_details: Mapping[str, Any] | None = None
    request_id: str | None = None
    raw_usage: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The server's own usage object, kept for the transcript."""


@dataclass(frozen=True, slots=True)
class LimitsSeen:
    """Rate-limit headers of a response."""

    limits: tuple[Limit, ...]


@dataclass(frozen=True, slots=True)
class RetryPlanned:
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


@dataclass(frozen=True, slots=True)
class TokenCount:
    """Tokens of a request, and whether the server counted them or we guessed."""

    tokens: int
    estimated: bool


@dataclass(frozen=True, slots=True)
class ModelInfo:
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
