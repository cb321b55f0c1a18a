"""`reverie feedback`: drafts of reports, from the command line (spec/feedback.md, spec/cli.md)."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from app.cli.feedback.call import Call, call_of
from app.cli.feedback.looking import export_report, preview, show, show_list
from app.cli.feedback.report import add_wishes
from app.cli.feedback.sending import send_report
from app.cli.feedback.serving import add_serving, serve
from app.cli.feedback.writing import add_texts, discard, edit, new
from app.cli.opening import find_installation
from app.cli.parser import Parser
from app.installation import Installation

_ACTIONS: Final[dict[str, Callable[[Call, Namespace], int]]] = {
    "list": show_list,
    "new": new,
    "show": show,
    "edit": edit,
    "preview": preview,
    "send": send_report,
    "discard": discard,
    "export": export_report,
    "serve": serve,
}


def run_feedback(words: list[str], here: Installation | None = None) -> int:
    """Carry out `reverie feedback …`; returns the exit code. `here` is found unless given.

    Raises `UsageError`, and `ReverieError` for an unknown draft or session and for what cannot be
    read or stored. Only `send` opens a connection.
    """
    arguments = _parser().parse_args(words)
    call = call_of(here or find_installation(), as_json=arguments.json)
    return _ACTIONS[arguments.action](call, arguments)


def _parser() -> Parser:
    parser = Parser(
        prog="reverie feedback",
        description="Reports that wait for you. Nothing leaves this machine but by `send`.",
    )
    actions: Any = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    add: Any = partial(actions.add_parser, allow_abbrev=False)
    listing = add("list", help="the drafts, oldest first")
    writing = add("new", help="a draft of your own; stdin or your editor has it")
    writing.add_argument("title", nargs="?", metavar="TITLE", help="default: the first line")
    showing = add("show", help="a draft, its state, and the secrets in it")
    editing = add("edit", help="other texts by flags; without one the body")
    previewing = add("preview", help="exactly what `send` would send")
    sending = add("send", help="send a draft: one attempt, one request")
    discarding = add("discard", help="delete a draft")
    exporting = add("export", help="write the report to a file; the draft stays")
    for action in (showing, editing, previewing, sending, discarding, exporting):
        action.add_argument("id", metavar="ID", help="as `list` says it")
    editing.add_argument("--title", metavar="TEXT")
    for action in (writing, editing):
        add_texts(action)
    exporting.add_argument("file", nargs="?", metavar="FILE", help="default: ID.json here")
    for action in (previewing, sending, exporting):
        add_wishes(action)
    form = previewing.add_mutually_exclusive_group()
    for name, what in (("text", "for reading"), ("raw", "byte for byte; the default in a pipe")):
        form.add_argument(f"--{name}", dest="form", action="store_const", const=name, help=what)
    sending.add_argument(
        "--again", action="store_true", help="also when it may have arrived: you have looked"
    )
    sending.add_argument(
        "--expect", metavar="SHA256", help="only these bytes; `preview --json` says their sha256"
    )
    serving = add("serve", help="receive the reports of others as files")
    add_serving(serving)
    own = (listing, writing, showing, editing, previewing, sending, discarding, exporting, serving)
    for action in own:
        action.add_argument("--json", action="store_true", help="one JSON document on stdout")
    return parser
