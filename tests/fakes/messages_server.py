"""A loopback Messages API for tests: scripted replies, faults, and a record of every request.

It runs on a thread of its own, so that it serves the test's own loop as well as child processes.
With nothing queued it answers "ok".
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.fakes.history_rules import history_fault
from tests.fakes.script import (
    Behaviour,
    Body,
    Cut,
    EarlyEnd,
    ErrorEvent,
    Malformed,
    Match,
    RawSse,
    Reply,
    Stall,
    Status,
    text,
    whole_message,
    wire_events,
)

_OK = Reply((text("ok"),))


@dataclass(frozen=True)
class Recorded:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: Body


class MessagesServer:
    """`start()` returns the base URL; use it as a context manager to have it stopped as well.

    `validate` answers 400 to a history that the real API would refuse; `count` is what
    count_tokens says (None: 404); `models` are the ids of /v1/models (None: 404).
    """

    def __init__(
        self,
        *,
        validate: bool = True,
        count: int | Callable[[Body], int] | None = 100,
        models: tuple[str, ...] | None = ("claude-opus-5-5", "claude-haiku-5-5"),
    ) -> None:
        self.validate = validate
        self.count = count
        self.models = models
        self.default: Behaviour = _OK
        self.requests: list[Recorded] = []
        self.dropped = threading.Event()
        """Set when a client closes its connection in the middle of a reply."""
        self.opened = 0
        """Connections so far."""
        self.base_url = ""
        self._queue: list[tuple[Match | None, Behaviour]] = []
        self._lock = threading.Lock()
        self._messages = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    # What a test uses.

    def start(self) -> str:
        self._thread.start()
        self.base_url = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(5)
        return self.base_url

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self._shut(), self._loop).result(5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    def __enter__(self) -> MessagesServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def queue(self, *behaviours: Behaviour, when: Match | None = None, times: int = 1) -> None:
        """Answer the next requests like this, in order; `when` picks requests by their body."""
        with self._lock:
            self._queue += [(when, each) for each in behaviours for _ in range(times)]

    def say(self, *words: str) -> None:
        """Answer the next requests with plain texts."""
        self.queue(*(Reply((text(each),)) for each in words))

    @property
    def calls(self) -> list[Recorded]:
        """The requests for messages, without model lists and token counts."""
        return [each for each in self.requests if each.path.split("?")[0] == "/v1/messages"]

    @property
    def last(self) -> Body:
        """The body of the last request for a message."""
        return self.calls[-1].body

    @property
    def left(self) -> int:
        """Behaviours that no request has taken yet."""
        return len(self._queue)

    # How it works.

    async def _listen(self) -> str:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=2**26)
        port = self._server.sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}"

    async def _shut(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        self.opened += 1
        try:
            while (request := await _read_request(reader)) is not None:
                with self._lock:
                    self.requests.append(request)
                again = await self._answer(request, reader, writer)
                if not again or request.headers.get("connection") == "close":
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            self.dropped.set()
        except asyncio.CancelledError:
            pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _answer(
        self, request: Recorded, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answer; False when the connection must not be used again."""
        path = request.path.split("?")[0]
        if path == "/v1/models" and self.models is not None:
            listed = [{"type": "model", "id": each, "display_name": each} for each in self.models]
            return await _send_json(writer, 200, {"data": listed, "has_more": False})
        if path == "/v1/messages/count_tokens" and self.count is not None:
            tokens = self.count if isinstance(self.count, int) else self.count(request.body)
            return await _send_json(writer, 200, {"input_tokens": tokens})
        if path != "/v1/messages" or request.method != "POST":
            return await _send_json(writer, 404, _envelope("not_found_error", "Not found"))
        fault = history_fault(request.body) if self.validate else None
        if fault:
            return await _send_json(writer, 400, _envelope("invalid_request_error", fault))
        return await self._behave(self._take(request.body), request.body, reader, writer)

    def _take(self, body: Body) -> Behaviour:
        with self._lock:
            for index, (when, behaviour) in enumerate(self._queue):
                if when is None or when(body):
                    del self._queue[index]
                    return behaviour
        return self.default

    async def _behave(
        self,
        behaviour: Behaviour,
        body: Body,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        if isinstance(behaviour, Status):
            content = behaviour.body or _envelope(behaviour.type, behaviour.message)
            return await _send_json(writer, behaviour.status, content, behaviour.headers)
        self._messages += 1
        message_id = f"msg_{self._messages:04d}"
        headers = {"request-id": f"req_{self._messages:04d}"}
        if isinstance(behaviour, RawSse):
            await _send_head(writer, headers)
            await _send_chunk(writer, behaviour.data)
            if behaviour.end == "cut":
                return _cut(writer)
            return await _send_end(writer)
        headers |= behaviour.headers
        if not body.get("stream"):
            message = whole_message(behaviour, message_id, body["model"])
            return await _send_json(writer, 200, message, headers)
        await _send_head(writer, headers)
        events = wire_events(behaviour, message_id, body["model"])
        return await self._stream(events, behaviour, reader, writer)

    async def _stream(
        self,
        events: list[Body],
        reply: Reply,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        fault = reply.fault
        sent = events if fault is None else events[: fault.after]
        for event in sent:
            await _send_event(writer, event)
        match fault:
            case Cut():
                return _cut(writer)
            case EarlyEnd():
                return await _send_end(writer)
            case Malformed():
                await _send_chunk(writer, b'event: content_block_delta\ndata: {"type": "con\n\n')
            case ErrorEvent(_, kind, message):
                await _send_event(writer, _envelope(kind, message))
            case Stall(after, gate):
                if not await self._held(gate, reader):
                    return False
                for event in events[after:]:
                    await _send_event(writer, event)
            case None:
                pass
        return await _send_end(writer)

    async def _held(self, gate: Any, reader: asyncio.StreamReader) -> bool:
        """Wait for the gate; False when the client went away meanwhile."""
        gate.reached.set()
        gone = asyncio.ensure_future(reader.read(1))
        opened = asyncio.ensure_future(_opened(gate.released))
        await asyncio.wait({gone, opened}, return_when=asyncio.FIRST_COMPLETED)
        if gone.done():
            self.dropped.set()
            opened.cancel()
            return False
        gone.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await gone
        return True


async def _opened(event: threading.Event) -> None:
    while not event.is_set():  # noqa: ASYNC110 - the setter is in another thread
        await asyncio.sleep(0.002)


async def _read_request(reader: asyncio.StreamReader) -> Recorded | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    method, path, _ = head[0].split(" ", 2)
    pairs = (line.partition(":") for line in head[1:] if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    raw = await reader.readexactly(int(headers.get("content-length", "0")))
    return Recorded(method, path, headers, json.loads(raw) if raw else {})


def _envelope(kind: str, message: str) -> Body:
    return {"type": "error", "error": {"type": kind, "message": message}}


async def _send_json(
    writer: asyncio.StreamWriter, status: int, content: Any, headers: Any = None
) -> bool:
    raw = json.dumps(content).encode()
    lines = [f"HTTP/1.1 {status} Scripted", "content-type: application/json"]
    lines += [f"content-length: {len(raw)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    writer.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + raw)
    await writer.drain()
    return True


async def _send_head(writer: asyncio.StreamWriter, headers: dict[str, str]) -> None:
    lines = ["HTTP/1.1 200 OK", "content-type: text/event-stream", "transfer-encoding: chunked"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    writer.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n")
    await writer.drain()


async def _send_event(writer: asyncio.StreamWriter, event: Body) -> None:
    data = json.dumps(event, ensure_ascii=False)
    await _send_chunk(writer, f"event: {event['type']}\ndata: {data}\n\n".encode())


async def _send_chunk(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
    await writer.drain()


async def _send_end(writer: asyncio.StreamWriter) -> bool:
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


def _cut(writer: asyncio.StreamWriter) -> bool:
    writer.close()
    return False
