"""`reverie memory`: what is remembered of the project, from the command line (spec/cli.md)."""

from __future__ import annotations

from typing import Any

from app.agent.remembering import documents_of
from app.cli.memory.changing import delete, restore, write
from app.cli.memory.loading import check, entry, index
from app.cli.memory.reading import history, listing, read, search
from app.cli.opening import find_installation
from app.cli.output import note
from app.cli.parser import Parser, positive_number
from app.installation import Options
from app.memory.documents import NEW


def run_memory(words: list[str]) -> int:
    """Carry out `reverie memory …`; returns the exit code: 1 refused, 3 conflict.

    Raises `UsageError`, and `ReverieError` for what cannot be read or written.
    """
    arguments = _parser().parse_args(words)
    here = find_installation()
    loaded = here.settings(Options())
    for problem in loaded.problems:
        note(f"A setting does not count. {problem}")
    settings = loaded.settings
    documents = documents_of(here, settings)
    as_json: bool = arguments.json
    match str(arguments.action):
        case "list":
            return listing(documents, arguments.page, as_json=as_json)
        case "read":
            return read(documents, arguments.name, arguments.version, as_json=as_json)
        case "write":
            return write(documents, arguments.name, arguments.if_version, as_json=as_json)
        case "delete":
            return delete(documents, arguments.name, arguments.if_version, as_json=as_json)
        case "history":
            return history(documents, arguments.name, arguments.change, as_json=as_json)
        case "restore":
            return restore(documents, arguments.name, arguments.change, as_json=as_json)
        case "search":
            return search(documents, " ".join(arguments.text), as_json=as_json)
        case "entry":
            return entry(here, settings, as_json=as_json)
        case "index":
            return index(here, settings, as_json=as_json)
        case _:
            return check(here, settings, as_json=as_json)


def _parser() -> Parser:
    parser = Parser(
        prog="reverie memory", description="What is remembered of this project, as documents."
    )
    actions: Any = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listed = actions.add_parser("list", help="the documents, 50 a page")
    listed.add_argument("--page", type=positive_number, default=1, metavar="N")
    reading = actions.add_parser("read", help="a document's text, and its version with --json")
    reading.add_argument("--version", metavar="V", help="an earlier version, or a change's id")
    writing = actions.add_parser("write", help="make stdin the document's whole text")
    writing.add_argument(
        "--if-version",
        default=NEW,
        metavar="V",
        help="the version that was read; `new` (default) for a document that does not exist",
    )
    deleting = actions.add_parser("delete", help="take a document away; its history stays")
    deleting.add_argument("--if-version", required=True, metavar="V", help="what was read")
    past = actions.add_parser("history", help="who changed a document, when and why")
    restoring = actions.add_parser("restore", help="make an earlier version the document again")
    for action in (reading, writing, deleting, past, restoring):
        action.add_argument("name", metavar="NAME", help="for example build.md")
    past.add_argument("change", nargs="?", metavar="ID", help="show what this change did")
    restoring.add_argument(
        "change", nargs="?", metavar="ID|VERSION", help="default: before the last change"
    )
    searching = actions.add_parser("search", help="the names and lines that hold all words")
    searching.add_argument("text", nargs="+", metavar="TEXT")
    others = [
        actions.add_parser("entry", help="what every request loads, word for word"),
        actions.add_parser("index", help="what each document is about, newest first"),
        actions.add_parser("check", help="what is cut off, orphaned, dead, doubled or in conflict"),
    ]
    for action in (listed, reading, writing, deleting, past, restoring, searching, *others):
        action.add_argument("--json", action="store_true", help="one JSON document on stdout")
    return parser
