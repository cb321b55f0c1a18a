"""What a transcript amounts to: its title, its usage, and what was wrong with it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

import msgspec

from app.plain_text import encodable
from app.sessions.codec import Parsed
from app.sessions.graph import MessageGraph
from app.sessions.prompts import text_of, typed_text, user_kind
from app.sessions.records import JsonObject, Record

LONGEST_TITLE = 200
"""Characters (transcripts.md, a13.6)."""

TITLE_TYPES = frozenset({"custom-title", "ai-title"})
"""Records that name a session; the person's own beats the made one."""
_NO_TITLES = ("<session-start-hook>", "<tick>", "<goal>")
_COMMAND = re.compile(r"<command-name>([^<]*)")


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


class _Usage(msgspec.Struct):
    usage: JsonObject | None = None


class _Reply(msgspec.Struct):
    message: _Usage | None = None


_reply_decoder = msgspec.json.Decoder(_Reply)


def message_usages(graph: MessageGraph) -> Iterable[tuple[Record, JsonObject]]:
    """The usage of every reply, once a message: the last line of each message id counts."""
    for members in graph.messages.values():
        if not members:
            continue
        record = graph.records[max(members)]
        usage = None if record.is_synthetic else _usage_of(record)
        if usage is not None:
            yield record, usage


def _usage_of(record: Record) -> JsonObject | None:
    try:
        reply = _reply_decoder.decode(record.raw)
    except (msgspec.MsgspecError, UnicodeDecodeError):  # read as leniently as it was parsed
        message = record.data.get("message")
        usage = cast("JsonObject", message).get("usage") if isinstance(message, dict) else None
        return cast("JsonObject", usage) if isinstance(usage, dict) else None
    return reply.message.usage if reply.message else None


def moment_of(record: Record) -> datetime | None:
    """When a record says it was written, None when it does not."""
    return moment_at(record.timestamp)


def moment_at(timestamp: str | None) -> datetime | None:
    """The moment that a record's timestamp names, None when it names none."""
    try:
        moment = datetime.fromisoformat(timestamp or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class Titles:
    """Finds a session's title among its records, taken in file order (transcripts.md, a13.6)."""

    def __init__(self) -> None:
        self.first_prompt = ""
        self._named: dict[str, str] = {}
        self._summary = ("", "")
        self._command = ""

    def name(self, kind: str, text: object, leaf: object = None) -> None:
        """A record that names the session: the last one of its kind counts."""
        if not isinstance(text, str) or not text.strip():
            return
        if kind == "summary":
            self._summary = (text, leaf if isinstance(leaf, str) else "")
        else:
            self._named[kind] = text

    def user(self, record: Record) -> None:
        """A `user` record: the first prompt counts, an echoed command where there is none."""
        if self.first_prompt or record.sidechain or record.tool_results:
            return
        data = record.data
        kind = user_kind(record, data)
        if kind == "prompt":
            text = " ".join(typed_text(data).split())
            if not text.startswith(_NO_TITLES):
                self.first_prompt = encodable(text) or "(picture)"
        elif kind == "echo" and not self._command:
            found = _COMMAND.search(text_of(data))
            self._command = found[1].strip() if found else ""

    def best(self, uuids: Container[str]) -> str:
        """The title, at most 200 characters.

        `uuids` are the session's own: a `summary` often stands in the file of another session.
        """
        named, (summary, leaf) = self._named, self._summary
        title = (
            named.get("custom-title")
            or named.get("ai-title")
            or named.get("last-prompt")
            or (summary if leaf in uuids else "")
            or self.first_prompt
            or self._command
        )
        return encodable(" ".join(title.split()))[:LONGEST_TITLE]


NAMING = {
    "custom-title": "customTitle",
    "ai-title": "aiTitle",
    "last-prompt": "lastPrompt",
    "summary": "summary",
}
"""Records that name a session, and the key with the name."""


def titles_of(records: Iterable[Record]) -> Titles:
    """What all records of a session say about its title."""
    titles = Titles()
    for record in records:
        if record.type in NAMING:
            titles.name(
                record.type, record.data.get(NAMING[record.type]), record.data.get("leafUuid")
            )
        elif record.type == "user":
            titles.user(record)
    return titles


def title_from(records: Sequence[Record]) -> str:
    """The session's title (transcripts.md, a13.6)."""
    return titles_of(records).best({record.uuid for record in records if record.uuid})


def kinds_of_users(graph: MessageGraph) -> Counter[str]:
    """How many records of each user kind the conversation has."""
    return Counter(
        user_kind(graph.records[here], graph.records[here].data)
        for here in graph.position.values()
        if graph.records[here].type == "user" and graph.is_main(here)
    )
