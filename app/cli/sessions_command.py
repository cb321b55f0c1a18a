"""`reverie sessions`: transcripts, from the command line (spec/cli.md)."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from app.cli.import_command import add_import_parser, run_import
from app.cli.opening import find_installation
from app.cli.parser import Parser
from app.cli.sessions.export import FORMATS, export
from app.cli.sessions.listing import show_hits, show_list
from app.cli.sessions.remove import bring_back, remove
from app.cli.sessions.show import show
from app.cli.sessions.tree import tree
from app.cli.transcript import locate, read_transcript
from app.installation import Installation
from app.sessions.listing import SCOPES


def run_sessions(words: list[str]) -> int:
    """Carry out `reverie sessions …`; returns the exit code.

    Raises `UsageError`, and `ReverieError` for a session or file that cannot be shown.
    """
    arguments = _parser().parse_args(words)
    here = find_installation()
    match str(arguments.action):
        case "list":
            return show_list(here, arguments.scope, as_json=arguments.json)
        case "search":
            text = " ".join(arguments.text)
            return show_hits(here, text, arguments.scope, as_json=arguments.json)
        case "import":
            return run_import(here, arguments)
        case "rm":
            return remove(here, arguments.sessions, as_json=arguments.json)
        case "restore":
            return bring_back(here, arguments.session, as_json=arguments.json)
        case action:
            return _look(here, action, arguments)


def _look(here: Installation, action: str, arguments: Namespace) -> int:
    """The actions on one transcript that is only read."""
    transcript = read_transcript(locate(here, arguments.session))
    as_json: bool = arguments.json
    if action == "show":
        return show(transcript, as_json=as_json)
    if action == "tree":
        return tree(here, transcript, as_json=as_json)
    if action == "export":
        output = None if arguments.output is None else here.folder / Path(arguments.output)
        return export(transcript, arguments.format, output, force=arguments.force, as_json=as_json)
    from app.cli.sessions.request import request  # the agent takes 80 ms to import

    return request(here, transcript, arguments.model, as_json=as_json)


def _parser() -> Parser:
    parser = Parser(prog="reverie sessions", description="Look at transcripts, and keep house.")
    actions: Any = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="the sessions, newest first")
    search = actions.add_parser("search", help="the sessions that hold a text")
    search.add_argument("text", nargs="+", metavar="TEXT", help="all words must be in one message")
    for action in (listing, search):
        action.add_argument(
            "--scope",
            choices=SCOPES,
            default="project",
            help="this folder (default), all work trees of its repository, or everything",
        )
    show_one = actions.add_parser("show", help="what a transcript holds, and what is damaged in it")
    request = actions.add_parser(
        "request", help="the messages that the next call of the model would carry"
    )
    branches = actions.add_parser("tree", help="the branches as a tree of prompts")
    exporting = actions.add_parser("export", help="the branch in use as Markdown, or all records")
    for action in (show_one, request, branches, exporting):
        action.add_argument(
            "session", nargs="?", metavar="ID|FILE", help="default: this project's newest session"
        )
    request.add_argument(
        "--model", metavar="NAME", help="for this model; thinking of other models is left out"
    )
    exporting.add_argument("--format", choices=FORMATS, default=FORMATS[0])
    exporting.add_argument("--output", metavar="FILE", help="in place of stdout")
    exporting.add_argument("--force", action="store_true", help="overwrite FILE")
    removing = actions.add_parser("rm", help="move sessions to the trash")
    removing.add_argument("sessions", nargs="+", metavar="ID")
    restoring = actions.add_parser("restore", help="get a session back from the trash")
    restoring.add_argument("session", metavar="ID")
    own = (listing, search, show_one, request, branches, exporting, removing, restoring)
    for action in own:
        action.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_import_parser(actions)
    return parser
