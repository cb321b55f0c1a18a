"""How a session stands after its last turn, as the list of sessions says it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from app.sessions.graph import GraphView
from app.sessions.prompts import blocks_of, content_of, text_of, user_kind
from app.sessions.records import Record

Status: TypeAlias = Literal["complete", "waiting", "interrupted", "empty", "unreadable", "open"]
"""`open`: a living process has it; `interrupted`: the last turn has no answer; `waiting`: it ends
in a question to the person."""

_PASSED_OVER = frozenset({"echo", "meta", "machine", "empty", "compact_summary"})


def status_of(view: GraphView) -> Status:
    """The status of a session that was read whole, on the branch in use."""
    return last_turn(view.graph.records[here] for here in view.graph.walk(view.leaf))


def last_turn(newest_first: Iterable[Record]) -> Status:
    """The status by the newest records; what is no part of the talk is passed over.

    Whether the last word is the model's and asks for nothing more decides.
    """
    for record in newest_first:
        if record.type == "assistant":
            if not _is_answer(record):
                return "interrupted"
            return "waiting" if _asks(record) else "complete"
        if record.type == "user" and (
            record.tool_results or user_kind(record, record.data) not in _PASSED_OVER
        ):
            return "interrupted"
    return "empty"


def _asks(record: Record) -> bool:
    """Whether a reply's last line is a question; what is quoted, code or a heading is none."""
    last = text_of(record.data).rstrip().rpartition("\n")[2].strip("*_ ")
    return last.endswith(("?", "？")) and not last.startswith((">", "#", "`"))


def _is_answer(record: Record) -> bool:
    if record.is_synthetic or record.tool_uses:
        return False
    kinds = {block.get("type") for block in blocks_of(content_of(record.data))}
    return not kinds <= {"thinking", "redacted_thinking"}
