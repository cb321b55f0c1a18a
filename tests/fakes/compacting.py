"""A conversation whose context fills up, and what it takes to sum it up in a test."""

from __future__ import annotations

from typing import Any

from app.installation import Options
from app.models.provider import MessageEnded, ModelRequest, StreamEvent, Usage
from app.models.rehearsal.markers import SUMMARY_MARKER
from app.sessions.records import Record
from tests.fakes.provider import called, said, started
from tests.fakes.stage import Stage, stage

SMALL = Options(model="claude-haiku-4-5")
"""A model with a window of 200 000 tokens."""


def filled(text: str, tokens: int, number: int) -> list[StreamEvent]:
    """A reply after which the context holds so many tokens."""
    raw = {"input_tokens": tokens, "output_tokens": 5}
    return [
        started(number),
        *said(text),
        MessageEnded("end_turn", Usage(tokens, 5), raw_usage=raw),
    ]


def called_filled(tokens: int, number: int, tool_id: str) -> list[StreamEvent]:
    raw = {"input_tokens": tokens, "output_tokens": 5}
    end = MessageEnded("tool_use", Usage(tokens, 5), raw_usage=raw)
    return [started(number), *called("LS", {"path": "."}, tool_id), end]


def texts(messages: Any) -> str:
    return "\n".join(
        str(block.get("text") or "") for message in messages for block in message["content"]
    )


def is_summary_call(request: ModelRequest) -> bool:
    return SUMMARY_MARKER in texts(request.messages[-1:])


def boundaries(play: Stage) -> list[Record]:
    return [record for record in play.records() if record.is_boundary]


def metadata(play: Stage) -> dict[str, Any]:
    return boundaries(play)[-1].data["compactMetadata"]


async def compact(play: Stage, instructions: str = "") -> None:
    receipt = await play.runtime.compactor.draft(instructions)
    await play.runtime.compactor.accept(receipt.summary)


def _unmarked(block: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key != "cache_control"}


async def again(play: Stage, *scripts: Any) -> Stage:
    """The same session in a process that knows nothing of the last one."""
    await play.runtime.close()
    folder = play.here.folder.parent
    return await stage(
        folder,
        *scripts,
        options=Options(model=SMALL.model, resume=play.file),
        can_ask=False,
    )
