"""A small receiver of reports: each becomes a 0600 file named by its idempotency key.

The same report under a known key is answered as a duplicate, another one with 409.

It speaks plain HTTP and asks for a token. Behind anything but loopback it wants a server with TLS
in front of it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from app.background.feedback.payload import BUDGET
from app.errors import ReverieError, StorageError, UsageError
from app.paths import create_private, make_private_folder

LOOPBACK: Final = "127.0.0.1"
MOST_BODY: Final = BUDGET + (64 << 10)
"""Bytes of a report that are taken; the draft's own texts come on top of nothing else."""
_MOST_DRAINED: Final = 8 << 20
"""Bytes of a report that is too large which are read, so that its sender hears the answer."""
_PIECE: Final = 64 << 10
_PATIENCE: Final = 30.0
"""Seconds that a silent sender is waited for."""
_KEY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")


class Receiver(ThreadingHTTPServer):
    """Listens from the moment it is made; `serve_forever` answers. Close it with `server_close`."""

    daemon_threads = True

    def __init__(self, folder: Path, token: str, host: str = LOOPBACK, port: int = 0) -> None:
        """Port 0 takes a free one. Raises `UsageError`, `StorageError` and `ReverieError`."""
        if not token or not token.isascii() or not token.isprintable():
            raise UsageError("A receiver needs a token of printable ASCII characters.")
        make_private_folder(folder)
        self.folder = folder
        self.expected = f"Bearer {token}".encode()
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

    def handle_error(self, request: object, client_address: object) -> None:
        """A sender that goes away is no event; its report comes again."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "reverie-feedback"
    sys_version = ""
    timeout = _PATIENCE

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
        elif size > MOST_BODY:
            self._drain(size)
            self._answer(413, {"error": f"A report has at most {MOST_BODY} bytes."})
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
