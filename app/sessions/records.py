"""One line of a transcript as a typed record that keeps what it does not know.

The bytes of a record that was read are kept and written again as they were; only the fields that
order the conversation are decoded at load time (transcripts.md, a2 to a6).
"""

from __future__ import annotations

import json
from typing import Any, cast

import msgspec

CHAIN_TYPES = frozenset({"user", "assistant", "system", "attachment", "progress"})
"""Record types that are nodes of the message graph (transcripts.md, a3)."""

SYNTHETIC_MODEL = "<synthetic>"

JsonObject = dict[str, Any]


class _Block(msgspec.Struct, gc=False):
    type: str | None = None
    id: str | None = None
    tool_use_id: str | None = None


class _Message(msgspec.Struct, gc=False):
    id: str | None = None
    model: str | None = None
    content: str | list[_Block] | None = None


class _Line(msgspec.Struct, gc=False):
    type: str | None = None
    subtype: str | None = None
    uuid: str | None = None
    parent: str | None = msgspec.field(default=None, name="parentUuid")
    logical_parent: str | None = msgspec.field(default=None, name="logicalParentUuid")
    session_id: str | None = msgspec.field(default=None, name="sessionId")
    timestamp: str | None = None
    sidechain: bool = msgspec.field(default=False, name="isSidechain")
    api_error: bool = msgspec.field(default=False, name="isApiErrorMessage")
    message: _Message | None = None


_decoder = msgspec.json.Decoder(_Line)
_from_json = json.JSONDecoder(strict=False).decode  # once: making one takes as long as a short line


class Record(msgspec.Struct, frozen=True, eq=False, gc=False):
    """One JSON object of a transcript. Two records are equal only when they are the same one.

    Its bytes stay where they were read, in `source` from `start` to `stop`: all records of a file
    share one object, so that a session of 100 MB is in memory once.
    """

    source: bytes
    start: int
    stop: int
    type: str
    subtype: str | None = None
    uuid: str | None = None
    parent: str | None = None
    logical_parent: str | None = None
    session_id: str | None = None
    timestamp: str | None = None
    sidechain: bool = False
    api_error: bool = False
    message_id: str | None = None
    model: str | None = None
    tool_uses: tuple[str, ...] = ()
    tool_results: tuple[str, ...] = ()
    line: int = 0
    """The physical line it was read from, from 1; 0 for one that was made in this process."""
    decoded: JsonObject | None = None

    @property
    def raw(self) -> bytes:
        """The object as it stands in the file."""
        return self.source[self.start : self.stop]

    @property
    def data(self) -> JsonObject:
        """The whole object, as Python values.

        Of one that is nested too deeply for Python only what orders the conversation.
        """
        if self.decoded is not None:
            return self.decoded
        try:
            return cast("JsonObject", loads(self.raw))
        except RecursionError:
            return self._outline()

    def _outline(self) -> JsonObject:
        message: JsonObject = {"id": self.message_id, "model": self.model, "content": []}
        return {
            "type": self.type,
            "subtype": self.subtype,
            "uuid": self.uuid,
            "parentUuid": self.parent,
            "logicalParentUuid": self.logical_parent,
            "sessionId": self.session_id,
            "timestamp": self.timestamp,
            "isSidechain": self.sidechain,
            **({"message": message} if self.type in {"user", "assistant"} else {}),
        }

    @property
    def in_chain(self) -> bool:
        """Whether it is a node of the message graph."""
        return self.uuid is not None and self.type in CHAIN_TYPES

    @property
    def is_boundary(self) -> bool:
        """Whether it is a compact boundary."""
        return self.type == "system" and self.subtype == "compact_boundary"

    @property
    def is_synthetic(self) -> bool:
        """Whether it only looks like a reply: an API error or a text made by a program."""
        return self.api_error or self.model == SYNTHETIC_MODEL


def parse_record(raw: bytes, line: int = 0) -> Record:
    """The record in `raw`, one whole JSON object.

    Raises `ValueError` when it is not a JSON object. Fields of an unexpected type count as absent.
    """
    return parse_span(raw, memoryview(raw), 0, len(raw), line)


def parse_span(source: bytes, view: memoryview, start: int, stop: int, line: int) -> Record:
    """The record in a part of `source`, of which `view` is a view; see `parse_record`."""
    try:
        parsed = _decoder.decode(view[start:stop])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _parse_leniently(source[start:stop], line)
    return _record(source, start, stop, parsed, line)


def new_record(data: JsonObject) -> Record:
    """A record made in this process, serialised as real files are (transcripts.md, a2)."""
    try:
        raw = json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode()
    except UnicodeEncodeError:  # a lone surrogate stays an escape
        raw = json.dumps(data, separators=(",", ":")).encode()
    return _record(raw, 0, len(raw), _lenient_line(data), 0, data)


def _record(
    source: bytes,
    start: int,
    stop: int,
    line: _Line,
    number: int,
    decoded: JsonObject | None = None,
) -> Record:
    # By position and without generators: a session of 100 MB has 100 000 of them.
    message = line.message
    uses: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    if message is not None and isinstance(message.content, list):
        for block in message.content:
            if block.type == "tool_use" and block.id:
                uses = (*uses, block.id)
            elif block.type == "tool_result" and block.tool_use_id:
                results = (*results, block.tool_use_id)
    return Record(
        source,
        start,
        stop,
        line.type or "",
        line.subtype,
        line.uuid,
        line.parent,
        line.logical_parent,
        line.session_id,
        line.timestamp,
        line.sidechain,
        line.api_error,
        message.id if message is not None else None,
        message.model if message is not None else None,
        uses,
        results,
        number,
        decoded,
    )


def _parse_leniently(raw: bytes, line: int) -> Record:
    try:
        data = loads(raw)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(data, dict):
        raise ValueError("not a JSON object")  # noqa: TRY004 - one error for every unreadable line
    return _record(raw, 0, len(raw), _lenient_line(cast("JsonObject", data)), line)


def loads(raw: bytes) -> object:
    """The JSON in `raw`, also where a string holds a raw control character or broken UTF-8.

    Raises `ValueError`, and `RecursionError` for what is nested too deeply.
    """
    return _from_json(raw.decode("utf-8", "replace"))


def _lenient_line(data: JsonObject) -> _Line:
    def text(holder: JsonObject, key: str) -> str | None:
        value = holder.get(key)
        return value if isinstance(value, str) else None

    message = data.get("message")
    line = _Line(
        type=text(data, "type"),
        subtype=text(data, "subtype"),
        uuid=text(data, "uuid"),
        parent=text(data, "parentUuid"),
        logical_parent=text(data, "logicalParentUuid"),
        session_id=text(data, "sessionId"),
        timestamp=text(data, "timestamp"),
        sidechain=data.get("isSidechain") is True,
        api_error=data.get("isApiErrorMessage") is True,
    )
    if isinstance(message, dict):
        fields = cast("JsonObject", message)
        line.message = _Message(text(fields, "id"), text(fields, "model"))
        content = fields.get("content")
        if isinstance(content, list):
            line.message.content = [
                _Block(text(b, "type"), text(b, "id"), text(b, "tool_use_id"))
                for b in cast("list[JsonObject]", content)
                if isinstance(b, dict)  # pyright: ignore[reportUnnecessaryIsInstance] - a file may hold anything
            ]
    return line
