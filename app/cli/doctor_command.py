"""`reverie doctor`: what is wrong with this installation, and how to mend it (spec/cli.md)."""

from __future__ import annotations

import os
from pathlib import Path

from app.cli.doctor import Check, checks
from app.cli.opening import find_installation
from app.cli.output import print_json, print_lines
from app.cli.parser import Parser
from app.errors import ReverieError
from app.installation import Installation
from app.paths import find_places


def run_doctor(words: list[str]) -> int:
    """Carry out `reverie doctor`; 1 when something fails, else 0. Raises `UsageError`."""
    parser = Parser(
        prog="reverie doctor",
        description="Look for what is wrong with this installation. Nothing is changed, and no"
        " model is called.",
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    arguments = parser.parse_args(words)
    found: list[Check] = []
    try:
        here = find_installation()
    except ReverieError as error:
        found.append(Check("folder", "fail", error.happened, error.todo))
        here = Installation(find_places(os.environ), Path.home(), os.environ)
    found += checks(here)
    fails = any(check.status == "fail" for check in found)
    if arguments.json:
        listed = [
            {"name": c.name, "status": c.status, "detail": c.detail, "todo": c.todo} for c in found
        ]
        print_json({"ok": not fails, "checks": listed})
    else:
        print_lines(*(_line(check) for check in found))
    return 1 if fails else 0


def _line(check: Check) -> str:
    todo = f" {check.todo}" if check.todo else ""
    return f"{check.status:<5} {check.name:<12} {check.detail}{todo}"
