"""Invented sessions of other tools, and what they amount to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from app.sessions.foreign.read import read_any
from app.sessions.graph import GraphView, open_view
from app.sessions.records import Record
from app.sessions.view import request_view

FOREIGN = Path(__file__).parents[2] / "data" / "foreign"
CODEX = FOREIGN / "codex-rollout.jsonl"
OLD_CODEX = FOREIGN / "codex-old-layout.jsonl"
PI = FOREIGN / "pi-tree.jsonl"
LINEAR_PI = FOREIGN / "pi-linear.jsonl"
SESSIONS = (CODEX, OLD_CODEX, PI, LINEAR_PI)


def opened(file: Path) -> GraphView:
    return open_view(read_any(file.read_bytes()).records)


def blocks(view: GraphView, leaf: int | None = None) -> list[dict[str, Any]]:
    """All blocks of the request from a leaf, the newest unless one is given."""
    request = request_view(view.graph, view.leaf if leaf is None else leaf)
    return [block for message in request.messages for block in message["content"]]


def texts(view: GraphView, leaf: int | None = None) -> list[str]:
    return [block["text"] for block in blocks(view, leaf) if block["type"] == "text"]


def saying(view: GraphView, text: str) -> Record:
    """The record of the conversation that says this."""
    (found,) = [r for r in view.graph.records if r.in_chain and said(r) == text]
    return found


def at(view: GraphView, text: str) -> int:
    return view.graph.records.index(saying(view, text))


def said(record: Record) -> object:
    content = record.data.get("message", {}).get("content")
    return content[0].get("text") if isinstance(content, list) else content
