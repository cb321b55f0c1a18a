"""Files that were read before a compaction, attached again behind its summary."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final, cast

from app.agent.compaction import cut_to_tokens
from app.agent.tool_runner import ToolRunner
from app.agent.tools.base import ToolFailure
from app.models.estimate import estimate_text
from app.sessions.compact import Plan
from app.sessions.graph import MessageGraph
from app.sessions.prompts import blocks_of, content_of
from app.sessions.records import JsonObject

FILES: Final = 5
FILE_TOKENS: Final = 5_000
"""The newest files, and tokens of each (spec/sessions.md, Compact)."""
READ: Final = "Read"


async def files_again(
    graph: MessageGraph, plan: Plan, runner: ToolRunner, budget: int
) -> list[tuple[str, str]]:
    """`(path, text)` of the files that were read last, as they are now, within `budget` tokens.

    Files that are gone, that are no text, that the rules no longer allow to be read without a
    question, or that what is kept has in it anyway are left out.
    """
    tool = runner.tools.get(READ)
    if tool is None:
        return []
    known = set(_read_paths(graph, plan.kept))
    found: list[tuple[str, str]] = []
    for path in _read_paths(graph, reversed(plan.summarised)):
        if len(found) == FILES or budget <= 0:
            break
        arguments = {"file_path": path}
        if path in known:
            continue
        known.add(path)
        verdict = await asyncio.to_thread(runner.gate.judge, READ, arguments)
        if verdict.verdict != "allow":
            continue
        try:
            result = await tool.run(arguments, runner.context, _ignore)
        except ToolFailure:
            continue
        if isinstance(result.content, str):
            text = cut_to_tokens(result.content, min(FILE_TOKENS, budget))
            budget -= estimate_text(text)
            found.append((path, text))
    return found


def _ignore(_output: str) -> None:
    """Nobody watches these calls."""


def _read_paths(graph: MessageGraph, positions: Iterable[int]) -> Iterable[str]:
    """Paths that Read was called with and gave, in the order of the positions."""
    for here in positions:
        if not graph.records[here].tool_uses:
            continue
        for block in blocks_of(content_of(graph.records[here].data)):
            arguments = block.get("input")
            if block.get("name") != READ or not isinstance(arguments, dict):
                continue
            path = cast("JsonObject", arguments).get("file_path")
            if isinstance(path, str) and _succeeded(graph, str(block.get("id"))):
                yield path


def _succeeded(graph: MessageGraph, tool_id: str) -> bool:
    for here in graph.results.get(tool_id, ()):
        for block in blocks_of(content_of(graph.records[here].data)):
            if block.get("tool_use_id") == tool_id:
                return block.get("is_error") is not True
    return False
