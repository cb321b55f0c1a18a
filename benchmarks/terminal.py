"""A program in a pty, read as raw bytes with the moment at which they came."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COLUMNS, LINES = 120, 40
LONGEST = 30.0
"""Seconds after which a program that does not answer ends the run."""

APP = (sys.executable, "-m", "app")
FLOOR = (sys.executable, "-m", "benchmarks.minimal_app")


class Home:
    """Temporary folders for one program: an empty project, settings, data."""

    def __init__(self) -> None:
        self._root = tempfile.TemporaryDirectory(prefix="reverie-benchmark-")
        root = Path(self._root.name)
        self.folder = root / "project"
        self.folder.mkdir()
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(root),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "TEXTUAL_ANIMATIONS": "none",
            "PYTHONPATH": str(ROOT),
            "REVERIE_CONFIG_DIR": str(root / "config"),
            "REVERIE_DATA_DIR": str(root / "data"),
        }

    def close(self) -> None:
        """Remove the folders."""
        self._root.cleanup()


class Program:
    """One running program. `began` is the moment before it was started."""

    def __init__(
        self, words: Sequence[str], home: Home, more: Mapping[str, str] | None = None
    ) -> None:
        environment = {**home.environment, **(more or {})}
        self.began = time.perf_counter()
        self.pid, self._descriptor = pty.fork()
        if self.pid == 0:
            size = struct.pack("HHHH", LINES, COLUMNS, 0, 0)
            fcntl.ioctl(0, termios.TIOCSWINSZ, size)
            os.chdir(home.folder)
            os.execve(words[0], list(words), environment)  # noqa: S606 - the program under test
        self.written = 0
        """Bytes the program has written so far."""

    def send(self, data: bytes) -> None:
        """Type."""
        os.write(self._descriptor, data)

    def read(self, seconds: float) -> bytes:
        """The next bytes, empty when none come in time."""
        ready, _, _ = select.select([self._descriptor], [], [], max(seconds, 0))
        if not ready:
            return b""
        try:
            data = os.read(self._descriptor, 1 << 20)
        except OSError as error:
            raise RuntimeError("the program ended by itself") from error
        self.written += len(data)
        return data

    def wait_for(self, text: bytes, seconds: float = LONGEST) -> float:
        """Read until the text has come; returns the moment of it."""
        seen = b""
        end = time.perf_counter() + seconds
        while True:
            data = self.read(end - time.perf_counter())
            now = time.perf_counter()
            seen = seen[-len(text) :] + data
            if text in seen:
                return now
            if now >= end:
                raise TimeoutError(f"{text!r} never came")

    def drain(self, quiet: float, most: float = LONGEST) -> None:
        """Read until nothing has come for `quiet` seconds."""
        end = time.perf_counter() + most
        while time.perf_counter() < end and self.read(quiet):
            pass

    def cpu(self) -> float:
        """Seconds of CPU used by the program and its threads."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """Resident megabytes."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * 4096 / 1e6

    def close(self) -> None:
        """End it, whatever it does."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._descriptor)
