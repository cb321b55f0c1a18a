"""`reverie sessions show`: what a transcript holds, and what is damaged in it."""

from __future__ import annotations

from app.cli.output import JsonObject, print_json, print_lines
from app.cli.transcript import Transcript


def show(transcript: Transcript, *, as_json: bool) -> int:
    """Print the numbers of a transcript and its warnings; returns the exit code."""
    facts = _facts(transcript)
    if as_json:
        print_json(facts)
        return 0
    labels = {
        "session_id": "Session",
        "title": "Title",
        "path": "File",
        "records": "Records",
        "messages": "Messages",
        "leaf": "Leaf",
        "leaves": "Branches",
        "branch_points": "Forks",
        "compact_boundaries": "Compactions",
    }
    lines = [f"{label + ':':<13}{facts[key]}" for key, label in labels.items()]
    warnings = [f"Warning: {w.kind} ({w.count}): {w.detail}" for w in transcript.warnings]
    print_lines(*lines, *warnings)
    return 0


def _facts(transcript: Transcript) -> JsonObject:
    graph, tree = transcript.view.graph, transcript.tree
    records = transcript.parsed.records
    boundaries = sum(1 for here in graph.position.values() if graph.records[here].is_boundary)
    return {
        "session_id": transcript.session_id,
        "title": transcript.title,
        "path": str(transcript.file),
        "records": len(records),
        "messages": sum(1 for record in records if record.type in {"user", "assistant"}),
        "leaf": transcript.view.leaf_uuid,
        "leaves": len(tree.tips),
        "branch_points": len(tree.forks),
        "forks": [
            {
                "prompt": graph.records[here].uuid,
                "next_prompts": [graph.records[each].uuid for each in tree.following[here]],
            }
            for here in tree.forks
        ],
        "compact_boundaries": boundaries,
        "warnings": [
            {"kind": w.kind, "count": w.count, "detail": w.detail} for w in transcript.warnings
        ],
    }
