"""`reverie permissions check`: what the rules say of a tool call, without running it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

from app.agent.permission import hidden_from_search, judge
from app.agent.policy import Policy, Verdict
from app.agent.tools.registry import default_tools
from app.assembly import rule_problems, session_policy
from app.background.dream.boundary import Boundary
from app.background.dream.place import place_of
from app.cli.opening import find_installation
from app.cli.output import JsonObject, note, print_json, print_lines
from app.cli.parser import Parser
from app.config import Settings
from app.errors import UsageError
from app.installation import Installation, Options

_MAIN_ARGUMENT: Mapping[str, str] = {
    "Bash": "command",
    "Read": "file_path",
    "Write": "file_path",
    "Edit": "file_path",
    "Grep": "path",
    "Glob": "path",
    "LS": "path",
    "Inspect": "command",
    "Delete": "file_path",
    "WebFetch": "url",
}
"""The argument that INPUT stands for when it is no JSON object."""


_FILLED: Mapping[str, JsonObject] = {
    "Write": {"content": ""},
    "Edit": {"old_string": "a", "new_string": "b"},
    "Glob": {"pattern": "*"},
    "Grep": {"pattern": "*"},
}
"""What the verdict does not turn on, for an input that leaves it out."""


def run_permissions(words: list[str]) -> int:
    """Carry out `reverie permissions …`; the exit code is 0 whatever the verdict.

    Raises `UsageError` for an input that is none of the tool's.
    """
    arguments = _parser().parse_args(words)
    here = find_installation()
    loaded = here.settings(Options())
    for problem in (*loaded.problems, *rule_problems(loaded.settings)):
        note(f"A setting does not count. {problem}")
    policy = session_policy(here, Options(), loaded.settings)
    tool = str(arguments.tool)
    if arguments.who == "dream":
        judges = _dream(here, loaded.settings, policy)
    else:
        judges = _session(policy)
        if tool not in {each.name for each in default_tools()} | _MAIN_ARGUMENT.keys():
            note(f"There is no built-in tool {tool}; the rules are asked all the same.")
    if arguments.input != "-":
        verdict = _check(tool, arguments.input, judges)
        if arguments.json:
            print_json(verdict)
        else:
            print_lines(f"{verdict['verdict']}: {verdict['reason']}")
        return 0
    verdicts = [_check(tool, line, judges) for line in _lines()]
    if arguments.json:
        print_json({"verdicts": verdicts})
    else:
        print_lines(*(f"{v['verdict']}: {v['reason']}\t{v['input']}" for v in verdicts))
    return 0


def _parser() -> Parser:
    parser = Parser(
        prog="reverie permissions", description="Ask the permission rules; nothing is run."
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="check")
    check = actions.add_parser("check", help="the verdict on one call, and why")
    check.add_argument("tool", metavar="TOOL", help="for example Bash, Read or Write")
    check.add_argument(
        "input",
        metavar="INPUT",
        help="the command, the path, or the arguments as a JSON object; - reads one input a line",
    )
    check.add_argument(
        "--as",
        dest="who",
        choices=("session", "dream"),
        default="session",
        help="whose call it is; a dream's boundary says allow or deny",
    )
    check.add_argument("--json", action="store_true", help="one JSON document on stdout")
    return parser


def _lines() -> list[str]:
    text = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    return [line for line in text.split("\n") if line]


Judge: TypeAlias = Callable[[str, str], Verdict]
"""The verdict on a call, by tool and input."""


def _session(policy: Policy) -> Judge:
    return lambda tool, text: judge(tool, _arguments(tool, text), policy)


def _dream(here: Installation, settings: Settings, policy: Policy) -> Judge:
    """The boundary of a dream that would work on the memory itself and not on a copy."""
    place = place_of(here, settings)
    hidden = hidden_from_search(policy)
    boundary = Boundary(place.project, place.memory, place.sessions, hidden)

    def check(tool: str, text: str) -> Verdict:
        arguments = _arguments(tool, text) if tool in _MAIN_ARGUMENT else {}
        reason = boundary.verdict(tool, arguments)
        return Verdict("deny" if reason else "allow", reason or "within the dream's boundary")

    return check


def _check(tool: str, text: str, judges: Judge) -> JsonObject:
    verdict = judges(tool, text)
    return {
        "tool": tool,
        "input": text,
        "verdict": verdict.verdict,
        "reason": verdict.reason,
        "rule": verdict.rule,
    }


def _arguments(tool: str, text: str) -> dict[str, Any]:
    try:
        found: object = json.loads(text)
    except ValueError:
        found = None
    filled = dict(_FILLED.get(tool, {}))
    if isinstance(found, dict):
        return filled | cast("dict[str, Any]", found)
    main = _MAIN_ARGUMENT.get(tool)
    if main is None:
        raise UsageError(f"The input of {tool} must be a JSON object.")
    return filled | {main: text}
