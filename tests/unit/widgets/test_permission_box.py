"""What a permission request shows of a call: what it will do, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from app.agent.tools.memory import MemoryTool
from app.state.model import PermissionRequest
from widgets.ask.permission import subject

PLANTED, ENTRY = "/memories/planted.md", "/memories/MEMORY.md"


def shown(arguments: dict[str, Any]) -> str:
    title = MemoryTool().title(arguments)
    request = PermissionRequest("r", "memory", title, arguments, "why", None)
    return "\n".join(part.plain for part in subject(request)).rstrip("\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            {"command": "insert", "path": ENTRY, "insert_text": "evil", "file_text": "harmless"},
            f"insert {ENTRY}\n+ evil",
        ),
        (
            {
                "command": "create",
                "path": ENTRY,
                "file_text": "evil",
                "old_str": "a",
                "new_str": "b",
            },
            f"create {ENTRY}\n+ evil",
        ),
        (
            {"command": "str_replace", "path": ENTRY, "old_str": "x", "new_str": "evil"}
            | {"insert_text": "harmless", "file_text": "harmless"},
            f"str_replace {ENTRY}\n− x\n+ evil",
        ),
        (
            {"command": "rename", "old_path": PLANTED, "new_path": ENTRY, "path": "/memories/b.md"},
            f"rename {PLANTED}\nto {ENTRY}",
        ),
        ({"command": "delete", "path": ENTRY, "new_str": "better"}, f"delete {ENTRY}"),
    ],
)
def test_a_change_of_memory_is_shown_by_its_command(arguments: dict[str, Any], words: str) -> None:
    assert shown(arguments) == words
