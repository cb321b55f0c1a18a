"""`reverie sessions tree`: the branches of a session as a tree of prompts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import datetime

from app.cli.output import JsonObject, print_json, print_lines
from app.cli.transcript import Transcript
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
from app.sessions.outline import Node, outline
from app.sessions.relatives import relatives

LONGEST = 60
"""Characters of a prompt that a line shows (spec/ui.md, the contract)."""


def tree(transcript: Transcript, *, as_json: bool) -> int:
    """Print the tree of a session and its forks; returns the exit code."""
    own = outline(transcript.view, transcript.session_id)
    first = Member(transcript.session_id, transcript.title, own)
    family = joined(first, relatives(first, transcript.file.parent))
    if as_json:
        facts = [_fact(node, family) for node in family.nodes]
        print_json({"session_id": transcript.session_id, "nodes": facts})
    elif family.nodes:
        print_lines(*_drawn(family, UNICODE_SIGNS if _is_utf8() else ASCII_SIGNS))
    else:
        print_lines("This session has no prompt yet.")
    return 0


def _is_utf8() -> bool:
    return (sys.stdout.encoding or "").replace("-", "").lower() == "utf8"


def _fact(node: Node, family: Family) -> JsonObject:
    return {
        "uuid": node.uuid,
        "parent": node.parent,
        "kind": node.kind,
        "text": node.text,
        "timestamp": node.timestamp,
        "tools": node.tools,
        "recaps": node.recaps,
        "label": family.labels.get(node.uuid, ""),
        "on_branch": node.on_branch,
        "current": node.current,
        "session_id": node.session_id,
    }


def _drawn(family: Family, signs: Signs) -> Iterator[str]:
    for row in layout(family.nodes):
        yield f"{drawn_lanes(row, signs)}{_line(row, family, signs)}"


def _line(row: Row, family: Family, signs: Signs) -> str:
    node = row.node
    text = cut(" ".join(node.text.split()) or "(picture)", LONGEST)
    if node.kind == "fork":
        text = f"fork {node.session_id[:8]}  {text}"
    parts = [f"{sign_of(node, signs)} {text}"]
    label = family.labels.get(node.uuid)
    if label:
        parts.append(f"[{label}]")
    parts.append(_clock(node.timestamp))
    if node.tools:
        parts.append(f"{node.tools} tool{'s' if node.tools > 1 else ''}")
    if node.recaps:
        parts.append("recap")
    if node.current:
        parts.append(f"{signs.here} here")
    return "  ".join(part for part in parts if part)


def _clock(timestamp: str | None) -> str:
    try:
        moment = datetime.fromisoformat(timestamp or "")
    except ValueError:
        return ""
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"
