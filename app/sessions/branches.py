"""The branches of a session as a person sees them: a tree of prompts (transcripts.md, a13).

Nodes are the person's prompts; an edge leads to the nearest prompt above. What else has several
children (parallel tool calls, echoes of commands) is no branch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from app.sessions.graph import MessageGraph
from app.sessions.prompts import user_kind


@dataclass(frozen=True, slots=True)
class PromptTree:
    """Positions of prompts in file order, and for each the prompts that follow it."""

    prompts: tuple[int, ...]
    following: Mapping[int | None, tuple[int, ...]]
    """Under None: the prompts without one before them."""

    @property
    def forks(self) -> tuple[int, ...]:
        """Prompts at which the conversation went on in two ways or more."""
        return tuple(here for here in self.prompts if len(self.following.get(here, ())) > 1)

    @property
    def tips(self) -> tuple[int, ...]:
        """Prompts that no other follows: the ends of the branches."""
        return tuple(here for here in self.prompts if here not in self.following)


def prompt_tree(graph: MessageGraph) -> PromptTree:
    """The tree of all prompts of a session."""
    prompts = prompts_of(graph)
    nearest = nearest_above(graph, prompts)
    following: dict[int | None, list[int]] = {}
    for here in prompts:
        following.setdefault(nearest(here), []).append(here)
    return PromptTree(tuple(prompts), {key: tuple(value) for key, value in following.items()})


def prompts_of(graph: MessageGraph) -> list[int]:
    """Positions of the person's prompts in file order."""
    return [here for here in sorted(graph.position.values()) if _is_prompt(graph, here)]


def nearest_above(graph: MessageGraph, nodes: Collection[int]) -> Callable[[int], int | None]:
    """Finds for a record the nearest of the nodes before it; each link is walked once."""
    known = set(nodes)
    above: dict[int, int | None] = {}

    def nearest(here: int) -> int | None:
        passed: list[int] = []
        found: int | None = None
        step = graph.parent(here)
        while step is not None:
            if step in known:
                found = step
                break
            if step in above:
                found = above[step]
                break
            passed.append(step)
            step = graph.parent(step)
        above.update(dict.fromkeys(passed, found))
        return found

    return nearest


def _is_prompt(graph: MessageGraph, here: int) -> bool:
    record = graph.records[here]
    if record.type != "user" or record.tool_results or not graph.is_main(here):
        return False
    return user_kind(record, record.data) == "prompt"
