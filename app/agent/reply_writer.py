"""Writes a reply while it arrives: each block is a record as soon as the next one begins.

A process that is killed loses at most the block that was arriving. Of what a broken attempt had
written before it was repeated, a later record says that it does not count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.agent.conversation import Conversation
from app.agent.reply import Reply
from app.agent.tool_runner import Call
from app.clock import Clock
from app.models.provider import Block, BlockGrew, BlockStopped, MessageEnded, StreamEvent, Usage
from app.models.usage import usage_in_record
from app.sessions.envelope import new_uuid
from app.sessions.graph import REPLY_VOIDED
from app.sessions.records import Record
from app.state.facts import Fact, ReplyGrew

_AT_LIMIT = frozenset({"max_tokens", "model_context_window_exceeded"})


class ReplyWriter:
    """The records of one reply, attempt by attempt."""

    def __init__(
        self, conversation: Conversation, clock: Clock, emit: Callable[[Fact], None]
    ) -> None:
        self.reply = Reply(clock, lambda blocks: emit(ReplyGrew(blocks)))
        self._conversation = conversation
        self._emit = emit
        self.begin("")

    def begin(self, model: str) -> None:
        """Forget the reply before; `model` is named where the server does not say its own."""
        self.reply.reset()
        self.written: list[tuple[Block, Record]] = []
        """Blocks that are records already."""
        self._model = model
        self._message_id = ""
        self._before = self._conversation.leaf

    @property
    def text(self) -> str:
        """All text of the reply that has become records."""
        blocks = [block for block, _ in self.written]
        return "\n\n".join(str(b["text"]) for b in blocks if b.get("type") == "text")

    def take(self, event: StreamEvent) -> None:
        """Add one event of the stream."""
        if isinstance(event, BlockGrew | BlockStopped) and _has_content(event):
            self._write(self.reply.take_settled(before=event.index))
        self.reply.take(event)

    def void(self) -> None:
        """The attempt failed and is repeated: what it has written does not count."""
        uuids = [record.uuid for _, record in self.written]
        if uuids:
            payload = {"level": "info", "isMeta": False, "retractedMessageUuids": uuids}
            event = self._conversation.envelope.system(self._before, REPLY_VOIDED, payload)
            self._conversation.append(event)
        self.begin(self._model)

    def finish(self, ended: MessageEnded) -> list[Call]:
        """Write what is left of a whole reply; returns the calls to carry out."""
        half_made = self.reply.half_made_calls
        if not self._write([*self.reply.whole_blocks, *half_made], ended):
            self._emit(ReplyGrew(()))
        last = len(self.written) - 1
        at_limit = ended.stop_reason in _AT_LIMIT
        return [
            _call(block, record.uuid or "", cut=block in half_made or (at_limit and index == last))
            for index, (block, record) in enumerate(self.written)
            if block.get("type") == "tool_use"
        ]

    def keep_partial(self) -> None:
        """Keep the text of a reply that broke off."""
        blocks = self.reply.partial_blocks() if self.reply.ended is None else []
        if not blocks:
            self._emit(ReplyGrew(()))
            return
        message = self._message(blocks, None)
        record = self._conversation.envelope.assistant(
            self._conversation.leaf, message, request_id=None, aborted=True
        )
        self.written += [(block, record) for block in blocks]
        self._conversation.append(record)

    def keep_declined(self, ended: MessageEnded) -> list[str]:
        """Write the text of a reply that ended in a refusal; returns the uuids of all of it."""
        self._write(self.reply.partial_blocks(), ended)
        return [record.uuid or "" for _, record in self.written]

    def _write(self, blocks: list[Block], ended: MessageEnded | None = None) -> bool:
        """Append blocks as records, one a block; returns whether there were any."""
        records: list[Record] = []
        parent = self._conversation.leaf
        request_id = ended.request_id if ended is not None else None
        for block in blocks:
            if block.get("type") == "text" and not str(block.get("text") or "").strip():
                continue
            record = self._conversation.envelope.assistant(
                parent, self._message([block], ended), request_id=request_id
            )
            parent = record.uuid
            records.append(record)
            self.written.append((block, record))
        if records:
            self._conversation.append(*records)
        return bool(records)

    def _id_of_reply(self) -> str:
        """The server's id of the reply; one of ours where it has none or has given it before."""
        if not self._message_id:
            started = self.reply.started
            named = started.message_id if started is not None else ""
            is_new = bool(named) and named not in self._conversation.view.graph.messages
            self._message_id = named if is_new else f"msg_{new_uuid()}"
        return self._message_id

    def _message(self, blocks: list[Block], ended: MessageEnded | None) -> dict[str, Any]:
        started = self.reply.started
        usage = started.usage if started is not None else Usage()
        return {
            "model": started.model if started and started.model else self._model,
            "id": self._id_of_reply(),
            "type": "message",
            "role": "assistant",
            "content": blocks,
            "stop_reason": ended.stop_reason if ended else None,
            "stop_sequence": None,
            "usage": dict(ended.raw_usage) if ended else usage_in_record(usage),
        }


def _has_content(event: BlockGrew | BlockStopped) -> bool:
    """Whether a block will become a record: only then the one before it is not the last."""
    if isinstance(event, BlockGrew):
        return bool(event.text.strip())
    return event.block.get("type") != "text" or bool(str(event.block.get("text") or "").strip())


def _call(block: Block, record_uuid: str, *, cut: bool) -> Call:
    return Call(str(block["id"]), str(block["name"]), dict(block["input"]), record_uuid, cut)
