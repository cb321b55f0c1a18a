"""New records in the key order of the format's newest version (transcripts.md, a4)."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from app.clock import Clock, timestamp
from app.sessions.records import JsonObject, Record, new_record

VERSION = "0.1.0"
"""Written as `version` into every record of ours."""


def is_ours(data: JsonObject) -> bool:
    """Whether a record was written by this program; Claude Code's versions begin with 1."""
    return str(data.get("version") or "").startswith("0.")


def new_uuid() -> str:
    """A random uuid, as records name each other."""
    return str(uuid.uuid4())


@dataclass(slots=True)
class Envelope:
    """Makes the records of one session; `cwd` and `branch` are read anew for each record."""

    session_id: str
    clock: Clock
    cwd: Callable[[], str]
    branch: Callable[[], str]
    entrypoint: str = "cli"

    def prompt(
        self,
        parent: str | None,
        content: str | list[JsonObject],
        *,
        prompt_id: str,
        permission_mode: str,
        source: str = "typed",
        meta: bool = False,
    ) -> Record:
        """What the person said, or with `meta` what the app says in the person's place."""
        data = self._head(parent, "user", prompt_id)
        data["message"] = {"role": "user", "content": content}
        if meta:
            data["isMeta"] = True
        self._stamp(data)
        if not meta:
            data |= {
                "permissionMode": permission_mode,
                "origin": {"kind": "human"},
                "promptSource": source,
            }
        return self._finish(data)

    def tool_result(
        self,
        parent: str | None,
        result: JsonObject,
        *,
        prompt_id: str,
        details: Mapping[str, Any] | str | None,
        assistant_uuid: str,
        denial: str | None = None,
    ) -> Record:
        """The result of one tool_use; `details` is what the card shows (`toolUseResult`)."""
        data = self._head(parent, "user", prompt_id)
        data["message"] = {"role": "user", "content": [result]}
        self._stamp(data)
        if details is not None:
            data["toolUseResult"] = details
        if denial is not None:
            data["toolDenialKind"] = denial
        data["sourceToolAssistantUUID"] = assistant_uuid
        return self._finish(data)

    def assistant(
        self,
        parent: str | None,
        message: JsonObject,
        *,
        request_id: str | None,
        aborted: bool = False,
    ) -> Record:
        """One content block of a reply; `message` is the API's message with that block alone."""
        data: JsonObject = {"parentUuid": parent, "isSidechain": False, "message": message}
        if request_id is not None:
            data["requestId"] = request_id
        data["type"] = "assistant"
        self._stamp(data)
        if aborted:
            data["isAbortedMidStream"] = True
        return self._finish(data)

    def system(self, parent: str | None, subtype: str, payload: JsonObject) -> Record:
        """An event of the conversation that is neither of the two speakers."""
        data: JsonObject = {
            "parentUuid": parent,
            "isSidechain": False,
            "type": "system",
            "subtype": subtype,
            **payload,
        }
        self._stamp(data)
        return self._finish(data)

    def compact_boundary(self, logical_parent: str | None, metadata: JsonObject) -> Record:
        """Where later requests begin; what came before stays in the file (transcripts.md, a8)."""
        data: JsonObject = {
            "parentUuid": None,
            "logicalParentUuid": logical_parent,
            "isSidechain": False,
            "type": "system",
            "subtype": "compact_boundary",
            "content": "Conversation compacted",
            "isMeta": False,
        }
        self._stamp(data)
        data |= {"level": "info", "compactMetadata": metadata}
        return self._finish(data)

    def compact_summary(
        self, parent: str | None, content: str | list[JsonObject], *, prompt_id: str
    ) -> Record:
        """What later requests carry in the place of what was summed up."""
        data = self._head(parent, "user", prompt_id)
        data |= {
            "message": {"role": "user", "content": content},
            "isVisibleInTranscriptOnly": True,
            "isCompactSummary": True,
        }
        self._stamp(data)
        return self._finish(data)

    def metadata(self, kind: str, **fields: Any) -> Record:
        """A record about the session, of which the last one of its kind counts."""
        return new_record({"type": kind, **fields, "sessionId": self.session_id})

    def _head(self, parent: str | None, kind: str, prompt_id: str) -> JsonObject:
        return {"parentUuid": parent, "isSidechain": False, "promptId": prompt_id, "type": kind}

    def _stamp(self, data: JsonObject) -> None:
        data["uuid"] = new_uuid()
        data["timestamp"] = timestamp(self.clock.now())

    def _finish(self, data: JsonObject) -> Record:
        data |= {
            "userType": "external",
            "entrypoint": self.entrypoint,
            "cwd": self.cwd(),
            "sessionId": self.session_id,
            "version": VERSION,
            "gitBranch": self.branch(),
        }
        return new_record(data)
