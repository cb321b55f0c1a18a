"""A program in a pty and the screen it draws, as a person would see it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyte

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 20.0
"""Seconds for a condition that holds within a few frames unless something is broken."""

Condition = str | Callable[["Terminal"], object]

UP, DOWN, LEFT, HOME, ESC, ENTER = "\x1b[A", "\x1b[B", "\x1b[D", "\x1b[H", "\x1b", "\r"
CTRL_C, CTRL_D, CTRL_R, F1, SHIFT_TAB, DELETE = (
    "\x03",
    "\x04",
    "\x12",
    "\x1bOP",
    "\x1b[Z",
    "\x1b[3~",
)


class _Screen(pyte.HistoryScreen):
    """Takes the private sequences that pyte's handlers do not know the arguments of."""

    def report_device_status(self, mode: int = 0, **_: object) -> None:  # type: ignore[override]
        pass

    def select_graphic_rendition(self, *attributes: int, **_: object) -> None:  # type: ignore[override]
        if not _.get("private"):
            super().select_graphic_rendition(*attributes)


class Terminal:
    """One running program. `raw` keeps every byte it wrote."""

    def __init__(
        self,
        words: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        *,
        columns: int = 100,
        lines: int = 30,
    ) -> None:
        self.raw = bytearray()
        self.exit_code: int | None = None
        self.screen = _Screen(columns, lines, history=2000)
        self._stream = pyte.ByteStream(self.screen)
        self.pid, self._descriptor = pty.fork()
        if self.pid == 0:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
                os.chdir(folder)
                os.execve(words[0], list(words), dict(environment))  # noqa: S606 - the program under test
            finally:
                os._exit(127)

    # What is on the screen

    @property
    def text(self) -> str:
        screen = self.screen
        rows = (
            "".join(screen.buffer[y][x].data for x in range(screen.columns))
            for y in range(screen.lines)
        )  # not `display`, which a wide character cut by a resize breaks
        return "\n".join(row.rstrip() for row in rows)

    def has(self, condition: Condition) -> bool:
        if isinstance(condition, str):
            return condition in self.text
        return bool(condition(self))

    def until(self, condition: Condition, seconds: float = PATIENCE) -> Terminal:
        """Read until the condition holds; fails with the screen when it never does."""
        end = time.monotonic() + seconds
        while not self.has(condition):
            left = end - time.monotonic()
            if left <= 0 or (self.exit_code is not None and not self._read(0)):
                what = condition if isinstance(condition, str) else "the condition"
                raise AssertionError(f"{what!r} never came; exit {self.exit_code}\n{self.text}")
            self._read(min(left, 0.2))
        return self

    def gone(self, text: str, seconds: float = PATIENCE) -> Terminal:
        return self.until(lambda terminal: text not in terminal.text, seconds)

    def settled(self, quiet: float = 0.25, seconds: float = PATIENCE) -> Terminal:
        """Read until nothing has been written for a while."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self._read(quiet):
            pass
        return self

    # What a person does

    def send(self, *keys: str | bytes) -> Terminal:
        for key in keys:
            data = key.encode("utf-8", "surrogateescape") if isinstance(key, str) else key
            while data:
                data = data[os.write(self._descriptor, data[:2048]) :]
                self._read(0)
        return self

    def say(self, text: str) -> Terminal:
        """Type a text, see it, send it."""
        self.send(text).until(text[:40])
        return self.send(ENTER)

    def resize(self, columns: int, lines: int) -> Terminal:
        fcntl.ioctl(self._descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.screen.resize(lines, columns)
        return self

    # Its end

    def signal(self, number: int) -> Terminal:
        os.kill(self.pid, number)
        return self

    def wait(self, seconds: float = PATIENCE) -> int:
        """Read to the end; returns the exit code, negative for a signal."""
        end = time.monotonic() + seconds
        while self.exit_code is None:
            assert time.monotonic() < end, f"still running\n{self.text}"
            self._read(0.1)
        while self._read(0):
            pass
        return self.exit_code

    def quit(self) -> int:
        self.send(CTRL_C).until("again to leave")
        return self.send(CTRL_C).wait()

    def hang_up(self, seconds: float = PATIENCE) -> int:
        """Take the terminal away; returns the exit code once the program has ended."""
        os.close(self._descriptor)
        self._descriptor = -1
        end = time.monotonic() + seconds
        while self.exit_code is None:
            assert time.monotonic() < end, "still running without a terminal"
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.exit_code = os.waitstatus_to_exitcode(status) if pid else None
            time.sleep(0.02)
        return self.exit_code

    def close(self) -> None:
        if self.exit_code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.exit_code = -signal.SIGKILL
        if self._descriptor >= 0:
            os.close(self._descriptor)

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._descriptor], [], [], seconds)
        data = b""
        if ready:
            try:
                data = os.read(self._descriptor, 1 << 16)
            except OSError:
                data = b""
        if data:
            self.raw += data
            self._stream.feed(data)
            return True
        if self.exit_code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.exit_code = os.waitstatus_to_exitcode(status)
        return False


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "app", *words]
