"""A request beside the conversation that reads its cache and leaves no trace in it.

It is the last main one, byte for byte, with the reply and an instruction behind it: the server's
prompt cache is read and nothing new is written to it (spec/background.md, Calls that ride on the
main conversation's cache).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from app.agent.caller import Caller
from app.agent.request import build_request, without_breakpoints
from app.models.provider import Block, Message, ModelRequest
from app.sessions.graph import GraphView

ANSWER_TOKENS: Final = 2_000
"""Tokens of an answer at most, thinking included."""


def forked_request(
    view: GraphView,
    caller: Caller,
    last: ModelRequest | None,
    instruction: str,
    *,
    strip_thinking: bool = False,
) -> ModelRequest:
    """The request of a call at this view; `last` is the main request that the server saw last.

    Where the conversation does not go on from `last` (another branch, a compaction, a session that
    was just opened) it is put together from the view, without breakpoints in its messages.
    """
    fresh = build_request(
        view,
        model=caller.model,
        system=caller.system,
        tools=caller.tools,
        max_tokens=caller.max_tokens,
        strip_thinking=strip_thinking,
    )
    messages = without_breakpoints(fresh.messages)
    base, seen = fresh, 0
    if last is not None and last.model == caller.model:
        base, known = last, without_breakpoints(last.messages)
        if messages[: len(known)] == known:
            seen = len(known)
            messages = (*last.messages, *messages[seen:])
    return replace(
        base,
        messages=_with_instruction(messages, instruction, seen),
        max_tokens=min(caller.max_tokens, ANSWER_TOKENS),
        tool_choice={"type": "none"} if base.tools else None,
    )


def _with_instruction(
    messages: Sequence[Message], instruction: str, seen: int
) -> tuple[Message, ...]:
    """The instruction as the last user message; the first `seen` messages stay as they are."""
    block: Block = {"type": "text", "text": instruction}
    if len(messages) > seen and messages[-1]["role"] == "user":
        last = messages[-1]
        return (*messages[:-1], {**last, "content": [*last["content"], block]})
    return (*messages, {"role": "user", "content": [block]})
