"""Shell commands that outlive their turn."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

import psutil

from app.agent.tools.base import MAX_RESULT_CHARACTERS, ToolFailure
from app.agent.tools.process_group import end_processes, end_shell, family
from app.agent.tools.shell_output import printable

Status: TypeAlias = Literal["running", "completed", "failed", "killed"]

MOST_OUTPUT = 200_000_000
"""Bytes; a background command that prints more is ended, so that it cannot fill the disk."""
_LOOK_EVERY = 2.0
"""Seconds between looks at the size of the output."""


@dataclass(frozen=True, slots=True)
class ShellTask:
    """One background command, as the screen shows it."""

    id: str
    command: str
    status: Status
    code: int | None
    """The exit status, negative for a signal; None while it runs."""
    output: Path


@dataclass(slots=True)
class _Running:
    process: asyncio.subprocess.Process
    shown: ShellTask
    decoder: codecs.IncrementalDecoder
    read_up_to: int = 0
    ending: Status | None = None
    """The status it gets once it is gone, where we ended it."""
    left: list[psutil.Process] = field(default_factory=list[psutil.Process])
    watcher: asyncio.Task[None] | None = None
    killer: asyncio.Task[None] | None = None


class ShellTasks:
    """The background commands of one session; needs a running event loop."""

    def __init__(self, on_change: Callable[[ShellTask], None] | None = None) -> None:
        self._on_change = on_change
        self._tasks: dict[str, _Running] = {}

    @property
    def tasks(self) -> tuple[ShellTask, ...]:
        """All of them, oldest first, those that have ended too."""
        return tuple(task.shown for task in self._tasks.values())

    def adopt(self, process: asyncio.subprocess.Process, command: str, output: Path) -> str:
        """Take over a running process that leads its own session and writes to `output`."""
        task_id = f"bash_{len(self._tasks) + 1}"
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        shown = ShellTask(task_id, command, "running", None, output)
        task = _Running(process, shown, decoder)
        self._tasks[task_id] = task
        task.watcher = asyncio.create_task(self._watch(task), name=f"shell {task_id}")
        self._tell(task)
        return task_id

    def read(self, task_id: str) -> tuple[str, str]:
        """`(status, output since the last read)`, of much output the newest part.

        Raises `ToolFailure` for an unknown id, or where the output cannot be read.
        """
        task = self._find(task_id)
        try:
            with task.shown.output.open("rb") as file:
                size = file.seek(0, 2)
                start = max(task.read_up_to, size - 4 * MAX_RESULT_CHARACTERS)
                file.seek(start)
                data = file.read(size - start)
        except OSError as error:
            raise ToolFailure(f"The output of {task_id} is gone: {error.strerror}.") from error
        if start > task.read_up_to:
            task.decoder.reset()
            # The jump may have landed inside a character.
            data = data.lstrip(bytes(range(0x80, 0xC0)))
        ended = task.shown.status != "running"
        text = printable(task.decoder.decode(data, final=ended))
        left_out = start > task.read_up_to or len(text) > MAX_RESULT_CHARACTERS - 200
        task.read_up_to = size
        if left_out:
            text = (
                f"… (earlier output is in {task.shown.output}) …\n"
                + text[-(MAX_RESULT_CHARACTERS - 200) :]
            )
        return task.shown.status, text

    def kill(self, task_id: str) -> None:
        """End the command's whole group; its status becomes `killed` when it is gone.

        Nothing happens where it has ended already. Raises `ToolFailure` for an unknown id.
        """
        self._end(self._find(task_id), "killed")

    async def close(self) -> None:
        """End all that still run, and what those that ended have left behind; returns when gone."""
        for task in self._tasks.values():
            self._end(task, "killed")
            end_processes(task.left)
        waiting = [
            job
            for task in self._tasks.values()
            for job in (task.killer, task.watcher)
            if job is not None
        ]
        await asyncio.gather(*waiting, return_exceptions=True)

    def _end(self, task: _Running, status: Status) -> None:
        if task.shown.status == "running" and task.killer is None:
            task.ending = status
            task.killer = asyncio.create_task(end_shell(task.process))

    async def _watch(self, task: _Running) -> None:
        while task.process.returncode is None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_EVERY):
                    await task.process.wait()
            if _size(task.shown.output) > MOST_OUTPUT:
                self._end(task, "failed")
        if task.killer is not None:
            await task.killer
        task.left = family(task.process.pid)
        code = task.process.returncode
        status: Status = task.ending or ("completed" if code == 0 else "failed")
        old = task.shown
        task.shown = ShellTask(old.id, old.command, status, code, old.output)
        self._tell(task)

    def _find(self, task_id: str) -> _Running:
        task = self._tasks.get(task_id)
        if task is None:
            known = ", ".join(self._tasks) or "none"
            raise ToolFailure(f"There is no background command {task_id!r}; known: {known}.")
        return task

    def _tell(self, task: _Running) -> None:
        if self._on_change is not None:
            self._on_change(task.shown)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
