"""`reverie sessions tree`: the branches of a session as a tree of prompts."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

from app.cli.output import JsonObject, print_json, print_lines
from app.cli.transcript import Transcript
from app.installation import Installation, Options
from app.models.spending import tariff_of
from app.plain_text import cut
from app.sessions.family import Family, Member, joined
from app.sessions.lanes import (
    ASCII_SIGNS,
    UNICODE_SIGNS,
    Row,
    Signs,
    drawn_lanes,
    layout,
    sign_of,
)
from app.sessions.node_facts import (
    Facts,
    changes_in_words,
    facts_of,
    moment_in_words,
    tools_in_words,
)
from app.sessions.outline import Node, outline
from app.sessions.relatives import relatives
from widgets.words import cost_in_words

LONGEST = 60
"""Characters of a prompt that a line shows (spec/ui.md, the contract)."""


def tree(here: Installation, transcript: Transcript, *, as_json: bool) -> int:
    """Print the tree of a session and its forks; returns the exit code."""
    own = outline(transcript.view, transcript.session_id)
    first = Member(transcript.session_id, transcript.title, own)
    family = joined(first, relatives(first, transcript.file.parent))
    price = tariff_of(here.settings(Options()).settings).cost
    came_to = {node.uuid: facts_of(family, node, price) for node in family.nodes}
    if as_json:
        nodes = [_node(node, family, came_to[node.uuid]) for node in family.nodes]
        print_json({"session_id": transcript.session_id, "nodes": nodes})
    elif family.nodes:
        print_lines(*_drawn(family, came_to, UNICODE_SIGNS if _is_utf8() else ASCII_SIGNS))
    else:
        print_lines("This session has no prompt yet.")
    return 0


def _is_utf8() -> bool:
    return (sys.stdout.encoding or "").replace("-", "").lower() == "utf8"


def _node(node: Node, family: Family, facts: Facts) -> JsonObject:
    return {
        "uuid": node.uuid,
        "parent": node.parent,
        "kind": node.kind,
        "text": node.text,
        "timestamp": node.timestamp,
        "tools": node.tools,
        "cost_usd": facts.cost_usd,
        "added": facts.added,
        "removed": facts.removed,
        "recaps": node.recaps,
        "label": family.labels.get(node.uuid, ""),
        "on_branch": node.on_branch,
        "current": node.current,
        "session_id": node.session_id,
    }


def _drawn(family: Family, came_to: Mapping[str, Facts], signs: Signs) -> Iterator[str]:
    if not any(node.current for node in family.nodes):
        yield f"{signs.here} here: before the first prompt"
    for row in layout(family.nodes):
        yield f"{drawn_lanes(row, signs)}{_line(row, family, came_to[row.node.uuid], signs)}"


def _line(row: Row, family: Family, facts: Facts, signs: Signs) -> str:
    node = row.node
    text = cut(" ".join(node.text.split()) or "(picture)", LONGEST)
    if node.kind == "fork":
        text = f"fork {node.session_id[:8]}  {text}"
    label = family.labels.get(node.uuid)
    parts = [
        f"{sign_of(node, signs)} {text}",
        f"[{label}]" if label else "",
        moment_in_words(node.timestamp),
        tools_in_words(node.tools) if node.tools else "",
        changes_in_words(facts.added, facts.removed) if facts.files else "",
        cost_in_words(facts.cost_usd) if facts.cost_usd != 0 else "",
        "recap" if node.recaps else "",
        f"{signs.here} here" if node.current else "",
    ]
    return "  ".join(part for part in parts if part)
