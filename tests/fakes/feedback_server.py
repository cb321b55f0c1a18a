"""A service for reports that misbehaves by script, on loopback and a thread of its own.

Each connection takes the next line of the script, in the form of cases/B58's `server.jsonl`, with
a few more words: `headers`, `early` (answers before it reads), `drain` (reads the rest after its
answer), `hang`, `drip` (its body never ends). Behind the end of the script it says yes.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

YES = {"status": 200, "body": {"id": "FB-OK"}}


@dataclass
class Received:
    head: str
    headers: dict[str, str]
    body: bytes


@dataclass
class FeedbackServer:
    script: Sequence[dict[str, Any]] = ()
    requests: list[Received] = field(default_factory=list)
    connections: int = 0
    connected: threading.Event = field(default_factory=threading.Event)
    """Set with the first connection."""
    arrived: threading.Event = field(default_factory=threading.Event)
    """Set with the first whole request."""

    def __enter__(self) -> FeedbackServer:
        self._stopping = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(0.05)
        self.port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join()
        self._socket.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/reports"

    def _serve(self) -> None:
        lines = list(self.script)
        while not self._stopping.is_set():
            try:
                connection, _ = self._socket.accept()
            except TimeoutError:
                continue
            self.connections += 1
            self.connected.set()
            line = lines.pop(0) if lines else YES
            threading.Thread(target=self._talk, args=(connection, line), daemon=True).start()

    def _talk(self, connection: socket.socket, line: dict[str, Any]) -> None:
        connection.settimeout(10)
        with connection:
            try:
                if line.get("early"):
                    connection.recv(1)
                    self.arrived.set()
                else:
                    self.requests.append(_received(connection))
                    self.arrived.set()
                if line.get("read_body_then") == "timeout" or line.get("hang"):
                    self._stopping.wait(10)
                elif line.get("drip"):
                    self._drip(connection, line)
                elif not line.get("cut"):
                    connection.sendall(_answer(line))
                    while line.get("drain") and connection.recv(1 << 20):
                        pass
            except OSError:
                return

    def _drip(self, connection: socket.socket, line: dict[str, Any]) -> None:
        headers = {"Content-Length": "9999", **line.get("headers", {})}
        connection.sendall(_answer({**line, "headers": headers, "body": ""}))
        while not self._stopping.wait(0.1):
            connection.sendall(b"x")


def _received(connection: socket.socket) -> Received:
    data = b""
    while b"\r\n\r\n" not in data and (piece := connection.recv(65_536)):
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    first, *rest = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (h.partition(":") for h in rest)}
    while len(body) < int(headers.get("content-length", 0)):
        piece = connection.recv(65_536)
        if not piece:
            break
        body += piece
    return Received(first, headers, body)


def _answer(line: dict[str, Any]) -> bytes:
    said = line.get("body", {})
    body = said.encode() if isinstance(said, str) else json.dumps(said).encode()
    headers = {"Content-Length": str(len(body)), "Connection": "close", **line.get("headers", {})}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {line['status']} X\r\n{lines}\r\n".encode() + body
