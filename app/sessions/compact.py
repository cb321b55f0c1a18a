"""What a compaction summarises and what it keeps word for word (spec/sessions.md, Compact)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import cast

from app.sessions.graph import MessageGraph
from app.sessions.history import logical_chain
from app.sessions.kept import walk_from
from app.sessions.prompts import blocks_of, content_of, user_kind
from app.sessions.records import JsonObject

KEPT_SHARE = 4
"""At most a quarter of what is compacted is kept."""

_OPENS_TURN = frozenset({"prompt", "machine", "echo"})


@dataclass(frozen=True, slots=True)
class Plan:
    """Positions of one branch, oldest first."""

    summarised: tuple[int, ...]
    kept: tuple[int, ...]
    """The last whole turns that fit the budget."""

    @property
    def covered(self) -> frozenset[int]:
        """All records that this plan knows of."""
        return frozenset((*self.summarised, *self.kept))


def plan_compaction(
    graph: MessageGraph,
    leaf: int | None,
    size: Callable[[int], int],
    budget: int,
) -> Plan:
    """Split the branch that ends in `leaf`.

    `size` gives the tokens of a record; at most `budget` tokens of whole turns are kept.
    """
    chain = logical_chain(graph, walk_from(graph, leaf))
    turns = _turns(graph, chain)
    left = min(budget, sum(size(here) for here in chain) // KEPT_SHARE)
    first_kept = len(turns)
    while first_kept > 0:
        turn = turns[first_kept - 1]
        left -= sum(size(here) for here in turn)
        if left < 0 or any(_is_summary(graph, here) for here in turn):
            break
        first_kept -= 1
    kept = tuple(here for turn in turns[first_kept:] for here in turn)
    summarised = tuple(here for turn in turns[:first_kept] for here in turn)
    return Plan(summarised, kept)


def has_something_to_say(graph: MessageGraph, plan: Plan) -> bool:
    """Whether there is anything to summarise: a summary alone is not summarised again."""
    return any(graph.records[here].type == "assistant" for here in plan.summarised)


def _turns(graph: MessageGraph, chain: Iterable[int]) -> list[list[int]]:
    """Records by turn, each from its prompt on; a call and its result are never parted."""
    turns: list[list[int]] = []
    for here in chain:
        record = graph.records[here]
        opens = record.type == "user" and user_kind(record, record.data) in _OPENS_TURN
        if opens or not turns:
            turns.append([])
        turns[-1].append(here)
    return turns


def _is_summary(graph: MessageGraph, here: int) -> bool:
    record = graph.records[here]
    return record.type == "user" and user_kind(record, record.data) == "compact_summary"


def last_request(graph: MessageGraph, leaf: int | None) -> int | None:
    """The person's last prompt on a branch, also one from before an earlier compaction."""
    for here in graph.walk(leaf):
        record = graph.records[here]
        if record.uuid in graph.retracted:
            continue
        if record.type == "user" and user_kind(record, record.data) == "prompt":
            return here
        if record.type == "attachment" and queued_prompt(record.data):
            return here
    return None


def queued_prompt(data: JsonObject) -> list[JsonObject]:
    """The blocks of a prompt that was typed while a turn ran; empty for any other attachment."""
    attachment = data.get("attachment")
    fields = cast("JsonObject", attachment) if isinstance(attachment, dict) else {}
    return blocks_of(fields.get("prompt")) if fields.get("type") == "queued_command" else []


def request_blocks(graph: MessageGraph, prompt: int) -> list[JsonObject]:
    """The blocks of a prompt, as they were sent."""
    data = graph.records[prompt].data
    return queued_prompt(data) or blocks_of(content_of(data))


def count_messages(graph: MessageGraph, positions: Iterable[int]) -> int:
    """Messages of the conversation among these records; a reply of several records is one."""
    seen = {
        record.message_id or record.uuid
        for here in positions
        if (record := graph.records[here]).type in {"user", "assistant"}
    }
    return len(seen)


def undo_target(graph: MessageGraph, leaf: int | None) -> int | None:
    """The record before the last compaction of this branch; None without one that can be undone.

    A boundary whose earlier history is not in the file cannot (cases/B09).
    """
    boundary = walk_from(graph, leaf).boundary
    if boundary is None:
        return None
    return graph.position.get(graph.records[boundary].logical_parent or "")


def compaction_in_words(boundary: JsonObject) -> str:
    """What a compaction did, by what its boundary's record says of it."""
    found = boundary.get("compactMetadata")
    told = cast("JsonObject", found) if isinstance(found, dict) else {}
    listed = told.get("preservedMessages")
    kept = cast("JsonObject", listed).get("uuids") if isinstance(listed, dict) else None
    parts: list[str] = []
    if isinstance(count := told.get("messagesSummarized"), int):
        parts.append(f"{count} {'message' if count == 1 else 'messages'} summed up")
    if isinstance(kept, list) and kept:
        parts.append("the last turns kept word for word")
    before, after = told.get("preTokens"), told.get("postTokens")
    if isinstance(before, int) and isinstance(after, int):
        parts.append(f"{before:,} \N{RIGHTWARDS ARROW} {after:,} tokens")
    elif isinstance(before, int) and before:
        parts.append(f"{before:,} tokens before")
    return ", ".join(parts)
