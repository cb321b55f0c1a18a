"""Inspect: eight reading commands by argument vector, never through a shell (spec/dream.md)."""

from __future__ import annotations

import asyncio
import contextlib
import re
import resource
import shutil
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

from app.agent.tools.arguments import checked, clean, title_of
from app.agent.tools.base import (
    MAX_RESULT_CHARACTERS,
    ToolContext,
    ToolFailure,
    ToolInput,
    ToolResult,
)
from app.agent.tools.process_group import end_shell
from app.background.dream.inspect_files import Opened, Walk, expression_for, open_operands
from app.background.dream.inspect_rules import Call, parsed_call
from app.background.dream.roots import NotAllowed, Roots

INSPECT: Final = "Inspect"
TIME_LIMIT: Final = 10.0
"""Seconds for one command."""
_PATH: Final = "/usr/bin:/bin"
_ENVIRONMENT: Final = {"PATH": _PATH, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
_MOST_KEPT: Final = 4 * MAX_RESULT_CHARACTERS
"""Bytes of output that are kept: a character has four at most."""
_MOST_ERRORS: Final = 4_096
_MOST_MEMORY: Final = 1 << 30
_NOTHING_FOUND: Final = 1
"""How grep ends when no line matches."""


class InspectTool:
    """Runs one command of the table in `inspect_rules`, on files that were opened before."""

    name = INSPECT
    description = (
        "Looks at files with one of ls, find, grep, cat, stat, wc, head, tail. `command` is one "
        "plain command line: no pipes, redirections, variables, substitutions or second commands, "
        "and patterns in a path are not expanded. Relative paths start at the project folder. "
        "`grep -r` leaves out .git, links and files that may hold secrets. At most "
        f"{MAX_RESULT_CHARACTERS} characters come back; transcripts are large: search them, and "
        "never cat a whole one."
    )
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "command": {
                "type": "string",
                "minLength": 1,
                "description": "For example: grep -rn --include='*.py' 'class Store' app",
            }
        },
        "required": ["command"],
        "additionalProperties": False,
    }
    read_only = True

    def __init__(self, roots: Roots) -> None:
        self._roots = roots

    def title(self, arguments: ToolInput) -> str:
        return title_of(arguments, "command")

    async def run(
        self, arguments: ToolInput, context: ToolContext, progress: Callable[[str], None]
    ) -> ToolResult:
        values = checked(self, arguments)
        if sys.platform != "linux":
            raise ToolFailure("Inspect works on Linux only; use Read, Grep, Glob and LS.")
        output = _Output()
        try:
            call = parsed_call(values["command"])
            program = shutil.which(call.name, path=_PATH)
            if program is None:
                raise ToolFailure(f"`{call.name}` is not installed in {_PATH}.")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TIME_LIMIT):
                    await _run(program, call, self._roots, output)
                    output.is_whole = True
        except NotAllowed as refused:
            raise ToolFailure(str(refused)) from refused
        return ToolResult(output.text(), is_error=output.has_failed())


async def _run(program: str, call: Call, roots: Roots, output: _Output) -> None:
    if not call.recursive:
        opened = await _in_thread(lambda: open_operands(call, roots))
        await _run_once(program, call, opened, output)
        return
    walk = Walk(call, roots)
    while (opened := await _in_thread(walk.batch)).words:
        await _run_once(program, call, opened, output)
    if walk.closed:
        output.notes.append(
            f"{walk.closed} files or folders were left out: secrets, or a rule closes them"
        )
    if walk.left <= 0:
        output.notes.append("there are too many files; name a smaller folder")


