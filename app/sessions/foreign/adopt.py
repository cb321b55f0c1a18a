"""A session of ours out of somebody else's: the same conversation under ids of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import cast

from app.sessions.links import relinked
from app.sessions.records import JsonObject, Record, loads, new_record, parse_record


class Adoption:
    """One source becoming one session of ours; its files share the map of new ids."""

    def __init__(
        self,
        session_id: str,
        new_uuid: Callable[[], str],
        moved: Mapping[bytes, bytes] | None = None,
    ) -> None:
        """`moved` are folders that texts name, by where they were copied to (bytes of JSON)."""
        self.left_out = 0
        """Records that are nested too deeply to be written anew."""
        self._session_id = session_id
        self._new_uuid = new_uuid
        self._moved = dict(moved or {})
        self._renamed: dict[str, str] = {}

    def take(self, records: Iterable[Record]) -> list[Record]:
        """The records of one file under the new ids; see `adopt`."""
        sources = list(records)
        for record in sources:
            if record.uuid is not None and record.uuid not in self._renamed:
                self._renamed[record.uuid] = self._new_uuid()
        own = {record.session_id for record in sources if record.session_id}
        adopted: list[Record] = []
        for record in sources:
            try:
                adopted.append(self._adopted(record, own))
            except RecursionError:
                self.left_out += 1
        return adopted

    def _adopted(self, record: Record, own: set[str]) -> Record:
        data = cast("JsonObject", loads(record.raw))
        changed: JsonObject = relinked(data, self._renamed)
        if str(data.get("type")).startswith("file-history"):
            _untrust(changed)
        for key in ("sessionId", "session_id"):
            if key in changed:
                changed[key] = self._session_id
        fork = changed.get("forkedFrom")
        if isinstance(fork, dict) and cast("JsonObject", fork).get("sessionId") in own:
            changed["forkedFrom"] = {**fork, "sessionId": self._session_id}
        made = record if changed == data else new_record(changed)
        raw = made.raw
        for place, new in self._moved.items():
            raw = re.sub(place, lambda _, new=new: new, raw)
        return made if raw == made.raw else parse_record(raw)


def _untrust(history: JsonObject) -> None:
    """Take out what only this program writes about files: here somebody else says it, and a rewind
    would act on it without asking.
    """
    for key in ("left", "by", "what", "madeFolders"):
        history.pop(key, None)
    backup = history.get("backup")
    if isinstance(backup, dict):
        cast("JsonObject", backup).pop("state", None)


def adopt(
    records: Iterable[Record], *, session_id: str, new_uuid: Callable[[], str]
) -> list[Record]:
    """The records under a new session id and new uuids; they share no id with their source.

    All branches, sidechains and what lies before compactions stay, unknown keys and types too.
    A uuid that is not in the file keeps its value, and one that occurs twice stays one. A record
    that is nested too deeply to be decoded is left out.
    """
    return Adoption(session_id, new_uuid).take(records)
