"""Conversations in a few words, for the tests of what a turn amounts to."""

from __future__ import annotations

from typing import Any

from app.sessions.graph import GraphView
from tests.unit.widgets.test_feed import Writer, use

Step = tuple[Any, ...]


class Talk(Writer):
    """Writes the records of a turn step by step; each method is a step's first word."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self.messages = 0

    def ask(self, text: str, mode: str = "default") -> None:
        self.user(text, permissionMode=mode, origin={"kind": "human"}, promptSource="typed")

    def say(self, text: str) -> None:
        self.messages += 1
        self.assistant({"type": "text", "text": text}, number=self.messages)

    def think(self, text: str) -> None:
        self.messages += 1
        self.assistant({"type": "thinking", "thinking": text}, number=self.messages)

    def call(self, name: str, **arguments: Any) -> str:
        self.calls += 1
        self.messages += 1
        self.assistant(use(f"t{self.calls}", name, **arguments), number=self.messages)
        return f"t{self.calls}"

    def run(self, command: str, output: str = "", code: int = 0, **details: Any) -> None:
        tool_id = self.call("Bash", command=command)
        words = f"Exit code {code}\n{output}" if code else output
        about = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False, **details}
        extra = {"is_error": True} if code else {}
        self.result(tool_id, words, about, **extra)

    def edit(self, path: str) -> None:
        tool_id = self.call("Edit", file_path=path)
        patch = [
            {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a", "+b"]}
        ]
        self.result(tool_id, "Edited.", {"filePath": path, "structuredPatch": patch})

    def write(self, path: str) -> None:
        tool_id = self.call("Write", file_path=path)
        self.result(
            tool_id, "Created.", {"type": "create", "filePath": path, "structuredPatch": []}
        )

    def fail(self, name: str, words: str, **arguments: Any) -> None:
        self.result(self.call(name, **arguments), words, f"Error: {words}", is_error=True)

    def refuse(self, name: str, by: str = "person", **arguments: Any) -> None:
        tool_id = self.call(name, **arguments)
        block = {"type": "tool_result", "tool_use_id": tool_id, "content": "no", "is_error": True}
        details = "User rejected tool use" if by == "person" else "Permission denied: a rule"
        self.user([block], toolUseResult=details, toolDenialKind="user")

    def agents(self, *words: str) -> None:
        self.messages += 1
        first = self.calls + 1
        blocks = [use(f"t{first + i}", "Task", description=word) for i, word in enumerate(words)]
        self.calls += len(words)
        self.assistant(*blocks, number=self.messages)
        leaf = self.view.leaf
        for i, word in enumerate(words):
            side = {"isSidechain": True, "message": {"role": "user", "content": "Is it so?"}}
            self.add("user", **side)
            self.result(f"t{first + i}", f"{word}: found nothing?", {"agentId": f"a{i}"})
        assert leaf is not None

    def stop(self, tool: bool = False) -> None:
        words = "[Request interrupted by user for tool use]" if tool else None
        text = words or "[Request interrupted by user]"
        self.user([{"type": "text", "text": text}], promptSource="system")

    def event(self, subtype: str, content: str) -> None:
        self.add("system", subtype=subtype, content=content)

    def meta(self, text: str) -> None:
        self.user(text, isMeta=True)


def view_of(steps: list[Step]) -> GraphView:
    """The view at the end of a conversation."""
    talk = Talk()
    for name, *values in steps:
        named = values.pop() if values and isinstance(values[-1], dict) else {}
        getattr(talk, name)(*values, **named)
    return talk.view
