"""Puts a summary in the place of what it sums up: sizes, records, and what is attached again.

Nothing old is removed: a boundary and a summary are appended, and later requests begin there
(spec/sessions.md, Compact; transcripts.md, a8).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from app.agent.caller import Caller
from app.agent.conversation import Conversation
from app.agent.request import build_request
from app.agent.summary_call import NothingToSumUp
from app.agent.thrash import told_tokens
from app.models.estimate import estimate_content, estimate_request, estimate_text
from app.models.provider import ModelRequest, Usage
from app.models.usage import usage_in_record
from app.plain_text import cut
from app.sessions.compact import Plan, count_messages, last_request, request_blocks
from app.sessions.envelope import new_uuid
from app.sessions.graph import GraphView, MessageGraph
from app.sessions.history import logical_chain
from app.sessions.kept import walk_from
from app.sessions.prompts import blocks_of, content_of, text_of, typed_text, user_kind
from app.sessions.records import JsonObject, Record, new_record

_OPENING: Final = (
    "This conversation goes on from an earlier part that was summed up to make room. "
    "The summary of that part:\n\n"
)
_LAST_REQUEST: Final = "The person's last request in that part, word for word:"
_FILE_AGAIN: Final = "A file that was read before, as it is now:"


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a branch that a person wants summed up: up to a prompt, or from it on."""

    prompt: str
    onwards: bool

    def plan(self, view: GraphView) -> Plan:
        """Which records it covers, and which of the others stay word for word.

        Raises `NothingToSumUp` for a prompt that later requests do not carry.
        """
        graph = view.graph
        chain = logical_chain(graph, walk_from(graph, view.leaf))
        here = graph.position.get(self.prompt)
        if here is None or here not in chain:
            raise NothingToSumUp(
                "That prompt is not on the branch in use, or is summed up already.",
                kept="Nothing was changed.",
            )
        split = chain.index(here)
        if self.onwards:
            return Plan(tuple(chain[split:]), ())
        return Plan(tuple(chain[:split]), tuple(chain[split:]))

    def seen_from(self, view: GraphView) -> GraphView:
        """The view whose conversation is summed up."""
        here = view.graph.position.get(self.prompt)
        if self.onwards or here is None:
            return view
        return GraphView(view.graph, view.length, view.graph.parent(here))

    def wishes(self, view: GraphView) -> str:
        """What the model is told of it."""
        here = view.graph.position.get(self.prompt)
        if not self.onwards or here is None:
            return ""
        words = cut(" ".join(typed_text(view.graph.records[here].data).split()), 200)
        return (
            "Sum up only what was said and done from this message of mine on, as an attempt that "
            f"the conversation now goes back to before: “{words}”"
        )


@dataclass(frozen=True, slots=True)
class Draft:
    """A summary that does not count yet."""

    leaf: int
    """The newest record that it covers."""
    plan: Plan
    summary: str
    tokens_before: int
    seconds: float
    model: str
    usage: Usage
    """Of all calls that the summary took."""
    ahead: bool = False
    """Whether it was made in good time, before the context was full."""
    seen: bool = False
    """Whether the person has looked at it and not used it: it never counts by itself."""
    part: Part | None = None
    """What it sums up; None for everything."""

    @property
    def back_to(self) -> str:
        """The prompt that the conversation goes back to before; empty where it stays."""
        return self.part.prompt if self.part is not None and self.part.onwards else ""


@dataclass(frozen=True, slots=True)
class Written:
    """The records of a compaction, before they are appended, and the request that they lead to."""

    boundary: Record
    following: tuple[Record, ...]
    """The summary and the files that are attached again."""
    request: ModelRequest


ATTEMPT: Final = (
    "The conversation went on from here in another way before, and came back. "
    "The summary of that attempt, whose changes to files may still be there:\n\n"
)


def size_of(graph: MessageGraph, here: int) -> int:
    """Tokens of a record's content, guessed."""
    return estimate_content(content_of(graph.records[here].data))


def context_tokens(view: GraphView, caller: Caller) -> int:
    """How long the next request at this view will be, in tokens.

    What the server said of the last reply, and a guess for what came after it; all guessed where
    no reply since the last compaction tells.
    """
    graph = view.graph
    walk = walk_from(graph, view.leaf)
    since = 0
    for here in reversed(walk.positions):
        record = graph.records[here]
        if here in walk.kept:
            break
        if record.type == "assistant" and (told := told_tokens(record)):
            return told + since
        if graph.is_main(here):
            since += size_of(graph, here)
    return estimate_request(request_at(view, caller))


def request_at(view: GraphView, caller: Caller) -> ModelRequest:
    """The next request at a view."""
    return build_request(
        view,
        model=caller.model,
        system=caller.system,
        tools=caller.tools,
        max_tokens=caller.max_tokens,
    )


