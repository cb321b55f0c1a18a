"""Finds and ends everything that a shell has started, without ever hitting another process."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Iterable
from pathlib import Path

import psutil

GRACE = 1.0
"""Seconds between the polite signal and the final one."""
_NAME_CHARACTERS = 80


def family(shell: int, pipe: int | None = None) -> list[psutil.Process]:
    """Live processes that `shell` has started: its descendants, those left in its session, and
    those that hold the writing end of `pipe` (an open descriptor of ours, its reading end).

    A handle knows the process's start time, so it never means a later process of the same id.
    """
    found: dict[int, psutil.Process] = {}
    inode = None if pipe is None else os.fstat(pipe).st_ino
    with contextlib.suppress(psutil.Error):
        for child in psutil.Process(shell).children(recursive=True):
            found[child.pid] = child
    for pid in psutil.pids():
        if pid in found or pid in {shell, os.getpid()}:
            continue
        if _session(pid) == shell or (inode is not None and _holds(pid, inode)):
            with contextlib.suppress(psutil.Error):
                found[pid] = psutil.Process(pid)
    return [process for process in found.values() if _is_alive(process)]


def named(process: psutil.Process) -> str:
    """`4711 (sleep 60)`, for a result."""
    try:
        words = " ".join(process.cmdline()) or process.name()
    except psutil.Error:
        words = "ended meanwhile"
    line = "".join(letter if letter.isprintable() else "\ufffd" for letter in words)
    if len(line) > _NAME_CHARACTERS:
        line = line[:_NAME_CHARACTERS] + "…"
    return f"{process.pid} ({line})"


async def end_shell(process: asyncio.subprocess.Process, pipe: int | None = None) -> None:
    """End the shell, its process group and its family: TERM, then KILL after `GRACE` seconds.

    When cancelled while waiting it sends KILL at once. The shell is reaped in every case.
    """
    members = family(process.pid, pipe)
    try:
        _signal_all(process, members, signal.SIGTERM)
        await _gone(process, members)
    finally:
        members += family(process.pid, pipe)
        _signal_all(process, members, signal.SIGKILL)
    await process.wait()


def end_processes(processes: Iterable[psutil.Process]) -> None:
    """KILL at once."""
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.kill()


async def _gone(process: asyncio.subprocess.Process, members: list[psutil.Process]) -> None:
    """Returns when all have ended, after `GRACE` seconds at the latest."""
    loop = asyncio.get_running_loop()
    end = loop.time() + GRACE
    while loop.time() < end:
        if process.returncode is not None and not any(map(_is_alive, members)):
            return
        await asyncio.sleep(0.02)


def _signal_all(
    process: asyncio.subprocess.Process, members: list[psutil.Process], number: signal.Signals
) -> None:
    if process.returncode is None:
        # The group's id is the shell's own, which nobody else can have before it is reaped.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
    for member in members:
        with contextlib.suppress(psutil.Error):
            member.send_signal(number)


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return -1


def _holds(pid: int, inode: int) -> bool:
    """Whether the process has the pipe open; only Linux tells."""
    wanted = f"pipe:[{inode}]"
    try:
        with os.scandir(f"/proc/{pid}/fd") as entries:
            return any(_link(entry.path) == wanted for entry in entries)
    except OSError:
        return False


def _link(path: str) -> str:
    try:
        return str(Path(path).readlink())
    except OSError:
        return ""
