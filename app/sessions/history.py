"""The records of a branch with its parallel tools: all for the eye, or the next request's own."""

from __future__ import annotations

from collections.abc import Iterator

from app.sessions.graph import MessageGraph, Path
from app.sessions.kept import Walk, all_kept, joined_at


def timeline(graph: MessageGraph, leaf: int | None) -> list[int]:
    """The records of the branch that ends in `leaf`, oldest first.

    Unlike the request it goes on above compact boundaries; like it, it takes in the blocks and
    results of parallel tool calls that the walk itself misses.
    """
    walked = _across(graph, leaf)
    walked.reverse()
    path = Path(graph, walked)
    shown: dict[int, None] = {}
    begun: set[str | None] = set()
    for here in walked:
        shown[here] = None
        record = graph.records[here]
        if record.type != "assistant" or (record.message_id and record.message_id in begun):
            continue
        begun.add(record.message_id)
        group = path.message(here)
        shown |= dict.fromkeys(member for member in group if member not in path.on_it)
        for member in group:
            shown |= dict.fromkeys(_results(path, member, beside_only=True))
    return list(shown)


def _results(path: Path, here: int, *, beside_only: bool) -> Iterator[int]:
    """The results of a record's calls that belong to a path; or those beside it alone."""
    for tool_id in path.graph.records[here].tool_uses:
        for result in path.graph.results.get(tool_id, ()):
            if path.has(result) and not (beside_only and result in path.on_it):
                yield result


def _across(graph: MessageGraph, leaf: int | None) -> list[int]:
    """The walk to the root, newest first, with the compactions that it passes by."""
    tails = [kept for kept in all_kept(graph) if kept.joins_tail]
    if not tails:
        return list(graph.walk(leaf))
    path: list[int] = []
    for here in graph.walk(leaf):
        passed = joined_at(graph, tails, here, path[-1] if path else None)
        if passed is not None:
            path += [passed.anchor, passed.boundary]
        path.append(here)
    return path


def logical_chain(graph: MessageGraph, walk: Walk) -> list[int]:
    """The records that a request is made of, in its order, without progress and sub-agents."""
    main = [here for here in walk.positions if graph.is_main(here)]
    path = Path(graph, main)
    chain: dict[int, None] = {}
    for here in main:
        if graph.records[here].type != "assistant":
            chain[here] = None
        elif here not in chain:
            group = path.message(here)
            chain |= dict.fromkeys(group)
            for member in group:
                chain |= dict.fromkeys(_results(path, member, beside_only=False))
    return [here for here in chain if graph.records[here].type != "progress"]


def advance(graph: MessageGraph, old_leaf: int | None, new_leaf: int | None) -> list[int] | None:
    """The records that lead from one leaf to the next, None when they are on different branches."""
    if old_leaf is None:
        return None
    steps: list[int] = []
    for here in graph.walk(new_leaf):
        if here == old_leaf:
            return steps[::-1]
        if here < old_leaf:
            return None
        steps.append(here)
    return None
