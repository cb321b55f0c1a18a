"""A reply while it arrives: its blocks, told to the screen at most once a frame."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal, cast

from msgspec.structs import replace

from app.clock import Clock
from app.models.provider import (
    Block,
    BlockGrew,
    BlockStarted,
    BlockStopped,
    MessageEnded,
    MessageStarted,
    StreamEvent,
)
from app.state.model import OpenBlock

FRAME = 1 / 60  # seconds between two tellings, as often as Textual paints


class Reply:
    """Collects the events of one attempt.

    `blocks` holds what is whole, in the API's form; only a whole `tool_use` may be run.
    """

    def __init__(self, clock: Clock, tell: Callable[[tuple[OpenBlock, ...]], None]) -> None:
        self._clock = clock
        self._tell = tell
        self._told = float("-inf")
        self._waits = False
        self.reset()

    def reset(self) -> None:
        """Forget a void attempt."""
        self._stale = False
        self.started: MessageStarted | None = None
        self.ended: MessageEnded | None = None
        self.open: dict[int, OpenBlock] = {}
        self.blocks: dict[int, Block] = {}
        self._seen_text = False

    @property
    def shown(self) -> bool:
        """Whether the person has seen anything of it that would be taken back by a retry."""
        return self._seen_text or any(
            block.kind == "text" and block.text.strip() for block in self.open.values()
        )

    def take_settled(self, before: int) -> list[Block]:
        """The whole blocks at the front, up to an index; they are no part of it any more."""
        settled: list[Block] = []
        for index in sorted({*self.open, *self.blocks}):
            if index not in self.blocks or index >= before:
                break
            settled.append(self.blocks.pop(index))
            block = self.open.pop(index, None)
            self._seen_text = self._seen_text or (block is not None and block.kind == "text")
        return settled

    @property
    def whole_blocks(self) -> list[Block]:
        """The blocks that have ended, in order, and text whose end a server forgot to tell."""
        found = dict(self.blocks)
        for index, block in self.open.items():
            if block.kind == "text" and index not in found:
                found[index] = {"type": "text", "text": block.text}
        return [found[index] for index in sorted(found)]

    @property
    def half_made_calls(self) -> list[Block]:
        """Tool calls whose arguments never became whole: what there is of them, as text."""
        return [
            {
                "type": "tool_use",
                "id": block.tool_id,
                "name": block.tool_name,
                "input": {"unfinished_input": block.text},
            }
            for index, block in sorted(self.open.items())
            if block.kind == "tool_use" and index not in self.blocks
        ]

    def take(self, event: StreamEvent) -> None:
        """Add one event of the stream."""
        if isinstance(event, MessageStarted):
            self.started = event
        elif isinstance(event, MessageEnded):
            self.ended = event
        elif isinstance(event, BlockStarted):
            if event.kind in {"text", "thinking", "tool_use"}:
                kind = cast("Literal['text', 'thinking', 'tool_use']", event.kind)
                self.open[event.index] = OpenBlock(
                    event.index, kind, "", event.tool_id, event.tool_name
                )
                self._stale = True
        elif isinstance(event, BlockGrew):
            block = self.open.get(event.index)
            if block is not None:
                self.open[event.index] = replace(block, text=block.text + event.text)
                self._stale = True
        elif isinstance(event, BlockStopped):
            self.blocks[event.index] = event.block
            block = self.open.get(event.index)
            if block is not None:
                self.open[event.index] = replace(block, closed=True)
                self.flush()
        if self._stale and self._clock.monotonic() - self._told >= FRAME:
            self.flush()
        elif self._stale and not self._waits:
            # A burst may be followed by a long pause: its end must not wait for what comes next.
            self._waits = True
            asyncio.get_running_loop().call_later(FRAME, self._flush_rest)

    def _flush_rest(self) -> None:
        self._waits = False
        if self._stale:
            self.flush()

    def flush(self) -> None:
        """Tell what has come since the last telling; called on every way a stream can end."""
        self._told = self._clock.monotonic()
        self._stale = False
        self._tell(tuple(self.open[index] for index in sorted(self.open)))

    def partial_blocks(self) -> list[dict[str, Any]]:
        """What may be kept of a reply that did not end: its text, and nothing half-made.

        Thinking without its signature and tool calls are left out (cases/B40).
        """
        texts = (
            self.open[index].text for index in sorted(self.open) if self.open[index].kind == "text"
        )
        return [{"type": "text", "text": text} for text in texts if text.strip()]
