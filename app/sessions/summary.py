"""What a transcript amounts to: its title, its usage, and what was wrong with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

from app.sessions.codec import Parsed
from app.sessions.graph import MessageGraph
from app.sessions.prompts import typed_text, user_kind
from app.sessions.records import JsonObject, Record


@dataclass(frozen=True, slots=True)
class Warning:  # noqa: A001 - the word of spec/cli.md
    """One kind of damage, how often it occurs, and a sentence that names the places."""

    kind: str
    count: int
    detail: str


_FLAW_SENTENCES = {
    "torn_line": "the last record is incomplete and was left out",
    "corrupt_line": "a part that could not be read was left out",
    "glued_line": "several records stood on one line and were told apart",
}


def warnings_of(parsed: Parsed, graph: MessageGraph) -> tuple[Warning, ...]:
    """Everything that was repaired or left out when a transcript was read (spec/cli.md)."""
    found: list[Warning] = []
    for kind, sentence in _FLAW_SENTENCES.items():
        lines = [flaw.line for flaw in parsed.flaws if flaw.kind == kind]
        if lines:
            found.append(Warning(kind, len(lines), f"{_places(lines)}: {sentence}"))
    defects = graph.defects()
    if defects.duplicate_uuids:
        detail = "records written twice under one uuid; the last one counts"
        found.append(Warning("duplicate_uuid", defects.duplicate_uuids, detail))
    if defects.cycles:
        found.append(Warning("cycle", defects.cycles, "parent links that ran in a circle were cut"))
    if defects.orphan_parents:
        detail = "records whose parent is missing; the gap was bridged to the record before"
        found.append(Warning("orphan_parent", defects.orphan_parents, detail))
    return tuple(found)


def _places(lines: list[int]) -> str:
    shown = ", ".join(str(line) for line in lines[:5]) + (" …" if len(lines) > 5 else "")
    return f"line {shown}" if len(lines) == 1 else f"lines {shown}"


def message_usages(graph: MessageGraph) -> Iterable[tuple[Record, JsonObject]]:
    """The usage of every reply, once a message: the last line of each message id counts."""
    for members in graph.messages.values():
        if not members:
            continue
        record = graph.records[max(members)]
        message = record.data.get("message")
        usage = cast("JsonObject", message).get("usage") if isinstance(message, dict) else None
        if isinstance(usage, dict) and not record.is_synthetic:
            yield record, cast("JsonObject", usage)


def moment_of(record: Record) -> datetime | None:
    """When a record says it was written, None when it does not."""
    try:
        moment = datetime.fromisoformat(record.timestamp or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def title_from(records: Iterable[Record]) -> str:
    """The session's title: the person's own, else a made one, else the first prompt (200 cut)."""
    own = made = first = ""
    for record in records:
        if record.type == "custom-title":
            own = str(record.data.get("customTitle") or "")
        elif record.type == "ai-title":
            made = str(record.data.get("aiTitle") or "")
        elif not first and record.type == "user" and not record.sidechain:
            data = record.data
            if user_kind(record, data) == "prompt":
                first = " ".join(typed_text(data).split())[:200]
    return own or made or first


def kinds_of_users(graph: MessageGraph) -> Counter[str]:
    """How many records of each user kind the conversation has."""
    return Counter(
        user_kind(graph.records[here], graph.records[here].data)
        for here in graph.position.values()
        if graph.records[here].type == "user" and graph.is_main(here)
    )
