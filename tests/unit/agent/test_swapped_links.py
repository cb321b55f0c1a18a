"""A link that is turned elsewhere after the verdict is not followed by the tool."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.agent.permission import Mode, Policy, judge
from app.agent.policy import Sightings
from app.agent.tools import text_file
from app.agent.tools.base import Tool, ToolContext, ToolFailure
from app.agent.tools.edit import EditTool
from app.agent.tools.glob import GlobTool
from app.agent.tools.grep import GrepTool
from app.agent.tools.ls import LsTool
from app.agent.tools.read import ReadTool
from app.agent.tools.write import WriteTool
from app.paths import open_resolved
from tests.unit.agent.tool_kit import make_context, text_of


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    root = tmp_path / "p"
    for folder in ("p/safe", "p/safe2", "secret"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "f.txt").write_text(f"text of {folder}\n")
    (root / "link").symlink_to("safe")
    (root / "file").symlink_to("safe/f.txt")
    return Policy(root, tmp_path / "home", Mode.ACCEPT_EDITS)


def _context(policy: Policy) -> ToolContext:
    return make_context(policy.root, sightings=policy.sightings)


def _turn(policy: Policy, name: str, aim: str) -> None:
    (policy.root / name).unlink()
    (policy.root / name).symlink_to(aim)


async def _run(tool: Tool, arguments: dict[str, Any], context: ToolContext) -> str:
    return text_of(await tool.run(arguments, context, lambda _: None))


@pytest.mark.parametrize(
    ("make", "arguments", "name", "aim"),
    [
        (ReadTool, {"file_path": "file"}, "file", "../secret/f.txt"),
        (ReadTool, {"file_path": "link/f.txt"}, "link", "../secret"),
        (ReadTool, {"file_path": "link/f.txt"}, "link", "safe2"),
        (GrepTool, {"pattern": "text", "path": "link"}, "link", "../secret"),
        (GrepTool, {"pattern": "text", "path": "file"}, "file", "../secret/f.txt"),
        (GlobTool, {"pattern": "*", "path": "link"}, "link", "../secret"),
        (LsTool, {"path": "link"}, "link", "../secret"),
        (WriteTool, {"file_path": "link/new", "content": "x"}, "link", "safe2"),
        (
            EditTool,
            {"file_path": "file", "old_string": "text", "new_string": "x"},
            "file",
            "safe2/f.txt",
        ),
    ],
)
async def test_link_turned_after_the_verdict(
    make: Callable[[], Tool], arguments: dict[str, Any], name: str, aim: str, policy: Policy
) -> None:
    tool, context = make(), _context(policy)
    assert judge(tool.name, arguments, policy).verdict == "allow"
    if tool.name == "Edit":
        await _run(ReadTool(), {"file_path": "safe/f.txt"}, context)
        await _run(ReadTool(), {"file_path": "safe2/f.txt"}, context)
    else:
        await _run(tool, arguments, context)
    _turn(policy, name, aim)
    with pytest.raises(ToolFailure, match="when this call was allowed"):
        await _run(tool, arguments, context)
    assert not (policy.root / "safe2" / "new").exists()
    assert (policy.root / "safe2" / "f.txt").read_text() == "text of p/safe2\n"


async def test_what_the_person_allowed_is_read(policy: Policy) -> None:
    arguments = {"file_path": "../secret/f.txt"}
    assert judge("Read", arguments, policy).verdict == "ask"
    assert "text of secret" in await _run(ReadTool(), arguments, _context(policy))


async def test_call_that_was_not_judged_is_carried_out(policy: Policy) -> None:
    assert "text of p/safe" in await _run(ReadTool(), {"file_path": "file"}, _context(policy))


async def test_folder_swapped_for_a_link_while_the_file_is_opened(
    policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def swap(path: Path) -> os.stat_result:
        state = path.stat()
        (policy.root / "safe").rename(policy.root / "gone")
        (policy.root / "safe").symlink_to("../secret")
        return state

    monkeypatch.setattr(text_file, "regular_file", swap)
    with pytest.raises(ToolFailure, match="replaced by a link"):
        await _run(ReadTool(), {"file_path": "safe/f.txt"}, _context(policy))


def test_no_link_is_gone_through(policy: Policy) -> None:
    for name in ("file", "link/f.txt", "link"):
        with pytest.raises(OSError, match=r"symbolic|directory"):
            open_resolved(policy.root.resolve() / name, os.O_RDONLY)
    opened = open_resolved(policy.root.resolve() / "safe" / "f.txt", os.O_RDONLY)
    assert os.read(opened, 100) == b"text of p/safe\n"
    os.close(opened)
    before = _open_descriptors()
    for _ in range(20):
        with pytest.raises(OSError, match=r"symbolic|directory"):
            open_resolved(policy.root.resolve() / "link" / "f.txt", os.O_RDONLY)
    assert _open_descriptors() == before


def _open_descriptors() -> int:
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


def test_sightings_keep_calls_apart() -> None:
    sightings = Sightings()
    first, second = {"file_path": "x"}, {"file_path": "x"}
    sightings.note(first, Path("/a"))
    sightings.note(second, Path("/b"))
    assert (sightings.of(first), sightings.of(second)) == (Path("/a"), Path("/b"))
