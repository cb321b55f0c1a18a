"""Sessions on disk, made record by record."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from app.paths import Places

MODEL = "claude-haiku-4-5"
USAGE = {"input_tokens": 1_000_000, "output_tokens": 0}
"""One dollar's worth."""


def session_id(number: int) -> str:
    return f"{number:08d}-0000-4000-8000-000000000000"


class Made:
    """A session's records; each hangs on the one before unless said otherwise."""

    def __init__(self, number: int = 1, cwd: str | None = "/w", branch: str = "main") -> None:
        self.id = session_id(number)
        self.lines: list[str] = []
        self.cwd = cwd
        self.branch = branch
        self.leaf: str | None = None
        self._count = 0

    def raw(self, **data: Any) -> Made:
        self.lines.append(json.dumps(data, separators=(",", ":"), ensure_ascii=False))
        return self

    def add(self, kind: str, parent: str | None = "", **fields: Any) -> Made:
        self._count += 1
        uuid = f"{self.id[:8]}-u{self._count}"
        place = {} if self.cwd is None else {"cwd": self.cwd, "gitBranch": self.branch}
        self.raw(
            parentUuid=self.leaf if parent == "" else parent,
            isSidechain=fields.pop("isSidechain", False),
            type=kind,
            **fields,
            uuid=uuid,
            timestamp=f"2026-11-02T09:00:{self._count % 60:02d}.000Z",
            sessionId=self.id,
            **place,
        )
        self.leaf = uuid
        return self

    def user(self, content: Any, **fields: Any) -> Made:
        return self.add("user", message={"role": "user", "content": content}, **fields)

    def says(self, text: str, **fields: Any) -> Made:
        return self.assistant({"type": "text", "text": text}, **fields)

    def assistant(self, *blocks: dict[str, Any], **fields: Any) -> Made:
        message = {
            "model": MODEL,
            "id": f"msg_{self._count}",
            "role": "assistant",
            "content": list(blocks),
            "usage": USAGE,
        }
        return self.add("assistant", message=message, **fields)

    def calls(self, tool_id: str, name: str, **arguments: Any) -> Made:
        return self.assistant({"type": "tool_use", "id": tool_id, "name": name, "input": arguments})

    def result(self, tool_id: str, content: Any) -> Made:
        return self.user([{"type": "tool_result", "tool_use_id": tool_id, "content": content}])

    def titled(self, title: str) -> Made:
        return self.raw(type="custom-title", customTitle=title, sessionId=self.id)

    def talk(self, prompt: str, answer: str = "Done.") -> Made:
        return self.user(prompt).says(answer)

    def long(self, bytes_: int) -> Made:
        """Turns of that many bytes."""
        for _ in range(bytes_ // 4_000):
            self.talk("go on", "lorem " * 600)
        return self

    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)

    def write(self, folder: Path, when: float | None = None) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{self.id}.jsonl"
        file.write_text(self.text(), "utf-8")
        if when is not None:
            os.utime(file, (when, when))
        return file

    def keep(self, places: Places, folder: Path, when: float | None = None) -> Path:
        """Write it as a session of a project."""
        return self.write(places.project(folder), when)
