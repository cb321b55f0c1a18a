"""`reverie sessions tree`: the branches of a session as a tree of prompts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from app.cli.output import JsonObject, print_json, print_lines
from app.cli.transcript import Transcript, read_transcript
from app.errors import ReverieError
from app.plain_text import cut
from app.sessions.listing import list_folder
from app.sessions.outline import Fork, Node, outline

LONGEST = 60
"""Characters of a prompt that a line shows (spec/ui.md, the contract)."""

_SIGNS = {"bar": "│ ", "side": "├─", "fork": "╰┄", "node": "○", "on": "●", "mark": "◆", "here": "←"}
_ASCII = {"bar": "| ", "side": "|-", "fork": "`.", "node": "o", "on": "*", "mark": "#", "here": "<"}


def tree(transcript: Transcript, *, as_json: bool) -> int:
    """Print the tree of a session; returns the exit code."""
    nodes = outline(transcript.view, _forks(transcript))
    if as_json:
        document = {"session_id": transcript.session_id, "nodes": [_fact(n) for n in nodes]}
        print_json(document)
    elif nodes:
        print_lines(*_drawn(nodes, _SIGNS if _is_utf8() else _ASCII))
    else:
        print_lines("This session has no prompt yet.")
    return 0


def _is_utf8() -> bool:
    return (sys.stdout.encoding or "").replace("-", "").lower() == "utf8"


def _forks(transcript: Transcript) -> list[Fork]:
    """The sessions beside this one that branched off it."""
    found: list[Fork] = []
    for each in list_folder(transcript.file.parent):
        if each.forked_from == transcript.session_id and each.path != transcript.file:
            try:
                fork = read_transcript(Path(each.path))
            except ReverieError:
                continue
            found.append(Fork(each.session_id, each.title, fork.parsed.records))
    return found


def _fact(node: Node) -> JsonObject:
    fact: JsonObject = {
        "uuid": node.uuid,
        "parent": node.parent,
        "kind": node.kind,
        "text": node.text,
        "timestamp": node.timestamp,
        "tools": node.tools,
        "on_branch": node.on_branch,
        "current": node.current,
    }
    return fact | ({"session_id": node.session_id} if node.session_id else {})


def _drawn(nodes: list[Node], signs: dict[str, str]) -> Iterator[str]:
    """The lines: the branch in use goes straight on, others stand indented before it."""
    below: dict[str | None, list[Node]] = {}
    for node in nodes:
        below.setdefault(node.parent, []).append(node)
    waiting = [(node, "", "") for node in reversed(below.get(None, []))]
    while waiting:
        node, prefix, lead = waiting.pop()
        yield f"{prefix}{lead}{_line(node, signs)}"
        inner = prefix + (signs["bar"] if lead else "")
        after = below.get(node.uuid, []) if node.kind != "fork" else []
        straight = next((n for n in after if n.on_branch), None)
        if straight is None:
            straight = next((n for n in reversed(after) if n.kind != "fork"), None)
        sides = [n for n in after if n is not straight]
        if straight is not None:
            waiting.append((straight, inner, ""))
        waiting += [
            (side, inner, signs["fork" if side.kind == "fork" else "side"])
            for side in reversed(sides)
        ]


def _line(node: Node, signs: dict[str, str]) -> str:
    mark = signs["on" if node.on_branch else "node"]
    if node.kind in {"compact", "unavailable"}:
        mark = signs["mark"]
    text = cut(" ".join(node.text.split()) or "(picture)", LONGEST)
    if node.kind == "fork":
        text = f"fork {node.session_id[:8]}  {text}"
    parts = [f"{mark} {text}", _clock(node.timestamp)]
    if node.tools:
        parts.append(f"{node.tools} tool{'s' if node.tools > 1 else ''}")
    if node.current:
        parts.append(f"{signs['here']} here")
    return "  ".join(part for part in parts if part)


def _clock(timestamp: str | None) -> str:
    try:
        moment = datetime.fromisoformat(timestamp or "")
    except ValueError:
        return ""
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"
