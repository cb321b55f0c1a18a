"""The records of a branch with its parallel tools: all for the eye, or the next request's own."""

from __future__ import annotations

from app.sessions.graph import MessageGraph
from app.sessions.kept import Walk


def timeline(graph: MessageGraph, leaf: int | None) -> list[int]:
    """The records of the branch that ends in `leaf`, oldest first.

    Unlike the request it goes on above compact boundaries; like it, it takes in the blocks and
    results of parallel tool calls that the walk itself misses.
    """
    path = list(graph.walk(leaf))
    path.reverse()
    on_path = set(path)
    shown: set[int] = set()
    out: list[int] = []

    def show(here: int) -> None:
        if here not in shown:
            shown.add(here)
            out.append(here)

    for here in path:
        show(here)
        if graph.records[here].type != "assistant":
            continue
        group = graph.message_group(here, on_path)
        for member in group:
            if member not in on_path:
                show(member)
        for member in group:
            for tool_id in graph.records[member].tool_uses:
                for result in graph.results.get(tool_id, ()):
                    if result not in on_path and graph.hangs_on(result, on_path):
                        show(result)
    return out


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
