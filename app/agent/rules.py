"""Permission rules: `Bash(npm test:*)`, `Read(src/**)`, `WebFetch(domain:example.org)`, `Write`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from app.errors import SettingsError

FILE_READERS = frozenset({"Read", "Grep", "Glob", "LS"})
FILE_WRITERS = frozenset({"Edit", "Write"})
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_PATH_TOOLS = FILE_READERS | FILE_WRITERS


class RuleError(SettingsError):
    """A rule that cannot be read; names the rule and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; without a pattern it covers every call of the tool."""

    tool: str
    pattern: str | None = None

    @property
    def text(self) -> str:
        """The rule as it stands in the settings."""
        return self.tool if self.pattern is None else f"{self.tool}({self.pattern})"

    def covers(self, tool: str) -> bool:
        """Whether it speaks of `tool`: Read for all that read files, Edit for all that write."""
        if self.tool == tool:
            return True
        if self.tool.startswith("mcp__"):
            return tool.startswith(f"{self.tool}__")
        families = {"Read": FILE_READERS, "Edit": FILE_WRITERS}
        return tool in families.get(self.tool, ())


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules in force. Deny beats ask, ask beats allow."""

    allow: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()


def parse_rule(text: str) -> Rule:
    """The rule that `text` writes down. Raises `RuleError`."""
    stripped = text.strip()
    name = _NAME.match(stripped)
    if name is None:
        raise _malformed(text, "it must start with a tool's name, as in Bash(npm test)")
    rest = stripped[name.end() :]
    if not rest:
        return Rule(name.group())
    if not rest.startswith("(") or not rest.endswith(")"):
        raise _malformed(text, "the pattern must stand in parentheses, as in Read(src/**)")
    pattern = rest[1:-1].strip()
    if not pattern:
        raise _malformed(text, "the parentheses are empty; leave them out to cover every call")
    if any(ord(letter) < 32 and letter not in "\n\t" for letter in pattern):
        raise _malformed(text, "it holds a control character")
    rule = Rule(name.group(), None if pattern == "*" else pattern)
    _check_pattern(text, rule)
    return rule


def parse_rules(
    allow: Iterable[str] = (), ask: Iterable[str] = (), deny: Iterable[str] = ()
) -> Rules:
    """The three lists of the settings. Raises `RuleError` for the first malformed rule."""
    return Rules(*(tuple(map(parse_rule, texts)) for texts in (allow, ask, deny)))


def match_path(pattern: str, path: Path, root: Path, home: Path) -> bool:
    """Whether the pattern of a file rule covers an absolute path, or a folder above it.

    `//x` starts at the file system's root, `~/x` at home, `/x` and `a/b` at the project;
    a bare name is found at any depth.
    """
    return path_matcher(pattern, root, home)(path)


def path_matcher(pattern: str, root: Path, home: Path) -> Callable[[Path], bool]:
    """`match_path` for many paths."""
    like = _path_regex(_absolute(pattern, root, home))
    return lambda path: like.fullmatch(str(path)) is not None


def _absolute(pattern: str, root: Path, home: Path) -> str:
    if pattern.startswith("//"):
        return pattern[1:]
    if pattern.startswith("~/"):
        return f"{_literal(home)}/{pattern[2:]}"
    if "/" in pattern.rstrip("/"):
        return f"{_literal(root)}/{pattern.removeprefix('./').lstrip('/')}"
    return f"/**/{pattern}"


def match_domain(pattern: str, arguments: dict[str, Any]) -> bool:
    """Whether `domain:x` covers the host of the call's `url`, subdomains included."""
    url = arguments.get("url")
    if not isinstance(url, str) or not pattern.startswith("domain:"):
        return False
    wanted = pattern.removeprefix("domain:").strip().lower()
    try:
        host = (urlsplit(url).hostname or "").lower().rstrip(".")
    except ValueError:
        return False
    return host == wanted or host.endswith(f".{wanted}")


def _check_pattern(text: str, rule: Rule) -> None:
    if rule.pattern is None:
        return
    if rule.tool == "WebFetch" and not re.fullmatch(r"domain:\s*[^\s/:]+", rule.pattern):
        raise _malformed(text, "WebFetch takes domain:NAME")
    if rule.tool == "Bash" and rule.pattern.strip() in {":*", "*:*"}:
        raise _malformed(text, "there is no command in front of :*; write Bash to cover all")
    if rule.tool in _PATH_TOOLS and rule.pattern.startswith("!"):
        raise _malformed(text, "a pattern cannot be turned round with !")


def _malformed(text: str, why: str) -> RuleError:
    shown = text if len(text) <= 120 else text[:120] + "…"
    return RuleError(f"The permission rule {shown!r} cannot be read: {why}.")


def _literal(path: Path) -> str:
    """A folder's name inside a pattern: its own stars are no pattern."""
    return re.sub(r"([*?\[\\])", r"\\\1", os.path.realpath(path)).rstrip("/")


@lru_cache(maxsize=512)
def _path_regex(pattern: str) -> re.Pattern[str]:
    r"""`**` is any depth, `*` and `?` stay inside a name, `\` takes the next letter as it is."""
    pieces: list[str] = []
    place = 0
    while place < len(pattern):
        if pattern.startswith("/**/", place):
            pieces.append("/(?:.*/)?")
            place += 4
        elif pattern.startswith("**", place):
            pieces.append(".*")
            place += 2
        elif pattern[place] == "\\" and place + 1 < len(pattern):
            pieces.append(re.escape(pattern[place + 1]))
            place += 2
        else:
            letter = pattern[place]
            pieces.append({"*": "[^/]*", "?": "[^/]"}.get(letter, re.escape(letter)))
            place += 1
    return re.compile("".join(pieces).rstrip("/") + r"(?:/.*)?", re.DOTALL)
