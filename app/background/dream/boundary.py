"""All that a dream's sub-agent can do: its eight tools, and what each of them refuses.

Nobody is asked: the tools are the boundary (spec/dream.md). `verdict` tells before a call what the
tool will say of it; the tool does not rely on that, and checks again when it runs.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any, Final

from app.agent.path_policy import glob_base
from app.agent.policy import Sightings
from app.agent.tools.arguments import checked
from app.agent.tools.base import Tool, ToolContext, ToolFailure, ToolInput, ToolResult
from app.agent.tools.glob import GlobTool
from app.agent.tools.grep import GrepTool
from app.agent.tools.ls import LsTool
from app.agent.tools.read import ReadTool
from app.background.dream.inspect import INSPECT, InspectTool
from app.background.dream.inspect_rules import inspect_verdict
from app.background.dream.roots import (
    STAND_IN,
    NotAllowed,
    Roots,
    is_closed,
    nothing_hidden,
    readable,
    real,
)
from app.background.dream.stage_files import StageFiles
from app.background.dream.stage_tools import StageDelete, StageEdit, StageWrite
from app.paths import open_resolved

_MOVED: Final = "The folder was moved or replaced meanwhile. Nothing is shown; try again."


class Boundary:
    """The reach of one dream: three folders to read, one of them to change."""

    def __init__(
        self,
        project: Path,
        stage: Path,
        sessions: Path,
        hidden: Callable[[Path], bool] = nothing_hidden,
    ) -> None:
        """`hidden` tells what the person's rules close (`permission.hidden_from_search`)."""
        self.stage = stage
        self.sessions = sessions
        self._roots = Roots(project, stage, sessions, hidden)
        self._files = StageFiles(stage)
        self._readers = {
            tool.name: BoundedReader(tool, self._roots)
            for tool in (ReadTool(), GlobTool(), GrepTool(), LsTool())
        }
        self._writers = {
            tool.name: tool
            for tool in (
                StageWrite(self._files),
                StageEdit(self._files),
                StageDelete(self._files),
            )
        }
        self._inspect = InspectTool(self._roots)

    def tools(self) -> tuple[Tool, ...]:
        """Read, Glob, Grep, LS, Write, Edit, Delete and Inspect."""
        return (*self._readers.values(), *self._writers.values(), self._inspect)

    def hidden(self, path: Path) -> bool:
        """Whether a search leaves this file out."""
        return is_closed(path, self._roots)

    def document(self, arguments: Mapping[str, Any]) -> str:
        """The document that a call changes, by name; empty for one that is refused."""
        path = arguments.get("file_path")
        try:
            return self._files.name_of(path) if isinstance(path, str) else ""
        except NotAllowed:
            return ""

    def verdict(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Why a call is refused, a sentence without its full stop; empty where it may run.

        Looks at the disk, changes nothing, runs nothing, and never raises, whatever the model
        wrote into `arguments`. Blocking.
        """
        return self._trouble(tool, arguments).removesuffix(".")

    def _trouble(self, tool: str, arguments: Mapping[str, Any]) -> str:
        if tool in self._writers:
            return self._writers[tool].trouble(arguments)
        try:
            if tool in self._readers:
                self._readers[tool].place(arguments)
            elif tool == INSPECT:
                return inspect_verdict(checked(self._inspect, arguments)["command"], self._roots)
            else:
                return f"A dream has no tool {tool}."
        except (NotAllowed, ToolFailure) as refused:
            return str(refused)
        return ""


class BoundedReader:
    """One of the reading tools of every session, kept within the roots of a dream."""

    def __init__(self, inner: Tool, roots: Roots) -> None:
        self.name = inner.name
        self.description = inner.description
        self.schema = inner.schema
        self.read_only = inner.read_only
        self._inner = inner
        self._roots = roots

    def title(self, arguments: ToolInput) -> str:
        return self._inner.title(arguments)

    def place(self, arguments: ToolInput) -> Path:
        """The resolved path that a call is about. Raises `NotAllowed` and `ToolFailure`."""
        values = checked(self._inner, arguments)
        text: str = values["file_path"] if self.name == "Read" else values.get("path", ".")
        if self.name == "Glob":
            text, _ = glob_base(values["pattern"], text)
        return readable(text, self._roots)

    def _is_closed(self, path: Path) -> bool:
        return is_closed(path, self._roots)

    async def run(
        self, arguments: ToolInput, context: ToolContext, progress: Callable[[str], None]
    ) -> ToolResult:
        try:
            place = self.place(arguments)
            # The tool opens what was judged here, not what the name leads to by then.
            sightings = Sightings()
            sightings.note(arguments, place)
            bounded = dataclasses.replace(
                context,
                root=self._roots.project,
                added_roots=(self._roots.stage, self._roots.transcripts),
                hidden=self._is_closed,
                sightings=sightings,
            )
            with _standing(place):
                return await self._inner.run(arguments, bounded, progress)
        except NotAllowed as refused:
            raise ToolFailure(str(refused)) from refused


@contextlib.contextmanager
def _standing(place: Path) -> Generator[None, None, None]:
    """Raises `NotAllowed` when by the end another thing is at `place` than at the beginning.

    For the searches, whose program goes to the folder by its name.
    """
    if not os.path.lexists(place):
        yield
        return
    try:
        descriptor = open_resolved(place, STAND_IN)
    except OSError as error:
        raise NotAllowed(_MOVED) from error
    try:
        yield
        if real(place) != place or not _is_still(place, descriptor):
            raise NotAllowed(_MOVED)
    finally:
        os.close(descriptor)


def _is_still(place: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(place.lstat(), os.fstat(descriptor))
    except OSError:
        return False
