"""A project, a stage and transcripts with everything in them that a dream must not get at."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.agent.tools.base import ToolContext, ToolFailure, ToolResult
from app.background.dream.boundary import Boundary
from app.background.dream.roots import Roots
from tests.unit.agent.tool_kit import make_context

SECRET = "hush-hush"


class Ground:
    """The folders, a boundary around them, and a way to call its tools."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.project, self.stage = base / "project", base / "dreams" / "stage"
        self.sessions, self.outside = base / "sessions", base / "outside"
        self.memory = self.sessions / "memory"
        for folder in (self.project, self.stage, self.memory, self.outside):
            folder.mkdir(parents=True)
        (self.outside / "o.txt").write_text(SECRET)
        _fill_project(self.project, self.outside)
        _fill_stage(self.stage, self.outside)
        (self.sessions / "s.jsonl").write_text('{"type":"user"}\n' * 3)
        (self.memory / "topic.md").write_text("live\n")
        self.boundary = Boundary(self.project, self.stage, self.sessions, self.is_closed)
        self.tools = {tool.name: tool for tool in self.boundary.tools()}
        self.context: ToolContext = make_context(self.project)

    @property
    def roots(self) -> Roots:
        return Roots(self.project, self.stage, self.sessions, self.is_closed)

    def is_closed(self, path: Path) -> bool:
        return path.name == "closed.txt"

    def turn_to_outside(self, root: str) -> Path:
        """Put a link to the folder outside in the place of one of the roots."""
        folder: Path = getattr(self, root)
        folder.rename(self.base / "gone")
        folder.symlink_to(self.outside)
        return folder

    def put_in(self, text: str) -> str:
        for name in ("stage", "sessions", "project", "memory"):
            text = text.replace(f"{{{name}}}", str(getattr(self, name)))
        return text

    async def call(self, tool: str, /, **arguments: Any) -> str:
        """What the tool says; its refusal as `REFUSED …`."""
        try:
            result = await self.tools[tool].run(arguments, self.context, lambda _: None)
        except ToolFailure as failure:
            return f"REFUSED {failure}"
        return said(result)

    async def inspect(self, command: str) -> str:
        return await self.call("Inspect", command=command)

    def everything(self) -> dict[str, bytes | str]:
        """All files by path, with what they hold or where they lead."""
        found: dict[str, bytes | str] = {}
        for path in sorted(self.base.rglob("*")):
            name = str(path.relative_to(self.base))
            if path.is_symlink():
                found[name] = str(path.readlink())
            elif path.is_file():
                found[name] = path.read_bytes()
            else:
                found[name] = ""
        return found


def said(result: ToolResult) -> str:
    assert isinstance(result.content, str)
    return result.content


def _fill_project(project: Path, outside: Path) -> None:
    files: Mapping[str, str] = {
        "a.txt": "hello\nit's a | b -x bye\n",
        "-dash.txt": "dash\n",
        "with space.txt": "space\n",
        "sub/b.md": "topic\n",
        "sub/c.py": "x = 1\n",
        ".env": SECRET,
        ".env.local": SECRET,
        ".env.bak": SECRET,
        ".env.example": "KEY=\n",
        "keys/id_rsa": SECRET,
        "keys/server.pem": SECRET,
        ".ssh/config": SECRET,
        ".aws/credentials": SECRET,
        ".git/config": SECRET,
        ".netrc": SECRET,
        "credentials.json": SECRET,
        "closed.txt": SECRET,
    }
    for name, text in files.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(text)
    os.mkfifo(project / "pipe")
    here = Path.cwd()
    os.chdir(project)  # the path of a socket may have 108 bytes only
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind("sock")
    os.chdir(here)
    for name, aim in {
        "link-in": "a.txt",
        "link-out": str(outside / "o.txt"),
        "link-secret": ".env",
        "link-proc": "/proc/self",
        "out": "/etc",
        "loop": "loop",
    }.items():
        (project / name).symlink_to(aim)


def _fill_stage(stage: Path, outside: Path) -> None:
    (stage / "MEMORY.md").write_text("# Index\n- [Topic](topic.md)\n")
    (stage / "topic.md").write_text("a fact\n")
    (stage / "topics").mkdir()
    (stage / "folder.md").mkdir()
    os.mkfifo(stage / "pipe.md")
    (stage / "link.md").symlink_to(outside / "o.txt")
    (stage / "dangling.md").symlink_to(outside / "new.md")
    (stage / "loop.md").symlink_to("loop.md")
    (stage / "away").symlink_to(outside)
    (stage / "inner").symlink_to("topics")
