"""Sessions of the pi coding agent as records of ours.

Formats 1 (linear), 2 and 3 (a tree by id and parentId): packages/coding-agent/docs/session.md and
src/core/session-manager.ts of badlogic/pi-mono. Every entry is a node of pi's tree; those that are
no message are kept aside, and what hangs on them hangs on the message above.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from app.sessions.codec import Parsed, parse_transcript
from app.sessions.foreign.chain import (
    At,
    Chain,
    Source,
    read_objects,
    session_id_for,
    without,
)
from app.sessions.foreign.pi_messages import (
    STOP_REASONS,
    blocks_from,
    reply_block,
    reply_parts,
    shell_output,
    tool_result,
    unread,
    usage_from,
)
from app.sessions.foreign.values import number_at, object_at, text_at, text_block
from app.sessions.records import SYNTHETIC_MODEL, JsonObject

_ENTRY_KEYS = ("type", "id", "parentId", "timestamp", "message")
_BRANCH_SUMMARY = "Summary of a branch that this conversation came back from:\n\n"
_NO_SUMMARY = "(pi compacted the conversation here and left no summary.)"


def convert_pi(content: bytes) -> Parsed:
    """The records of a session, and what was wrong with its lines. Nothing is left out."""
    parsed = parse_transcript(content)
    sources, flaws = read_objects(parsed)
    converter = _Converter(sources)
    for entry in converter.entries:
        converter.take(entry)
    converter.link()
    return converter.chain.parsed((*parsed.flaws, *flaws))


class _Entry(NamedTuple):
    """An entry with its place in the tree, which files of format 1 do not name."""

    id: str
    parent: str | None
    source: Source


def _entries(sources: list[Source], *, linear: bool) -> Iterator[_Entry]:
    before: str | None = None
    for number, source in enumerate(sources):
        data = source.data
        if data.get("type") == "session":
            yield _Entry(f"header {number}", None, source)
            continue
        own = "" if linear else text_at(data, "id")
        named = not linear and ("parentId" in data)
        entry = _Entry(
            own or f"entry {number}",
            (text_at(data, "parentId") or None) if named else before,
            source,
        )
        before = entry.id
        yield entry


class _Converter:
    def __init__(self, sources: list[Source]) -> None:
        headers = [source.data for source in sources if source.data.get("type") == "session"]
        header = headers[0] if headers else JsonObject()
        version = number_at(header, "version") or 1
        has_tree = any("parentId" in source.data for source in sources)
        self.chain = Chain(
            "pi",
            session_id_for("pi", text_at(header, "id") or repr(sources[:1])),
            version=str(version),
            cwd=text_at(header, "cwd"),
        )
        self.entries = tuple(_entries(sources, linear=version < 2 and not has_tree))
        self.parents = {entry.id: entry.parent for entry in self.entries}
        self.made: list[tuple[_Entry, list[JsonObject]]] = []
        """Each entry with its records that are in the conversation, in order."""
        self.records: dict[str, list[JsonObject]] = {}
        """The same by the entry's id."""
        self.above: dict[str, str | None] = {}

    def take(self, entry: _Entry) -> None:
        """Make the records of an entry; what they hang on comes later (`link`)."""
        data = entry.source.data
        at = At(entry.source.line, text_at(data, "timestamp") or None)
        start = len(self.chain.drafts)
        kind = text_at(data, "type")
        rest = without(data, *_ENTRY_KEYS)
        if kind == "message":
            self._message(entry, object_at(data, "message"), at, rest)
        elif kind == "compaction":
            self._compaction(entry, at)
        elif kind == "custom_message":
            self._meta(entry, data, at, without(rest, "content"))
        elif kind == "branch_summary" and text_at(data, "summary"):
            text = _BRANCH_SUMMARY + text_at(data, "summary")
            self._meta(entry, {"content": text}, at, without(rest, "summary"))
        made = [draft for _, draft in self.chain.drafts[start:]]
        self.made.append((entry, made))
        self.records[entry.id] = made
        if kind == "session_info" and text_at(data, "name"):
            self.chain.title(text_at(data, "name"), at.line)
        if not made:
            self.chain.aside(entry.source, kind)

    # messages

    def _message(self, entry: _Entry, message: JsonObject, at: At, rest: JsonObject) -> None:
        rest |= without(message, "role", "content")
        match message.get("role"):
            case "user":
                self._user(entry, message, at, rest)
            case "assistant":
                self._reply(entry, message, at, rest)
            case "toolResult" if text_at(message, "toolCallId"):
                rest = without(rest, "toolCallId", "isError") | unread(message)
                self.chain.user(entry.id, None, [tool_result(message)], at, original=rest)
            case "bashExecution":
                self._shell(entry, message, at, rest)
            case "custom" | "hookMessage":
                self._meta(entry, message, at, rest)
            case "branchSummary" | "compactionSummary":
                content = {"content": message.get("summary")}
                self._meta(entry, content, at, without(rest, "summary"))
            case _:
                pass

    def _user(
        self, entry: _Entry, holder: JsonObject, at: At, rest: JsonObject, **marks: object
    ) -> None:
        blocks = blocks_from(holder.get("content"))
        if not blocks:
            return
        only_text = len(blocks) == 1 and blocks[0]["type"] == "text"
        content = text_at(blocks[0], "text") if only_text else blocks
        self.chain.user(entry.id, None, content, at, original=rest | unread(holder), **marks)

    def _meta(self, entry: _Entry, holder: JsonObject, at: At, rest: JsonObject) -> None:
        self._user(entry, holder, at, rest, isMeta=True)

    def _reply(self, entry: _Entry, message: JsonObject, at: At, rest: JsonObject) -> None:
        rest = without(rest, "model", "stopReason", "errorMessage")
        made = [reply_block(part) for part in reply_parts(message)]
        left = [rest_of_part for _, rest_of_part in made if rest_of_part]
        if left:
            rest["parts"] = left
        marks = {"isAbortedMidStream": True} if message.get("stopReason") == "aborted" else {}
        blocks = [block for block, _ in made if block is not None]
        for number, block in enumerate(blocks):
            body = self._reply_body(entry, message, block)
            key = f"{entry.id}#{number}" if number else entry.id
            self.chain.assistant(key, None, body, at, original=rest, **marks)
            rest = {}
        if error := text_at(message, "errorMessage"):
            body = self._reply_body(entry, message, text_block(error))
            body |= {"model": SYNTHETIC_MODEL, "id": self.chain.uuid(f"{entry.id}#error message")}
            body.pop("usage", None)
            if not blocks:
                rest |= without({"model": message.get("model")})
            key = f"{entry.id}#error" if blocks else entry.id
            self.chain.assistant(key, None, body, at, original=rest, isApiErrorMessage=True)

    def _reply_body(self, entry: _Entry, message: JsonObject, block: JsonObject) -> JsonObject:
        body: JsonObject = {
            "model": text_at(message, "model") or "unknown",
            "id": f"msg_{self.chain.uuid(entry.id)}",
            "type": "message",
            "role": "assistant",
            "content": [block],
            "stop_reason": STOP_REASONS.get(text_at(message, "stopReason")),
            "stop_sequence": None,
        }
        usage = usage_from(message)
        return body if usage is None else body | {"usage": usage}

    def _shell(self, entry: _Entry, message: JsonObject, at: At, rest: JsonObject) -> None:
        """A command that the person ran; with `!!` its output is not for the model."""
        rest = without(rest, "command", "output")
        call = f"<bash-input>{text_at(message, 'command')}</bash-input>"
        output = shell_output(message)
        if message.get("excludeFromContext") is True:
            text = f"{call}\n{output}"
            self.chain.system(entry.id, None, "local_command", text, at, original=rest)
            return
        self.chain.user(entry.id, None, call, at, original=rest)
        self.chain.user(f"{entry.id}#output", None, output, at)

    # the tree

    def _compaction(self, entry: _Entry, at: At) -> None:
        data = entry.source.data
        self.chain.compaction(
            entry.id,
            None,
            text_at(data, "summary") or _NO_SUMMARY,
            at,
            pre_tokens=number_at(data, "tokensBefore"),
            original=without(data, *_ENTRY_KEYS, "summary", "tokensBefore"),
        )

    def link(self) -> None:
        """Hang every record on the one before it, and name what compactions kept."""
        for entry, made in self.made:
            parent = self._above(entry.parent)
            for record in made:
                is_boundary = record.get("subtype") == "compact_boundary"
                record["logicalParentUuid" if is_boundary else "parentUuid"] = parent
                parent = record["uuid"]
            if entry.source.data.get("type") == "compaction" and len(made) == 2:
                self.chain.keep(made[0], made[1], self._kept(entry))

    def _above(self, entry_id: str | None) -> str | None:
        """The last record of an entry, or of the nearest one above that has any."""
        passed: dict[str, None] = {}
        found: str | None = None
        while entry_id is not None and entry_id not in passed:
            if self.records.get(entry_id):
                found = self.records[entry_id][-1]["uuid"]
                break
            if entry_id in self.above:
                found = self.above[entry_id]
                break
            if entry_id not in self.parents:
                found = self.chain.uuid(entry_id)
                break
            passed[entry_id] = None
            entry_id = self.parents[entry_id]
        self.above.update(dict.fromkeys(passed, found))
        return found

    def _kept(self, compaction: _Entry) -> list[str]:
        """The records from `firstKeptEntryId` down to the compaction, oldest first."""
        first = self._first_kept(compaction.source.data)
        if first not in self.parents:
            return []
        seen: set[str] = set()
        path: list[str] = []
        here = compaction.parent
        while here is not None and here not in seen:
            seen.add(here)
            made = self.records.get(here, [])
            if not any(record.get("subtype") == "compact_boundary" for record in made):
                path += [record["uuid"] for record in reversed(made)]
            if here == first:
                return path[::-1]
            here = self.parents.get(here)
        return []

    def _first_kept(self, data: JsonObject) -> str:
        index = data.get("firstKeptEntryIndex")
        if isinstance(index, int) and 0 <= index < len(self.entries):
            return self.entries[index].id
        return text_at(data, "firstKeptEntryId")
