"""What the last turn of a conversation said and did, read from its records alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, cast

from app.sessions.graph import GraphView, MessageGraph, Path
from app.sessions.prompts import (
    CUT_OFF_RESULT,
    blocks_of,
    content_of,
    text_of,
    typed_text,
    user_kind,
)
from app.sessions.records import JsonObject, Record

End: TypeAlias = Literal["", "interrupted", "cut_off", "failed", "declined"]

MOST_READ: Final = 2_000_000
"""Bytes of a turn's records that are decoded, the newest first; what was made in this process and
is decoded already does not count."""
_BEHIND: Final = 16
"""Records behind the last message that are searched for events."""
_REFUSED_BY_PERSON: Final = "User rejected tool use"
"""The `toolUseResult` of a call that the person did not allow (transcripts.md, a5)."""


@dataclass(slots=True)
class Call:
    """One tool call of the turn, with its result once there is one."""

    name: str
    arguments: JsonObject
    answered: bool = False
    failed: bool = False
    denied: Literal["", "person", "rule"] = ""
    """Who did not let it run."""
    result: str = ""
    """The text that the model got."""
    details: JsonObject = field(default_factory=dict[str, object])
    """What `toolUseResult` says, where that is an object."""


@dataclass(slots=True)
class Turn:
    """The records from the last real prompt to the end of the branch."""

    prompt: str = ""
    mode: str = ""
    """The permission mode in which the prompt was sent."""
    calls: list[Call] = field(default_factory=list[Call])
    """Oldest first."""
    said: str = ""
    """The last message that has text, all of its text."""
    reply: str = ""
    """What was said after the last call; empty when the turn ended with one."""
    end: End = ""
    """How it broke off, as the records tell it."""
    trouble: str = ""
    """The sentence that came with that."""
    is_whole: bool = True
    """Whether all records were read."""


def last_turn(view: GraphView) -> Turn | None:
    """The last turn at a view, None when nothing was asked yet.

    Records before the last real prompt are not touched, and of one turn not more than `MOST_READ`.
    """
    graph = view.graph
    walked: list[int] = []
    for here in graph.walk(view.leaf):
        walked.append(here)
        if _is_prompt(graph, here):
            break
    else:
        return None
    walked.reverse()
    return _Reader(graph).read([*walked, *_events_behind(view)])


def _events_behind(view: GraphView) -> list[int]:
    """What was noted about the turn behind its last message, which is where a branch ends."""
    graph, leaf = view.graph, view.leaf
    if leaf is None:
        return []
    near = range(leaf + 1, min(view.length, leaf + 1 + _BEHIND))
    parents, found = {graph.records[leaf].uuid}, list[int]()
    for here in near:
        record = graph.records[here]
        if record.type == "system" and record.parent in parents:
            parents.add(record.uuid)
            found.append(here)
    return found


def _is_prompt(graph: MessageGraph, here: int) -> bool:
    record = graph.records[here]
    if record.type != "user" or record.tool_results or not graph.is_main(here):
        return False
    return user_kind(record, record.data) == "prompt"


def _with_parallel(graph: MessageGraph, walked: list[int]) -> list[int]:
    """The walk with the blocks and results of parallel calls that it misses (quirk 1)."""
    path = Path(graph, walked)
    found: dict[int, None] = {}
    for here in walked:
        found[here] = None
        if graph.records[here].type != "assistant":
            continue
        for member in path.message(here):
            if member not in path.on_it:
                found[member] = None
            for tool_id in graph.records[member].tool_uses:
                results = graph.results.get(tool_id, ())
                beside = (r for r in results if r not in path.on_it and path.has(r))
                found |= dict.fromkeys(beside)
    return [here for here in found if graph.is_main(here)]


class _Reader:
    def __init__(self, graph: MessageGraph) -> None:
        self.graph = graph
        self.turn = Turn()
        self.by_id: dict[str, Call] = {}
        self.message: str | None = None

    def read(self, walked: list[int]) -> Turn:
        prompt, *rest = _with_parallel(self.graph, walked)
        data = self.graph.records[prompt].data
        self.turn.prompt = typed_text(data)
        mode = data.get("permissionMode")
        self.turn.mode = mode if isinstance(mode, str) else ""
        for record in self._affordable(rest):
            if record.uuid in self.graph.retracted:
                continue
            if record.type == "assistant":
                self._assistant(record)
            elif record.type == "user":
                self._user(record)
            elif record.type == "system":
                self._system(record)
        return self.turn

    def _affordable(self, positions: list[int]) -> list[Record]:
        left, taken = MOST_READ, list[Record]()
        for here in reversed(positions):
            record = self.graph.records[here]
            size = 0 if record.decoded is not None else record.stop - record.start
            if size > left:
                self.turn.is_whole = False
            else:
                left -= size
                taken.append(record)
        return taken[::-1]

    def _assistant(self, record: Record) -> None:
        turn = self.turn
        if record.is_synthetic:
            turn.end, turn.trouble = "failed", text_of(record.data)
            return
        turn.end, turn.trouble = "", ""
        for block in blocks_of(content_of(record.data)):
            if block.get("type") == "tool_use":
                arguments = block.get("input")
                fields = cast("JsonObject", arguments) if isinstance(arguments, dict) else {}
                call = Call(str(block.get("name") or ""), fields)
                self.by_id[str(block.get("id"))] = call
                turn.calls.append(call)
                turn.reply = ""
            elif block.get("type") == "text":
                self._said(record, block.get("text"))

    def _said(self, record: Record, text: object) -> None:
        if not isinstance(text, str) or not text.strip():
            return
        turn = self.turn
        goes_on = record.message_id is not None and record.message_id == self.message
        self.message = record.message_id
        turn.said = f"{turn.said}\n\n{text}" if goes_on and turn.said else text
        turn.reply = f"{turn.reply}\n\n{text}" if goes_on and turn.reply else text

    def _user(self, record: Record) -> None:
        data = record.data
        if not record.tool_results:
            if user_kind(record, data) == "interrupt":
                self.turn.end = "interrupted"
            return
        for block in blocks_of(content_of(data)):
            call = self.by_id.get(str(block.get("tool_use_id")))
            if call is None or block.get("type") != "tool_result":
                continue
            details = data.get("toolUseResult")
            call.answered = True
            call.failed = block.get("is_error") is True
            call.result = _result_text(block.get("content"))
            call.details = cast("JsonObject", details) if isinstance(details, dict) else {}
            if details == _REFUSED_BY_PERSON:
                call.denied = "person"
            elif data.get("toolDenialKind") is not None:
                call.denied = "rule"
            if call.result.endswith(CUT_OFF_RESULT):
                self.turn.end = "cut_off"

    def _system(self, record: Record) -> None:
        if record.subtype not in {"api_error", "api_refusal"}:
            return
        content = record.data.get("content")
        self.turn.end = "failed" if record.subtype == "api_error" else "declined"
        self.turn.trouble = content if isinstance(content, str) else ""


def _result_text(content: object) -> str:
    if isinstance(content, str):
        return content
    texts = (block.get("text") for block in blocks_of(content))
    return "\n".join(text for text in texts if isinstance(text, str))
