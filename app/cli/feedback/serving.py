"""`reverie feedback serve`: a receiver for the reports of a team."""

from __future__ import annotations

import signal
import stat
import threading
from argparse import Namespace
from pathlib import Path
from typing import Final

from app.background.feedback.serve import LOOPBACK, Receiver
from app.cli.feedback.call import Call
from app.cli.output import note, print_json, print_lines
from app.cli.parser import Parser
from app.credentials import is_loopback
from app.errors import ReverieError, UsageError
from app.paths import read_small

TOKEN_VARIABLE: Final = "REVERIE_FEEDBACK_TOKEN"  # noqa: S105 - the variable's name
PORT: Final = 8642
_HEADROOM: Final = 64 << 10
"""Bytes that are taken beyond the budget of a report."""
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def add_serving(action: Parser) -> None:
    """Give the action its flags. There is none for the token: others see a command line."""
    action.add_argument(
        "--host", default=LOOPBACK, metavar="H", help=f"where to listen (default {LOOPBACK})"
    )
    action.add_argument(
        "--port", type=int, default=PORT, metavar="P", help=f"0: a free one (default {PORT})"
    )
    action.add_argument("--folder", metavar="DIR", help="where reports are stored")
    action.add_argument(
        "--token-file",
        metavar="FILE",
        help=f"a file with the token; else {TOKEN_VARIABLE}, else the setting feedback.token",
    )


def serve(call: Call, arguments: Namespace) -> int:
    """Receive reports until a signal ends it; returns 128 and the signal's number.

    Raises `UsageError` without a token, `ReverieError` when it cannot listen or read the token, and
    `StorageError` when the folder cannot be made.
    """
    here = call.here
    folder = call.outbox.folder / "received"
    if arguments.folder is not None:
        folder = here.folder / arguments.folder
    token = _token(call, arguments.token_file)
    most = call.settings.budget_bytes + _HEADROOM
    with Receiver(folder, token, arguments.host, arguments.port, most_body=most) as receiver:
        # Before the thread is started, which inherits it. What is ignored, as by nohup, stays so.
        waited = {number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN}
        before = signal.pthread_sigmask(signal.SIG_BLOCK, waited)
        try:
            _tell(call, receiver)
            threading.Thread(target=receiver.serve_forever, daemon=True).start()
            ended = signal.sigwait(waited)
            receiver.shutdown()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return 128 + ended


def _token(call: Call, file: str | None) -> str:
    if file is not None:
        return _token_in(call.here.folder / file)
    token = call.here.environment.get(TOKEN_VARIABLE) or call.settings.token
    if not token:
        raise UsageError(
            "A receiver needs a token that its senders know.",
            todo=f"Give --token-file FILE, or set {TOKEN_VARIABLE} or feedback.token.",
        )
    return token


def _token_in(file: Path) -> str:
    try:
        token = read_small(file).decode().strip()
        is_open = bool(file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))
    except (OSError, UnicodeDecodeError) as error:
        raise ReverieError(f"The token in {file} cannot be read: {error}.") from error
    if is_open:
        note(f"Others on this machine may read {file}; `chmod 600` it.")
    return token


def _tell(call: Call, receiver: Receiver) -> None:
    if call.as_json:
        print_json({"url": receiver.url, "folder": str(receiver.folder)})
    else:
        print_lines(receiver.url)
        note(
            f"Reports are stored in {receiver.folder}. Senders set feedback.sink to http, "
            "feedback.endpoint to this address and feedback.token to the token."
        )
    if not is_loopback(receiver.url):
        note(
            "It speaks plain HTTP, so others can read reports and the token on their way; put a "
            "server with TLS in front of it. Senders refuse http:// to another machine."
        )