def write(
    conversation: Conversation,
    caller: Caller,
    summary: str,
    kept: Sequence[int],
    files: Sequence[tuple[str, str]] = (),
) -> Written:
    """The records that put `summary` in the place of everything but what is kept.

    `kept` are positions, oldest first; `files` are paths with their text. Nothing is appended.
    """
    graph, envelope = conversation.view.graph, conversation.envelope
    prompt_id = new_uuid()
    boundary = envelope.compact_boundary(conversation.leaf, {})
    prompt = last_request(graph, conversation.view.leaf)
    prompt = None if prompt in kept else prompt
    content = _summary_content(graph, summary, prompt)
    following = [
        envelope.compact_summary(boundary.uuid or "", content, prompt_id=prompt_id),
    ]
    for path, text in files:
        following.append(
            envelope.prompt(
                following[-1].uuid,
                [{"type": "text", "text": f"{_FILE_AGAIN} {path}\n{text}"}],
                prompt_id=prompt_id,
                permission_mode="",
                meta=True,
            )
        )
    kept_records = [graph.records[here] for here in kept]
    if kept_records:
        uuids = [record.uuid for record in kept_records]
        listed = {"anchorUuid": following[-1].uuid, "uuids": uuids}
        boundary = with_metadata(boundary, {"preservedMessages": listed})
    after = MessageGraph([*kept_records, boundary, *following])
    view = GraphView(after, len(after.records), len(after.records) - 1)
    return Written(boundary, tuple(following), request_at(view, caller))


def _summary_content(
    graph: MessageGraph, summary: str, last_prompt: int | None
) -> str | list[JsonObject]:
    opening = _OPENING + summary
    if last_prompt is None:
        return opening
    blocks = [b for b in request_blocks(graph, last_prompt) if b.get("type") != "tool_result"]
    return [
        {"type": "text", "text": opening},
        {"type": "text", "text": _LAST_REQUEST},
        *blocks,
    ]


def with_metadata(boundary: Record, more: Mapping[str, Any]) -> Record:
    """The boundary with more `compactMetadata` in front of what it has."""
    data = dict(boundary.data)
    data["compactMetadata"] = {**more, **data["compactMetadata"]}
    return new_record(data)


def metadata(
    view: GraphView,
    draft: Draft,
    trigger: str,
    tokens_before: int,
    tokens_after: int,
    kept: Iterable[int],
) -> JsonObject:
    """What a boundary says of its compaction."""
    graph = view.graph
    dropped = max(tokens_before - tokens_after, 0)
    return {
        "trigger": trigger,
        "preTokens": tokens_before,
        "postTokens": tokens_after,
        "cumulativeDroppedTokens": _dropped_before(view) + dropped,
        "durationMs": round(draft.seconds * 1000),
        "messagesSummarized": count_messages(graph, set(draft.plan.summarised) - set(kept)),
        "precomputed": draft.ahead,
        "preCompactDiscoveredTools": [],
        "summaryModel": draft.model,
        "summaryUsage": usage_in_record(draft.usage),
    }


def _dropped_before(view: GraphView) -> int:
    boundary = walk_from(view.graph, view.leaf).boundary
    if boundary is None:
        return 0
    found = view.graph.records[boundary].data.get("compactMetadata")
    value = cast("JsonObject", found).get("cumulativeDroppedTokens") if found else None
    return value if isinstance(value, int) else 0


def biggest_item(view: GraphView, caller: Caller) -> str:
    """The largest thing that the next request carries, in words."""
    graph = view.graph
    found = [(estimate_content(caller.system) + _tools_size(caller), "what is sent with each call")]
    walk = walk_from(graph, view.leaf).positions
    found += [(size_of(graph, here), _in_words(graph, here)) for here in walk]
    tokens, words = max(found, key=lambda each: each[0])
    return f"{words} (about {tokens:,} tokens)"


def _tools_size(caller: Caller) -> int:
    return sum(estimate_text(json.dumps(tool)) for tool in caller.tools)


def _in_words(graph: MessageGraph, here: int) -> str:
    record = graph.records[here]
    if record.tool_results:
        name = _tool_name(graph, record.tool_results[0])
        return f"the result of a call of {name}" if name else "the result of a tool call"
    if record.type == "user" and user_kind(record, record.data) == "compact_summary":
        return "the summary with the last request"
    words = " ".join((typed_text(record.data) or text_of(record.data)).split())
    who = "a reply" if record.type == "assistant" else "the message"
    return f"{who} “{cut(words, 40)}”" if words else who


def _tool_name(graph: MessageGraph, tool_id: str) -> str:
    for record in graph.records:
        if tool_id in record.tool_uses:
            for block in blocks_of(content_of(record.data)):
                if block.get("id") == tool_id:
                    return str(block.get("name") or "")
    return ""


def guessed_after(after: ModelRequest, before: ModelRequest, tokens_before: int) -> int:
    """Tokens of a request, guessed and corrected by how far the guess is off for a known one."""
    guessed = estimate_request(before)
    return round(estimate_request(after) * (tokens_before / guessed if guessed else 1.0))


def cut_to_tokens(text: str, tokens: int) -> str:
    """The beginning of a text that is about so many tokens long, whole lines."""
    if estimate_text(text) <= tokens:
        return text
    lines: list[str] = []
    left = tokens
    for line in text.split("\n"):
        left -= estimate_text(line + "\n")
        if left < 0:
            break
        lines.append(line)
    return "\n".join([*lines, "(The file goes on; read it for the rest.)"])
