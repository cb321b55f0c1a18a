"""Bash: a shell command, in front or in the background."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from app.agent.tools.arguments import checked, clean, title_of
from app.agent.tools.base import (
    ToolContext,
    ToolFailure,
    ToolInput,
    ToolInterrupted,
    ToolResult,
)
from app.agent.tools.paths import reason_of
from app.agent.tools.process_group import end_shell
from app.agent.tools.shell_environment import shell_environment
from app.agent.tools.shell_output import private_file
from app.agent.tools.shell_runner import (
    CommandInterrupted,
    Finished,
    run_command,
    start,
    wrapped,
)
from app.sessions.prompts import INTERRUPTED_RESULT

DEFAULT_TIMEOUT_MS = 120_000
LONGEST_TIMEOUT_MS = 600_000


class BashTool:
    """Claude Code's Bash."""

    name = "Bash"
    description = (
        "Runs a bash command and gives back what it printed, errors included, and its exit status "
        "where that is not 0. The working folder is kept from call to call; variables are not. "
        "There is no input and no terminal: a command that asks something sees the end of its "
        f"input. After {DEFAULT_TIMEOUT_MS // 1000} s, or `timeout`, the command and all it "
        "started is ended. Set `run_in_background` for servers and long jobs; BashOutput reads "
        "them and KillShell ends them. Use Read, Edit, Glob and Grep rather than cat, sed, find "
        "and grep; quote paths that hold spaces."
    )
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "command": {"type": "string", "minLength": 1, "description": "What to run."},
            "description": {
                "type": "string",
                "description": "What it does, in five to ten words, for the person.",
            },
            "timeout": {
                "type": "integer",
                "minimum": 1,
                "maximum": LONGEST_TIMEOUT_MS,
                "description": "Milliseconds after which the command is ended.",
            },
            "run_in_background": {
                "type": "boolean",
                "description": "Return at once; the command goes on.",
            },
        },
        "required": ["command"],
        "additionalProperties": False,
    }
    read_only = False

    def title(self, arguments: ToolInput) -> str:
        return title_of(arguments, "command")

    async def run(
        self, arguments: ToolInput, context: ToolContext, progress: Callable[[str], None]
    ) -> ToolResult:
        values = checked(self, arguments)
        command: str = values["command"]
        if clean(command) != command:
            raise ToolFailure("`command` holds a NUL or half a character; nothing was run.")
        cwd, notice = working_folder(context)
        environment = shell_environment(os.environ)
        if values.get("run_in_background"):
            return await _in_background(command, cwd, environment, context, notice)
        limit = values.get("timeout", DEFAULT_TIMEOUT_MS) / 1000
        watched = nullcontext() if context.files is None else context.files.around(command)
        try:
            async with watched:
                finished = await run_command(
                    command, cwd, environment, context.scratch, limit, progress
                )
        except CommandInterrupted as interrupted:
            raise ToolInterrupted(_cut_short(interrupted.finished, notice)) from None
        context.cwd = finished.cwd or cwd
        return _result(finished, notice)


def working_folder(context: ToolContext) -> tuple[Path, str]:
    """Where the next command runs, and a sentence where that is not where the last one ended.

    A folder that is gone or cannot be entered is replaced by its nearest parent inside the
    session's folders, else by the session's folder, else by that one's nearest parent.
    """
    wanted = context.cwd or context.root
    if _can_enter(wanted):
        return wanted, ""
    roots = (context.root, *context.added_roots)
    inside = (
        parent
        for parent in wanted.parents
        if any(
            parent.is_relative_to(root) or parent.is_relative_to(root.resolve()) for root in roots
        )
    )
    candidates = (*inside, context.root, *context.root.parents)
    found = next((folder for folder in candidates if _can_enter(folder)), Path("/"))
    context.cwd = found
    return found, clean(
        f"The working folder {wanted} is gone or cannot be entered; this ran in {found}."
    )


def _can_enter(folder: Path) -> bool:
    return folder.is_dir() and os.access(folder, os.X_OK)


async def _in_background(
    command: str, cwd: Path, environment: dict[str, str], context: ToolContext, notice: str
) -> ToolResult:
    try:
        output = private_file(context.scratch, "background")
        descriptor = os.open(output, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    except OSError as error:
        raise ToolFailure(
            f"The output cannot be kept in {context.scratch}: {reason_of(error)}."
        ) from error
    try:
        process = await start(wrapped(command, None), cwd, environment, descriptor)
    finally:
        os.close(descriptor)
    try:
        task_id = context.background.adopt(process, command, output)
    except BaseException:  # also a cancellation: nobody else would end the process; raised again
        await end_shell(process)
        raise
    text = f"Running in the background as {task_id}. BashOutput reads it, KillShell ends it."
    content = "\n".join(part for part in (notice, text) if part)
    details = {**_details("", interrupted=False), "backgroundTaskId": task_id}
    return ToolResult(content, details=details)


def _result(finished: Finished, notice: str) -> ToolResult:
    status = _status(finished)
    output = finished.text.strip("\n")
    if not output.strip():
        output = "" if status else "(The command printed nothing.)"
    parts = [notice, status, output, _left_running(finished.left_running)]
    details = _output_details(finished, interrupted=finished.timed_out)
    return ToolResult(_joined(parts), is_error=bool(status), details=details)


def _cut_short(finished: Finished, notice: str) -> ToolResult:
    content = _joined([notice, finished.text.strip("\n"), INTERRUPTED_RESULT])
    return ToolResult(content, is_error=True, details=_output_details(finished, interrupted=True))


def _joined(parts: list[str]) -> str:
    return clean("\n".join(part for part in parts if part))


def _output_details(finished: Finished, *, interrupted: bool) -> dict[str, Any]:
    details = _details(finished.text, interrupted=interrupted)
    if finished.output_path is not None:
        details["persistedOutputPath"] = str(finished.output_path)
        details["persistedOutputSize"] = finished.output_size
    return details


def _status(finished: Finished) -> str:
    if finished.timed_out:
        return "The command took too long; it and all it had started was ended."
    if finished.code < 0:
        return (
            f"The command was killed by signal {-finished.code} ({_signal_name(-finished.code)})."
        )
    return f"Exit code {finished.code}" if finished.code else ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def _left_running(names: tuple[str, ...]) -> str:
    if not names:
        return ""
    shown = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
    return f"Left running by the command: {shown}. Its later output is not kept."


def _details(text: str, *, interrupted: bool) -> dict[str, Any]:
    return {"stdout": clean(text), "stderr": "", "interrupted": interrupted, "isImage": False}
