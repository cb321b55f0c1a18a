"""The records of a branch with its parallel tools: all for the eye, or the next request's own."""

from __future__ import annotations

from app.sessions.graph import MessageGraph
from app.sessions.kept import Walk, all_kept, joined_at


def timeline(graph: MessageGraph, leaf: int | None) -> list[int]:
    """The records of the branch that ends in `leaf`, oldest first.

    Unlike the request it goes on above compact boundaries; like it, it takes in the blocks and
    results of parallel tool calls that the walk itself misses.
    """
    path = _across(graph, leaf)
    path.reverse()
    on_path = set(path)
    shown: dict[int, None] = {}
    for here in path:
        shown[here] = None
        if graph.records[here].type != "assistant":
            continue
        group = graph.message_group(here, on_path)
        shown |= dict.fromkeys(member for member in group if member not in on_path)
        for member in group:
            for tool_id in graph.records[member].tool_uses:
                for result in graph.results.get(tool_id, ()):
                    if result not in on_path and graph.hangs_on(result, on_path):
                        shown[result] = None
    return list(shown)


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
    on_walk = set(main)
    chain: dict[int, None] = {}
    for here in main:
        if graph.records[here].type != "assistant":
            chain[here] = None
            continue
        group = graph.message_group(here, on_walk)
        chain |= dict.fromkeys(group)
        for member in group:
            for tool_id in graph.records[member].tool_uses:
                results = graph.results.get(tool_id, ())
                chain |= dict.fromkeys(r for r in results if graph.hangs_on(r, on_walk))
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
