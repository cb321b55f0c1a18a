"""The rule that "always" would save, shown before it is saved."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit

from app.agent.path_policy import is_protected, is_secret
from app.agent.rules import FILE_READERS, FILE_WRITERS, RuleError, parse_rule
from app.agent.shell_parse import hidden_character, parse_script
from app.agent.shell_reasons import is_grave
from app.agent.shell_rules import risky_option

_SUBCOMMANDS: Mapping[str, frozenset[str]] = {
    "npm": frozenset({"test", "t"}),
    "pnpm": frozenset({"test"}),
    "yarn": frozenset({"test"}),
    "cargo": frozenset({"test", "build", "check", "clippy", "fmt", "doc", "bench"}),
    "go": frozenset({"test", "build", "vet", "fmt"}),
    "git": frozenset({"status"}),
    "ruff": frozenset({"check", "format"}),
}
"""Of these the first two words make the rule. Git's other commands write by many an option, and
of build tools such as Gradle and Maven every further word may be another task."""
_RUNNERS = frozenset({"npm", "pnpm", "yarn", "bun"})
"""With `run NAME` the first three words make the rule."""
_ALONE = frozenset(
    ["pytest", "pyright", "mypy", "eslint", "jest", "vitest", "black", "isort", "flake8"]
)
"""Of these the name makes the rule. All have their risky options in `shell_rules`."""


def suggest_rule(tool: str, arguments: Mapping[str, Any]) -> str | None:
    """A rule narrow enough to be saved, or None where there is no safe one."""
    rule = _suggestion(tool, arguments)
    if rule is None:
        return None
    try:
        return rule if parse_rule(rule).text == rule else None
    except RuleError:
        return None


def _suggestion(tool: str, arguments: Mapping[str, Any]) -> str | None:
    if tool == "Bash":
        command = arguments.get("command")
        return _for_command(command) if isinstance(command, str) else None
    if tool in FILE_READERS | FILE_WRITERS:
        return _for_path(tool, arguments.get("file_path", arguments.get("path")))
    if tool == "WebFetch":
        return _for_address(arguments.get("url"))
    return tool


def _for_command(text: str) -> str | None:
    script = parse_script(text)
    exact = text.strip()
    if script.trouble is not None or "\n" in exact or hidden_character(exact) is not None:
        return None
    prefix = None
    if len(script.commands) == 1 and not script.redirects:
        words = script.commands[0].words
        if not any(word.computed or word.pattern is not None for word in words[:3]):
            prefix = _prefix([word.text for word in words])
    if prefix is not None:
        return f"Bash({prefix}:*)"
    # An exact command that ends like a prefix would be read as one.
    return None if exact.endswith((":*", " *")) else f"Bash({exact})"


def _prefix(words: list[str]) -> str | None:
    name, rest = words[0], words[1:]
    runs = name in _RUNNERS and len(rest) > 1 and rest[0] == "run" and not rest[1].startswith("-")
    if runs and risky_option(words, 3) is None:
        return _plain([name, *rest[:2]])
    if is_grave(words):
        return None
    if name in _ALONE and risky_option(words, 1) is None:
        return name
    if rest and risky_option(words, 2) is None and rest[0] in _SUBCOMMANDS.get(name, ()):
        return _plain([name, rest[0]])
    return None


def _plain(words: list[str]) -> str | None:
    text = " ".join(words)
    return text if text.split() == words and "*" not in text else None


def _for_path(tool: str, path: object) -> str | None:
    if not isinstance(path, str) or not path.strip() or set(path) & set("*?\\\n"):
        return None
    pure = PurePath(os.path.normpath(path))
    if is_secret(pure) or is_protected(pure) or ".." in pure.parts:
        return None
    family = "Edit" if tool in FILE_WRITERS else "Read"
    if path.startswith("~"):
        return f"{family}({pure})" if path.startswith("~/") else None
    return f"{family}(/{pure})"


def _for_address(url: object) -> str | None:
    if not isinstance(url, str):
        return None
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return None
    return f"WebFetch(domain:{host})" if host else None
