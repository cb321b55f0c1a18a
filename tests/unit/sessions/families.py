"""Sessions that share a beginning, made record by record."""

from __future__ import annotations

import json
from typing import Any

from app.sessions.codec import parse_transcript
from app.sessions.family import Family, Member, joined
from app.sessions.fork import fork_records
from app.sessions.graph import GraphView, open_view
from app.sessions.outline import Node, outline
from tests.fakes.sessions import Made, session_id


def view_of(made: Made) -> GraphView:
    return open_view(parse_transcript(made.text().encode()).records)


def member(made: Made, title: str = "") -> Member:
    return Member(made.id, title, outline(view_of(made), made.id))


def family(*made: Made) -> Family:
    first, *others = (member(each, f"Title {each.id[:8].lstrip('0')}") for each in made)
    return joined(first, others)


def forked(source: Made, number: int, leaf: str | None = None) -> Made:
    """A session that `fork_records` makes of another one, with no prompt of its own yet."""
    view = view_of(source)
    here = view.leaf if leaf is None else view.graph.position[leaf]
    made = Made(number)
    names = iter(f"{made.id[:8]}-f{n}" for n in range(1, 1_000))
    records = fork_records(
        view.graph, here, session_id=made.id, title="", new_uuid=lambda: next(names)
    )
    made.lines = [record.raw.decode() for record in records]
    made.leaf = records[-1].uuid
    return made


def kept_uuids(source: Made, number: int, lines: int) -> Made:
    """A fork that keeps the uuids of its source and does not name it (transcripts.md, quirk 9)."""
    made = Made(number)
    copied: list[dict[str, Any]] = [json.loads(line) for line in source.lines[:lines]]
    made.lines = [json.dumps({**line, "sessionId": made.id}) for line in copied]
    made.leaf = copied[-1]["uuid"]
    return made


def edges(nodes: tuple[Node, ...] | list[Node]) -> list[tuple[str, str]]:
    """The text of every node and of the one before it."""
    by_uuid = {node.uuid: node for node in nodes}
    return [(n.text, by_uuid[n.parent].text if n.parent else "") for n in nodes]


__all__ = ["Made", "edges", "family", "forked", "kept_uuids", "member", "session_id", "view_of"]
