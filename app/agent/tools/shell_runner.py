"""Runs one shell command to its end, whatever the command leaves behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from app.agent.tools.arguments import clean
from app.agent.tools.base import ToolFailure
from app.agent.tools.paths import reason_of
from app.agent.tools.process_group import end_shell, family, named
from app.agent.tools.shell_output import LiveText, OutputKeeper, private_file

DRAIN = 0.15
"""Seconds in which output that is already in the pipe is taken after the shell has exited."""
_PIECE = 1 << 16
_MOST_PIECES = 64
_FRAME = 1 / 60


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended. `code` is negative for a signal, as in `subprocess`."""

    code: int
    timed_out: bool
    text: str
    output_path: Path | None
    output_size: int
    left_running: tuple[str, ...]
    cwd: Path | None
    """Where the shell was at its end; None where it could not say."""


class CommandInterrupted(asyncio.CancelledError):
    """The command was cancelled and ended; `finished` tells what it had printed by then."""

    def __init__(self, finished: Finished) -> None:
        super().__init__()
        self.finished = finished


def shell_program() -> str:
    """The path of bash, else of sh. Raises `ToolFailure` where there is neither."""
    program = shutil.which("bash") or shutil.which("sh")
    if program is None:
        raise ToolFailure("There is no shell: neither bash nor sh is on PATH.")
    return program


def wrapped(command: str, report: Path | None) -> list[str]:
    """The call that runs `command` and has the shell write its last folder to `report`.

    The command goes through `eval`, so that its errors read as its own and neither `exit` nor a
    syntax error keeps the trap from running.
    """
    if report is None:
        return [shell_program(), "-c", command]
    trap = shlex.quote(f"pwd -P >{shlex.quote(str(report))} 2>/dev/null")
    script = f'trap {trap} EXIT; _command=$1; shift; eval "$_command"'
    return [shell_program(), "-c", script, "bash", command]


