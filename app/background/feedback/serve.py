"""A small receiver of reports: each becomes a 0600 file named by its idempotency key.

The same report under a known key is answered as a duplicate, another one with 409.

It speaks plain HTTP and asks for a token. Behind anything but loopback it wants a server with TLS
in front of it.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import io
import json
import re
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from app.background.feedback.payload import BUDGET
from app.errors import ReverieError, StorageError, UsageError
from app.paths import create_private, make_private_folder

LOOPBACK: Final = "127.0.0.1"
MOST_BODY: Final = BUDGET + (64 << 10)
"""Bytes of a report that are taken unless it is told otherwise: the budget of senders with the
usual settings, and some more."""
_MOST_DRAINED: Final = 8 << 20
"""Bytes of a report that is too large which are read, so that its sender hears the answer."""
_PIECE: Final = 64 << 10
_PATIENCE: Final = 30.0
"""Seconds for a whole request, as many as its sender has."""
_MOST_AT_ONCE: Final = 32
"""Connections that are served at the same time."""
_BUSY: Final = (
    b"HTTP/1.1 503 Busy\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
)
_KEY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")


class Receiver(ThreadingHTTPServer):
    """Listens from the moment it is made; `serve_forever` answers. Close it with `server_close`."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self,
        folder: Path,
        token: str,
        host: str = LOOPBACK,
        port: int = 0,
        *,
        most_body: int = MOST_BODY,
        patience: float = _PATIENCE,
    ) -> None:
        """Port 0 takes a free one; a report has at most `most_body` bytes, and `patience` seconds.

        Raises `UsageError`, `StorageError` and `ReverieError`.
        """
        if not token or not token.isascii() or not token.isprintable():
            raise UsageError("A receiver needs a token of printable ASCII characters.")
        make_private_folder(folder)
        self.folder = folder
        self.expected = f"Bearer {token}".encode()
        self.most_body = most_body
        self.patience = patience
        self._places = threading.BoundedSemaphore(_MOST_AT_ONCE)
        if ":" in host:
            self.address_family = socket.AF_INET6
        try:
            super().__init__((host, port), _Handler)
        except (OSError, OverflowError) as error:
            raise ReverieError(
                f"{host}:{port} cannot be listened on: {error}.", todo="Choose another port."
            ) from error

    @property
    def url(self) -> str:
        """Where it listens; what `feedback.endpoint` is to be set to."""
        host, port = self.server_address[:2]
        name = str(host)
        return f"http://{f'[{name}]' if ':' in name else name}:{port}/"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection on a thread of its own, or turn it away while there are too many."""
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
            return
        with contextlib.suppress(OSError):
            request.send(_BUSY)
        self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve it and give its place back."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: object, client_address: object) -> None:
        """A sender that goes away is no event; its report comes again."""


class _Hurried(io.RawIOBase):
    """What a connection sends. Raises `TimeoutError` once its time is over, however it drips."""

    def __init__(self, connection: socket.socket, receiver: Receiver) -> None:
        self._connection = connection
        self._until = time.monotonic() + receiver.patience

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        return self._connection.recv_into(buffer)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "reverie-feedback"
    sys_version = ""

    def setup(self) -> None:
        """Read through a stream that knows when the whole request must be there."""
        super().setup()
        self.rfile.close()
        self.rfile = io.BufferedReader(_Hurried(self.connection, cast("Receiver", self.server)))

    def do_POST(self) -> None:
        # One request a connection: what is left of a refused one cannot be taken for the next.
        self.close_connection = True
        receiver = cast("Receiver", self.server)
        given = self.headers.get("Authorization", "").encode("utf-8", "replace")
        size = self._size()
        if not hmac.compare_digest(given, receiver.expected):
            self._drain(size or 0)
            self._answer(401, {"error": "The token is missing or wrong."})
        elif size is None:
            self._answer(411, {"error": "The request has no Content-Length."})
        elif size > receiver.most_body:
            self._drain(size)
            self._answer(413, {"error": f"A report has at most {receiver.most_body} bytes."})
        else:
            self._take(receiver.folder, self.headers.get("Idempotency-Key", ""), size)

    def _take(self, folder: Path, key: str, size: int) -> None:
        body = self.rfile.read(size)
        if len(body) < size:
            return  # its sender went away in the middle
        if not _KEY.fullmatch(key):
            self._answer(400, {"error": "The header Idempotency-Key is missing or no key."})
            return
        if not _is_report(body):
            self._answer(400, {"error": "This is no report: a JSON object with title and body."})
            return
        receipt = {"id": f"FB-{hashlib.sha256(key.encode()).hexdigest()[:12]}"}
        try:
            create_private(folder / f"{key}.json", body)
        except FileExistsError:
            if _holds(folder / f"{key}.json", body):
                self._answer(200, {**receipt, "duplicate": True})
            else:
                self._answer(409, {"error": "Another report is stored under this key."})
        except StorageError:
            self._answer(507, {"error": "The report could not be stored. Send it again later."})
        else:
            self._answer(201, receipt)

    def _size(self) -> int | None:
        text = self.headers.get("Content-Length", "")
        is_number = text.isascii() and text.isdigit() and len(text) < 19
        return int(text) if is_number and "Transfer-Encoding" not in self.headers else None

    def _drain(self, size: int) -> None:
        left = min(size, _MOST_DRAINED)
        while left > 0 and (piece := self.rfile.read(min(left, _PIECE))):
            left -= len(piece)

    def _answer(self, status: int, answer: dict[str, Any]) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's own name
        """Nothing is logged: requests hold what people wrote."""


def _holds(file: Path, body: bytes) -> bool:
    try:
        return file.read_bytes() == body
    except OSError:
        return False


def _is_report(body: bytes) -> bool:
    try:
        report: object = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    fields = cast("dict[str, object]", report) if isinstance(report, dict) else {}
    return all(isinstance(fields.get(name), str) for name in ("title", "body"))
