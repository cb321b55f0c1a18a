"""What is written to stdout and stderr, and in which form."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable
from typing import Any

from app.errors import StorageError
from app.plain_text import plain, plain_line

JsonObject = dict[str, Any]


def open_closed_streams() -> None:
    """Let what is said go nowhere where stdout or stderr was closed before the program began."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - it stays open to the end


def note(sentence: str) -> None:
    """Say something on stderr, on one line; a closed stderr is nobody to tell."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(f"reverie: {plain_line(sentence)}\n")
        sys.stderr.flush()


def json_text(value: object, *, indent: int | None = None) -> str:
    """JSON that any reader and any terminal takes: lone surrogates stay escapes."""
    separators = (",", ":") if indent is None else None
    is_terminal = sys.stdout.isatty()
    text = json.dumps(value, ensure_ascii=is_terminal, indent=indent, separators=separators)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent, separators=separators)
    return text


def print_json(value: object) -> None:
    """One JSON document on stdout. Raises `StorageError` when it cannot be written."""
    _print(json_text(value, indent=2))


def print_lines(*lines: str) -> None:
    """Lines of text on stdout; whatever a file or a model put into them is shown, not obeyed.

    Raises `StorageError` when they cannot be written.
    """
    _print("\n".join(plain_line(line) for line in lines))


def print_bytes(content: bytes) -> None:
    """Bytes on stdout as they are. Raises `StorageError` when they cannot be written."""
    _guarded(lambda: _write_bytes(content))


def _print(text: str) -> None:
    _guarded(lambda: _write(text))


def _guarded(write: Callable[[], None]) -> None:
    try:
        write()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StorageError(f"Stdout could not be written: {error.strerror or error}.") from error


def _write(text: str) -> None:
    _write_bytes(text.encode("utf-8", "replace") + b"\n")


def _write_bytes(content: bytes) -> None:
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def leave_stdout() -> None:
    """Flush stdout and give up a closed one, so that nothing is said about it at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())


class Output:
    """Print mode's stdout in one of its three forms (spec/cli.md, stream-json events).

    When stdout can no longer be written, `on_broken` is told once and the rest is dropped.
    """

    def __init__(self, form: str, *, verbose: bool, on_broken: Callable[[], None]) -> None:
        self.form = form
        self.verbose = verbose
        self.broken: OSError | None = None
        self._on_broken = on_broken
        self._events: list[JsonObject] = []

    def event(self, event: JsonObject) -> None:
        """Something happened in a turn."""
        if self.form == "stream-json":
            self._put(json_text(event))
        elif self.form == "json" and self.verbose:
            self._events.append(event)

    def result(self, event: JsonObject) -> None:
        """A turn is over; `event` is its `result` event."""
        if self.form == "stream-json":
            self._put(json_text(event))
        elif self.form == "json":
            document = [*self._events, event] if self.verbose else event
            self._events = []
            self._put(json_text(document))
        elif not event["is_error"] and event["result"]:
            text = str(event["result"])
            self._put((plain(text) if sys.stdout.isatty() else text).removesuffix("\n"))

    def _put(self, text: str) -> None:
        if self.broken is not None:
            return
        try:
            _write(text)
        except OSError as error:
            self.broken = error
            self._on_broken()