async def start(
    call: list[str], cwd: Path, environment: Mapping[str, str], output: int
) -> asyncio.subprocess.Process:
    """Start `call` in a session of its own, stdin closed, writing to the descriptor `output`.

    Raises `ToolFailure` where it cannot be started.
    """
    try:
        return await asyncio.create_subprocess_exec(
            *call,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=cwd,
            env=environment,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else "it holds a NUL character"
        raise ToolFailure(f"The command could not be started: {reason}.") from error


async def run_command(
    command: str,
    cwd: Path,
    environment: Mapping[str, str],
    scratch: Path,
    timeout: float,
    progress: Callable[[str], None],
) -> Finished:
    """Run `command` for at most `timeout` seconds; then, or when cancelled, all of it is ended.

    It returns when the shell itself has exited: a background child that still holds the output
    is named and left alone. Raises `ToolFailure` where the command cannot be started, and
    `CommandInterrupted` when cancelled.
    """
    try:
        report = private_file(scratch, "cwd")
    except OSError:
        report = None  # a full disk must not keep the shell from working
    reader, writer = os.pipe()
    keeper = OutputKeeper(scratch)
    live = LiveText(progress, time.monotonic)
    try:
        os.set_blocking(reader, False)
        try:
            process = await start(wrapped(command, report), cwd, environment, writer)
        finally:
            os.close(writer)
        try:
            timed_out, left = await _carry_through(process, timeout, reader, keeper, live)
        except asyncio.CancelledError:
            live.add(keeper.close())
            raise CommandInterrupted(_finished(process, keeper)) from None
        live.add(keeper.close())
        return _finished(process, keeper, timed_out, left, _reported(report))
    finally:
        live.flush()
        keeper.close()
        os.close(reader)
        if report is not None:
            report.unlink(missing_ok=True)


async def _carry_through(
    process: asyncio.subprocess.Process,
    timeout: float,
    reader: int,
    keeper: OutputKeeper,
    live: LiveText,
) -> tuple[bool, list[psutil.Process]]:
    """Wait for the shell and take its output; whether it had to be ended for time, and which of
    its children are left."""
    with _Pump(reader, keeper, live) as pump:
        try:
            timed_out = await _wait(process, timeout, reader)
            drained = await pump.drain(DRAIN)
        except asyncio.CancelledError:
            pump.take_what_is_there()
            raise
    left = await asyncio.to_thread(family, process.pid, None if drained else reader)
    if left and not drained:
        await _hand_over(reader)
    return timed_out, left


def _finished(
    process: asyncio.subprocess.Process,
    keeper: OutputKeeper,
    timed_out: bool = False,
    left: Sequence[psutil.Process] = (),
    cwd: Path | None = None,
) -> Finished:
    return Finished(
        code=process.returncode or 0,
        timed_out=timed_out,
        text=keeper.text(),
        output_path=keeper.path,
        output_size=keeper.size,
        left_running=tuple(named(member) for member in left),
        cwd=cwd,
    )


class _Pump:
    """Moves what the pipe gives into the keeper, as a reader of the event loop."""

    def __init__(self, reader: int, keeper: OutputKeeper, live: LiveText) -> None:
        self._reader = reader
        self._keeper = keeper
        self._live = live
        self._loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        self._later: asyncio.TimerHandle | None = None

    def __enter__(self) -> _Pump:
        self._loop.add_reader(self._reader, self._move)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.remove_reader(self._reader)
        if self._later is not None:
            self._later.cancel()

    def _move(self) -> bool:
        try:
            data = os.read(self._reader, _PIECE)
        except BlockingIOError:
            return False
        if not data:
            self._ended.set()
            self._loop.remove_reader(self._reader)
            return False
        self._live.add(self._keeper.take(data))
        if self._live.waiting and self._later is None:
            # Nothing may follow for long: what came within the frame is shown after it.
            self._later = self._loop.call_later(_FRAME, self._show)
        return True

    def _show(self) -> None:
        self._later = None
        self._live.flush()

    def take_what_is_there(self) -> None:
        """Take what is in the pipe, without waiting; a child that prints on is not followed."""
        for _ in range(_MOST_PIECES):
            if not self._move():
                return

    async def drain(self, seconds: float) -> bool:
        """Take what is left, for `seconds` at most; whether that was the end of the output."""
        end = self._loop.time() + seconds
        while not self._ended.is_set() and self._move() and self._loop.time() < end:
            pass
        if not self._ended.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(end):
                    await self._ended.wait()
        return self._ended.is_set()


async def _wait(process: asyncio.subprocess.Process, timeout: float, reader: int) -> bool:
    """Wait for the shell; whether it had to be ended for time. When cancelled it is ended too."""
    try:
        async with asyncio.timeout(timeout):
            await process.wait()
    except TimeoutError:
        await end_shell(process, reader)
        return True
    except asyncio.CancelledError:
        await end_shell(process, reader)
        raise
    return False


async def _hand_over(reader: int) -> None:
    """Let a small process swallow what the children still print, so that they neither block nor
    die of a closed pipe; it ends by itself with the last of them."""
    # A command in the background has /dev/null as its input, hence the way round by 3.
    script = "exec 3<&0; cat <&3 3<&- >/dev/null 2>&1 &"
    with contextlib.suppress(OSError):
        os.set_blocking(reader, True)
        helper = await asyncio.create_subprocess_exec(
            "/bin/sh",
            "-c",
            script,
            stdin=reader,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            cwd="/",
            # It outlives us: what is in our own environment is not for it.
            env={"PATH": os.defpath},
            start_new_session=True,
        )
        await helper.wait()


def _reported(report: Path | None) -> Path | None:
    if report is None:
        return None
    try:
        text = os.fsdecode(report.read_bytes()).removesuffix("\n")
    except OSError:
        return None
    return Path(text) if text.startswith("/") and clean(text) == text else None
