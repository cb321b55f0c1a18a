"""`reverie sessions`: a look at transcripts that changes nothing (spec/cli.md)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.agent.request import build_request
from app.agent.tools.registry import default_tools
from app.assembly import choose_provider, make_caller, spent
from app.cli.opening import find_installation
from app.cli.output import JsonObject, print_json, print_lines
from app.cli.parser import Parser
from app.cli.transcript import Transcript, read_transcript
from app.errors import ReverieError, SessionNotFound
from app.installation import Installation, Options, model_name
from app.models.clean import clean
from app.plain_text import cut
from app.sessions.catalogue import find_transcript, newest_transcript, transcripts


def run_sessions(words: list[str]) -> int:
    """Carry out `reverie sessions …`; returns the exit code.

    Raises `UsageError`, and `ReverieError` for a session or file that cannot be shown.
    """
    arguments = _parser().parse_args(words)
    here = find_installation()
    if arguments.action == "list":
        return _list(here, as_json=arguments.json)
    transcript = read_transcript(_file(here, arguments.session))
    if arguments.action == "show":
        return _show(transcript, as_json=arguments.json)
    return _request(here, transcript, arguments.model, as_json=arguments.json)


def _parser() -> Parser:
    parser = Parser(prog="reverie sessions", description="Look at transcripts; nothing is changed.")
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|show|request")
    listing = actions.add_parser("list", help="this project's sessions, newest first")
    show = actions.add_parser("show", help="what a transcript holds, and what is damaged in it")
    request = actions.add_parser(
        "request", help="the messages that the next call of the model would carry"
    )
    for action in (show, request):
        action.add_argument(
            "session", nargs="?", metavar="ID|FILE", help="default: this project's newest session"
        )
    request.add_argument(
        "--model", metavar="NAME", help="for this model; thinking of other models is left out"
    )
    for action in (listing, show, request):
        action.add_argument("--json", action="store_true", help="one JSON document on stdout")
    return parser


def _file(here: Installation, text: str | None) -> Path:
    if text is None:
        newest = newest_transcript(here.places, here.folder)
        if newest is None:
            raise SessionNotFound("There is no conversation in this folder yet.")
        return newest
    file = here.folder / Path(text).expanduser()
    return file if file.is_file() else find_transcript(here.places, here.folder, text)


# list


def _list(here: Installation, *, as_json: bool) -> int:
    found = [_entry(here, file, written) for written, file in transcripts(here.places, here.folder)]
    if as_json:
        print_json({"sessions": found})
    elif not found:
        print_lines("There is no conversation in this folder yet.")
    else:
        print_lines(*(_row(entry) for entry in found))
    return 0


def _entry(here: Installation, file: Path, written: float) -> JsonObject:
    entry: JsonObject = {
        "session_id": file.stem,
        "title": "",
        "first_prompt": "",
        "updated_at": datetime.fromtimestamp(written, UTC).isoformat(timespec="seconds"),
        "branches": 0,
        "size": file.stat().st_size,
        "cost_usd": None,
        "status": "unreadable",
        "path": str(file),
    }
    try:
        transcript = read_transcript(file)
    except ReverieError:
        return entry
    _, cost = spent(transcript.view.graph, here.settings(Options()).settings)
    return entry | {
        "title": transcript.title,
        "first_prompt": transcript.first_prompt,
        "branches": len(transcript.tree.tips),
        "cost_usd": cost,
        "status": transcript.status,
    }


def _row(entry: JsonObject) -> str:
    when = datetime.fromisoformat(str(entry["updated_at"])).astimezone()
    title = cut(str(entry["title"]) or "(empty)", 60)
    return f"{entry['session_id']}  {when:%Y-%m-%d %H:%M}  {entry['status']:<11}  {title}"


# show


def _show(transcript: Transcript, *, as_json: bool) -> int:
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


# request


def _request(
    here: Installation, transcript: Transcript, model: str | None, *, as_json: bool
) -> int:
    options = Options(model=model)
    settings = here.settings(options).settings
    provider = choose_provider(model_name(settings), here, settings, None)
    caller = make_caller(here, options, model_name(settings), provider, default_tools())
    request = build_request(
        transcript.view,
        model=caller.model,
        system=caller.system,
        tools=caller.tools,
        max_tokens=caller.max_tokens,
    )
    messages: list[Any] = clean(list(request.messages))
    if as_json:
        print_json(
            {
                "session_id": transcript.session_id,
                "model": request.model,
                "system": clean(list(request.system)),
                "tools": list(request.tools),
                "messages": messages,
            }
        )
        return 0
    print_lines(*(line for message in messages for line in _message_lines(message)))
    return 0


def _message_lines(message: JsonObject) -> list[str]:
    lines = [f"{message['role']}:"]
    for block in message["content"]:
        kind = str(block["type"])
        shown = {
            "text": block.get("text"),
            "tool_use": f"{block.get('name')} {block.get('input')}",
            "tool_result": block.get("content"),
        }.get(kind, "")
        lines.append(f"  {kind}  {cut(' '.join(str(shown).split()), 100)}".rstrip())
    return lines
