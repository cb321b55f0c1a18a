"""Makes records in our format out of another tool's session (transcripts.md, a4 to a8)."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from app.sessions.catalogue import is_session_id
from app.sessions.codec import Flaw, Parsed
from app.sessions.foreign.detect import Origin
from app.sessions.records import JsonObject, Record, new_record

_NAMES = uuid.uuid5(uuid.NAMESPACE_URL, "reverie:foreign-session")


class Source(NamedTuple):
    """One JSON object of the source, and where it stands."""

    line: int
    data: JsonObject


class At(NamedTuple):
    """Where and when the source says something."""

    line: int
    timestamp: str | None


def read_objects(parsed: Parsed) -> tuple[list[Source], list[Flaw]]:
    """The objects of a file in file order; one that cannot be decoded becomes a flaw."""
    sources: list[Source] = []
    flaws: list[Flaw] = []
    for record in parsed.records:
        try:
            sources.append(Source(record.line, record.data))
        except (ValueError, RecursionError):
            flaws.append(Flaw("corrupt_line", record.line))
    return sources, flaws


def session_id_for(origin: Origin, own: str) -> str:
    """The id of a session: the source's own where that is a UUID, else one made of it."""
    return own if is_session_id(own) else str(uuid.uuid5(_NAMES, f"{origin} {_plain(own)}"))


def without(data: JsonObject, *keys: str) -> JsonObject:
    """What of an object has no place in our format; empty values are no loss."""
    return {key: value for key, value in data.items() if key not in keys and value is not None}


@dataclass(slots=True)
class Chain:
    """The records of one converted session, in the order of the source.

    uuids are made of the session id and a key of the source, so that the same file always gives
    the same ones. The dictionaries may still be changed until `parsed` is called.
    """

    origin: Origin
    session_id: str
    version: str = ""
    cwd: str = ""
    branch: str = ""
    drafts: list[tuple[int, JsonObject]] = field(default_factory=list[tuple[int, JsonObject]])

    def uuid(self, key: str) -> str:
        """The uuid of what the source calls `key`."""
        return str(uuid.uuid5(uuid.UUID(self.session_id), _plain(key)))

    def user(
        self,
        key: str,
        parent: str | None,
        content: str | list[JsonObject],
        at: At,
        *,
        original: JsonObject | None = None,
        **marks: object,
    ) -> JsonObject:
        """What stands in the person's place; `marks` are further keys, as `isMeta`."""
        body: JsonObject = {
            "type": "user",
            "message": {"role": "user", "content": content},
            **marks,
        }
        return self._node(key, parent, body, at, original)

    def assistant(
        self,
        key: str,
        parent: str | None,
        message: JsonObject,
        at: At,
        *,
        original: JsonObject | None = None,
        **marks: object,
    ) -> JsonObject:
        """One block of a reply; `message` is the API's message with that block alone."""
        body: JsonObject = {"message": message, "type": "assistant", **marks}
        return self._node(key, parent, body, at, original)

    def system(
        self,
        key: str,
        parent: str | None,
        subtype: str,
        content: str,
        at: At,
        *,
        original: JsonObject | None = None,
        **marks: object,
    ) -> JsonObject:
        """An event of the conversation that is never sent."""
        body: JsonObject = {"type": "system", "subtype": subtype, "content": content, **marks}
        return self._node(key, parent, body, at, original)

    def compaction(
        self,
        key: str,
        before: str | None,
        summary: str,
        at: At,
        *,
        pre_tokens: int = 0,
        original: JsonObject | None = None,
    ) -> tuple[JsonObject, JsonObject]:
        """A compact boundary behind `before`, and its summary (transcripts.md, a8)."""
        boundary = self.system(
            key,
            None,
            "compact_boundary",
            "Conversation compacted",
            at,
            level="info",
            isMeta=False,
            compactMetadata={"trigger": "auto", "preTokens": pre_tokens},
            original=original,
        )
        boundary["logicalParentUuid"] = before
        made = self.user(
            f"{key}#summary",
            boundary["uuid"],
            summary,
            at,
            isVisibleInTranscriptOnly=True,
            isCompactSummary=True,
        )
        return boundary, made

    @staticmethod
    def keep(boundary: JsonObject, summary: JsonObject, uuids: list[str]) -> None:
        """Note which messages a compaction kept word for word, oldest first."""
        if uuids:
            kept = {"anchorUuid": summary["uuid"], "uuids": uuids}
            boundary["compactMetadata"]["preservedMessages"] = kept

    def title(self, text: str, line: int) -> None:
        """The name that the person gave to the session."""
        fields = {"type": "custom-title", "customTitle": text, "sessionId": self.session_id}
        self.drafts.append((line, fields))

    def aside(self, source: Source, kind: object) -> None:
        """Keep an object that has no place in our format, outside of the conversation."""
        name = kind if isinstance(kind, str) and kind else "record"
        fields = {
            "type": f"{self.origin}:{name}",
            "original": source.data,
            "sessionId": self.session_id,
        }
        self.drafts.append((source.line, fields))

    def parsed(self, flaws: Iterable[Flaw]) -> Parsed:
        """Everything, serialised, with the flaws of the source's lines."""
        records: list[Record] = []
        found = list(flaws)
        for line, data in self.drafts:
            try:
                records.append(msgspec.structs.replace(new_record(data), line=line))
            except RecursionError:
                found.append(Flaw("corrupt_line", line))
        return Parsed(tuple(records), tuple(found))

    def _node(
        self,
        key: str,
        parent: str | None,
        body: JsonObject,
        at: At,
        original: JsonObject | None,
    ) -> JsonObject:
        data: JsonObject = {
            "parentUuid": parent,
            "isSidechain": False,
            **body,
            "uuid": self.uuid(key),
            "timestamp": at.timestamp,
            "userType": "external",
            "entrypoint": self.origin,
            "cwd": self.cwd,
            "sessionId": self.session_id,
            "version": self.version,
            "gitBranch": self.branch,
        }
        if original:
            data["original"] = original
        self.drafts.append((at.line, data))
        return data


def _plain(text: str) -> str:
    """The text without lone surrogates, which have no UTF-8 form to be hashed."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
