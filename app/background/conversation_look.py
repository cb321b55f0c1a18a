"""What the end of a conversation says to the gates: as little of it is read as they need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from app.sessions.graph import GraphView
from app.sessions.outline import RECAP
from app.sessions.prompts import blocks_of, content_of, typed_text, user_kind

MOST_TURNS: Final = 3
"""Turns that a gate asks for at most (spec/background.md, Away summary)."""
MOST_BEHIND: Final = 50
"""Records behind the leaf in which a recap is looked for."""
STRUCTURED: Final = "StructuredOutput"
"""The tool by which a program lets the model answer in a form; it says what was done."""


@dataclass(frozen=True, slots=True)
class ConversationLook:
    """The newest turns of the branch in use."""

    turns: int = 0
    """Prompts since the last recap, counted up to three."""
    answered: int = 0
    """Those of them, and of the ones before, that have a reply; counted up to three."""
    has_recap: bool = False
    """Whether a recap was found before three prompts were."""
    ends_in_recap: bool = False
    has_structured: bool = False
    """Whether the last turn answered in a form."""
    last_prompt: str = ""


def look(view: GraphView) -> ConversationLook:
    """Walk back from the leaf until three prompts are found."""
    graph = view.graph
    prompts = since_recap = answered = 0
    has_structured = has_reply = False
    ends_in_recap = has_recap = _ends_in_recap(view)
    last_prompt = ""
    for here in graph.walk(view.leaf):
        record = graph.records[here]
        if not graph.is_main(here):
            continue
        if record.type == "system" and record.subtype == RECAP and not has_recap:
            has_recap, since_recap = True, prompts
        elif record.type == "assistant" and not record.is_synthetic:
            has_reply = True
            if not prompts and record.tool_uses:
                content = blocks_of(content_of(record.data))
                has_structured |= any(block.get("name") == STRUCTURED for block in content)
        elif record.type == "user" and not record.tool_results:
            data = record.data
            if user_kind(record, data) == "prompt":
                last_prompt = last_prompt if prompts else typed_text(data)
                prompts += 1
                answered += has_reply
                has_reply = False
        if prompts >= MOST_TURNS:
            break
    return ConversationLook(
        since_recap if has_recap else prompts,
        answered,
        has_recap,
        ends_in_recap,
        has_structured,
        last_prompt,
    )


def _ends_in_recap(view: GraphView) -> bool:
    """Whether a recap is the last thing that happened.

    It is the leaf, or hangs on it: a session that is opened again goes on from its last message.
    """
    graph, leaf = view.graph, view.leaf
    if leaf is None:
        return False
    if graph.records[leaf].subtype == RECAP:
        return True
    behind = range(leaf + 1, min(view.length, leaf + MOST_BEHIND))
    return any(
        graph.records[here].subtype == RECAP and graph.parent(here) == leaf for here in behind
    )
