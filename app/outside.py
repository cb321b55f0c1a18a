"""Programs outside: the person's editor, the clipboard, the list of the project's files."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from app.errors import ReverieError

MOST_PATHS = 20_000
"""Paths offered for completion."""

_CLIPBOARDS = (
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("", ("pbcopy",)),
)


@dataclass(frozen=True, slots=True)
class Editing:
    """A text that is to be edited in `$VISUAL` or `$EDITOR`."""

    text: str
    environment: Mapping[str, str]

    def run(self, take: Callable[[str], object] | None = None) -> str:
        """Open the editor on a private file and wait; returns what it left.

        `take` gets that while the file is still there; where it raises, or the process ends in it,
        the file stays, and a `ReverieError` or `KeyboardInterrupt` names it. Raises `ReverieError`
        when there is no editor or it failed; the text is then unchanged.
        """
        from app.agent.tools.shell_environment import (
            shell_environment,
        )  # not before the first frame

        command = self.environment.get("VISUAL") or self.environment.get("EDITOR")
        words = shlex.split(command) if command else []
        program = shutil.which(words[0]) if words else shutil.which("vi") or shutil.which("nano")
        if program is None:
            raise ReverieError(
                f"No editor was found ({command or 'EDITOR is not set'}).",
                kept="The text is unchanged.",
                todo="Set EDITOR to the editor of your choice.",
            )
        descriptor, name = tempfile.mkstemp(prefix="reverie-", suffix=".md")
        stays = False
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(self.text.encode("utf-8", "replace"))
            # A handler that does nothing: ctrl+c belongs to the editor, and unlike SIG_IGN this is
            # not handed down to it.
            before = signal.signal(signal.SIGINT, _let_pass)
            try:
                command_line = [program, *words[1:], name]
                environment = shell_environment(self.environment)
                status = subprocess.run(command_line, check=False, env=environment).returncode
            finally:
                signal.signal(signal.SIGINT, before)
            left = Path(name).read_bytes().decode("utf-8", "replace")
            if not self.text.endswith("\n"):
                left = left.removesuffix("\n")
            if status != 0:
                stays = left != self.text
                more = f" What the editor had written is in {name}." if stays else ""
                raise ReverieError(
                    f"The editor ended with status {status}.", kept=f"The text is unchanged.{more}"
                )
            if take is not None:
                stays = bool(left.strip()) and left != self.text
                written = f"What you wrote is in {name}." * stays
                try:
                    take(left)
                except ReverieError as error:
                    kept = f"{error.kept} {written}".strip()
                    raise ReverieError(error.happened, kept=kept, todo=error.todo) from error
                except KeyboardInterrupt:
                    raise KeyboardInterrupt(written) from None
                stays = False
            return left
        finally:
            if not stays:
                Path(name).unlink(missing_ok=True)


def _let_pass(_number: int, _frame: object) -> None:
    """Take no notice of a signal."""


async def copy_to_system(text: str, environment: Mapping[str, str]) -> bool:
    """Put a text on the desktop's clipboard; False where there is none."""
    from app.agent.tools.shell_environment import shell_environment  # not before the first frame

    for variable, command in _CLIPBOARDS:
        if variable and not environment.get(variable):
            continue
        program = shutil.which(command[0])
        if program is None:
            continue
        process = await asyncio.create_subprocess_exec(
            program,
            *command[1:],
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env=shell_environment(environment),
        )
        await process.communicate(text.encode("utf-8", "replace"))
        return process.returncode == 0
    return False


async def project_paths(folder: Path) -> list[str]:
    """Paths of the project's files and folders, relative, without what git ignores."""
    from app.agent.tools.ripgrep import ripgrep_path  # the tools are imported after the first frame

    program = ripgrep_path()
    process = await asyncio.create_subprocess_exec(
        program,
        "--files",
        "--hidden",
        "--glob=!.git",
        cwd=folder,
        env={},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    output, _ = await process.communicate()
    files = output.decode("utf-8", "replace").split("\n")[:MOST_PATHS]
    folders = {parent for file in files for parent in _parents(file)}
    return sorted(folders) + sorted(file for file in files if file)


def _parents(file: str) -> list[str]:
    parts = file.split("/")[:-1]
    return ["/".join(parts[: n + 1]) + "/" for n in range(len(parts))]
