"""`reverie config`: settings on the command line (spec/cli.md)."""

from __future__ import annotations

from typing import Any, Final

from app.agent.rules import parse_rules
from app.assembly import rule_problems
from app.cli.opening import find_installation
from app.cli.output import JsonObject, json_text, print_json, print_lines
from app.cli.parser import Parser
from app.config import parse_value, set_value, setting_keys, settings_files, value_of
from app.git import git_root
from app.installation import Installation, Options
from app.trust import is_trusted

SECRETS: Final = frozenset({"feedback.token"})


def run_config(words: list[str]) -> int:
    """Carry out `reverie config …`; returns the exit code.

    Raises `UsageError`, `SettingsError` for an unknown key or a value it cannot hold, and
    `StorageError` when the file cannot be written.
    """
    arguments = _parser().parse_args(words)
    here = find_installation()
    match arguments.action:
        case "get":
            return _get(here, arguments.key, as_json=arguments.json)
        case "set":
            return _set(here, arguments.key, arguments.value, as_json=arguments.json)
        case "path":
            return _path(here, as_json=arguments.json)
        case _:
            return _check(here, as_json=arguments.json)


def _parser() -> Parser:
    parser = Parser(prog="reverie config", description="Read and write settings.")
    actions = parser.add_subparsers(dest="action", required=True, metavar="get|set|path|check")
    get = actions.add_parser("get", help="the value in force; without KEY all of them")
    get.add_argument("key", nargs="?", metavar="KEY", help="for example permissions.mode")
    change = actions.add_parser("set", help="write a value into your own settings file")
    change.add_argument("key", metavar="KEY")
    change.add_argument("value", metavar="VALUE", help="as in TOML; a plain word is a string")
    path = actions.add_parser("path", help="the files and folders in use")
    check = actions.add_parser(
        "check", help="name what does not count; exit 1 if anything does not"
    )
    for action in (get, change, path, check):
        action.add_argument("--json", action="store_true", help="one JSON document on stdout")
    return parser


def _get(here: Installation, key: str | None, *, as_json: bool) -> int:
    loaded = here.settings(Options())
    keys = setting_keys() if key is None else [key]
    found: list[JsonObject] = [
        {
            "key": each,
            "value": _shown(each, value_of(loaded.settings, each), is_asked_for=key is not None),
            "origin": loaded.origin.get(each, "default"),
        }
        for each in keys
    ]
    if as_json:
        print_json({"settings": found} if key is None else found[0])
    elif key is None:
        print_lines(*(f"{e['key']} = {json_text(e['value'])}  ({e['origin']})" for e in found))
    else:
        value = found[0]["value"]
        print_lines(value if isinstance(value, str) else json_text(value))
    return 0


def _shown(key: str, value: Any, *, is_asked_for: bool) -> Any:
    """A secret is told only to whoever asks for it by name."""
    return value if value is None or is_asked_for or key not in SECRETS else "(set)"


def _set(here: Installation, key: str, text: str, *, as_json: bool) -> int:
    value = parse_value(key, text)
    if key in {"permissions.allow", "permissions.ask", "permissions.deny"}:
        parse_rules(value)
    file = here.places.settings
    set_value(file, key, value)
    if as_json:
        print_json({"key": key, "value": value, "file": str(file)})
    else:
        shown = _shown(key, value, is_asked_for=False)
        print_lines(f"{key} = {json_text(shown)} in {file}")
    return 0


def _path(here: Installation, *, as_json: bool) -> int:
    root = git_root(here.folder) or here.folder
    trusted = is_trusted(here.places, here.root)
    files = [
        {
            "layer": layer,
            "path": str(file),
            "exists": file.is_file(),
            "counts": layer == "user" or trusted,
        }
        for layer, file in settings_files(here.places, root)
    ]
    folders = {
        "config": str(here.places.config),
        "data": str(here.places.data),
        "project": str(here.places.project(here.folder)),
        "logs": str(here.places.logs),
    }
    if as_json:
        print_json({"files": files, "folders": folders})
        return 0
    lines = [f"{name + ':':<10}{folder}" for name, folder in folders.items()]
    print_lines(*(_file_line(entry) for entry in files), *lines)
    return 0


def _file_line(entry: JsonObject) -> str:
    remarks = [] if entry["exists"] else ["does not exist"]
    remarks += [] if entry["counts"] else ["does not count: the folder is not trusted"]
    remark = f"  ({', '.join(remarks)})" if remarks else ""
    return f"{entry['layer'] + ':':<10}{entry['path']}{remark}"


def _check(here: Installation, *, as_json: bool) -> int:
    """All layers are read, the project's also where it does not count yet."""
    loaded = here.settings(Options(), trusted=True)
    problems: list[JsonObject] = [
        {"file": str(p.file), "line": p.line, "key": p.key, "reason": p.reason}
        for p in loaded.problems
    ]
    rules = rule_problems(loaded.settings)
    problems += [
        {"file": "", "line": 0, "key": "permissions", "reason": sentence} for sentence in rules
    ]
    if as_json:
        print_json({"ok": not problems, "problems": problems})
    elif problems:
        print_lines(*(str(problem) for problem in loaded.problems), *rules)
    else:
        print_lines("Every setting counts.")
    return 1 if problems else 0
