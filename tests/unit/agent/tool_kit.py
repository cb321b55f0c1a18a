"""What the tests of the tools share: a context on a temporary folder and a way to call."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.agent.tools.base import Tool, ToolContext, ToolResult
from app.agent.tools.shell_background import ShellTasks
from app.clock import SystemClock

CASES = Path(__file__).parents[2] / "data" / "cases"


def make_context(root: Path, **changes: Any) -> ToolContext:
    return ToolContext(
        root=root,
        clock=SystemClock(),
        scratch=root.parent / f"{root.name}-scratch",
        background=ShellTasks(),
        **changes,
    )


async def call(tool: Tool, context: ToolContext, /, **arguments: Any) -> ToolResult:
    return await tool.run(arguments, context, lambda _: None)


def text_of(result: ToolResult) -> str:
    assert isinstance(result.content, str)
    return result.content


def details_of(result: ToolResult) -> Any:
    assert result.details is not None
    return result.details


def case_rows(prefix: str) -> list[dict[str, Any]]:
    (folder,) = CASES.glob(f"{prefix}-*")
    return [json.loads(line) for line in (folder / "commands.jsonl").read_text().splitlines()]


def run_setup(prefix: str, target: Path) -> None:
    (folder,) = CASES.glob(f"{prefix}-*")
    subprocess.run(["bash", str(folder / "setup.sh"), str(target)], check=True)


async def until(holds: Callable[[], bool]) -> None:
    """Looks often until `holds`; a process outside the loop can set no event."""
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110 -- see above
            await asyncio.sleep(0.01)