async def _in_thread(work: Callable[[], Opened]) -> Opened:
    """What `work` opens; when cancelled, what it opens meanwhile is closed."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.add_done_callback(_closed)
        raise


def _closed(task: asyncio.Future[Opened]) -> None:
    if not task.cancelled() and task.exception() is None:
        task.result().close()


async def _run_once(program: str, call: Call, opened: Opened, output: _Output) -> None:
    try:
        process = await asyncio.create_subprocess_exec(
            program,
            *_arguments(call, opened),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd="/",
            env=_ENVIRONMENT,
            start_new_session=True,
            pass_fds=tuple(opened.names),
        )
        try:
            _limit(process.pid)
            await asyncio.gather(output.take(process.stdout), output.hear(process.stderr))
            output.codes.add(await process.wait())
        finally:
            if process.returncode is None:
                await end_shell(process)
            output.settle(call, opened)
    finally:
        opened.close()


def _arguments(call: Call, opened: Opened) -> list[str]:
    if call.name == "find":
        return [*opened.words, *expression_for(call, opened)]
    options = list(call.options)
    if call.name == "ls":
        options.append("--dereference-command-line")  # the operand is a link to what was opened
    if call.name == "stat":
        options.append("--dereference")
    is_silent = any(re.fullmatch(r"-h|--no-filename", option) for option in options)
    if call.recursive and not is_silent:
        options.append("--with-filename")
    return [*options, "--", *opened.words]


def _limit(pid: int) -> None:
    """No file can be written by it, and no pattern can take all memory or go on computing."""
    seconds = int(TIME_LIMIT) + 1
    for what, most in (
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_AS, _MOST_MEMORY),
        (resource.RLIMIT_CPU, seconds),
    ):
        with contextlib.suppress(OSError, ValueError):  # it has ended already
            resource.prlimit(pid, what, (most, most))


class _Output:
    """What the runs of one command have printed: the beginning is kept, all of it is counted."""

    def __init__(self) -> None:
        self.is_whole = False
        self.codes: set[int] = set()
        self.notes: list[str] = []
        self._kept = b""
        self._total = 0
        self._errors = b""
        self._raw = bytearray()
        self._raw_errors = bytearray()

    async def take(self, stream: asyncio.StreamReader | None) -> None:
        """Read the standard output to its end."""
        while stream is not None and (piece := await stream.read(1 << 16)):
            self._total += len(piece)
            self._raw += piece[: max(0, _MOST_KEPT - len(self._kept) - len(self._raw))]

    async def hear(self, stream: asyncio.StreamReader | None) -> None:
        """Read the error output to its end."""
        while stream is not None and (piece := await stream.read(1 << 16)):
            self._raw_errors += piece[: max(0, _MOST_ERRORS - len(self._raw_errors))]

    def settle(self, call: Call, opened: Opened) -> None:
        """Give the files of the run that ends their names."""
        self._kept += opened.named(bytes(self._raw), call.name)
        errors = opened.named(bytes(self._raw_errors), call.name, errors=True)
        self._errors = (self._errors + errors)[:_MOST_ERRORS]
        self._raw.clear()
        self._raw_errors.clear()

    def has_failed(self) -> bool:
        """Whether nothing but an error came of it."""
        return not self._kept and (bool(self._errors) or not self.is_whole)

    def text(self) -> str:
        """For the model."""
        whole = clean(self._kept.decode("utf-8", "replace"))
        shown = whole[:MAX_RESULT_CHARACTERS]
        left = self._total - len(shown.encode("utf-8", "replace"))
        parts = [shown.removesuffix("\n")] if shown else []
        if len(whole) > len(shown) or self._total > _MOST_KEPT:
            parts.append(f"({max(left, 1)} more bytes were left out; ask for less)")
        if self._errors:
            parts.append(clean(self._errors.decode("utf-8", "replace")).strip())
        parts += [f"({note})" for note in self.notes]
        if not self.is_whole:
            parts.append(f"(stopped after {TIME_LIMIT:.0f} s; ask for less)")
        if not parts:
            no_line = self.codes <= {_NOTHING_FOUND} and self.codes
            parts.append("No matches found." if no_line else "(no output)")
        return "\n".join(parts)
