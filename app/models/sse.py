"""Server-sent events from raw bytes.

Only LF and CRLF end a line: a text splitter that also breaks at U+2028 or U+0085 would cut the
JSON of a reply that holds one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event: its `event:` name (empty when the server sends none) and its data."""

    name: str
    data: str


class EventDecoder:
    """Bytes in, whole events out; an event cut off by the end of the stream never comes out."""

    def __init__(self) -> None:
        self._pending = b""
        self._name = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        """The events that this chunk completes. Raises UnicodeDecodeError on bad UTF-8."""
        *lines, self._pending = (self._pending + chunk).split(b"\n")
        for line in lines:
            event = self._line(line.removesuffix(b"\r").decode("utf-8"))
            if event is not None:
                yield event

    def _line(self, line: str) -> ServerEvent | None:
        if not line:
            event = ServerEvent(self._name, "\n".join(self._data)) if self._data else None
            self._name, self._data = "", []
            return event
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            self._name = value
        elif field == "data":
            self._data.append(value)
        return None
