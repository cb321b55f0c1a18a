"""Whether a Bash rule speaks of a command."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from app.agent.rules import Rule
from app.agent.shell_parse import Script, ShellCommand, parse_script
from app.agent.shell_reasons import SHELLS, WRAPPERS

_DEEPEST = 4
"""Levels of `sh -c '…'` that are looked into."""
_GIT_VALUED = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace"})


def prefix_of(pattern: str) -> str | None:
    """`git push` for `git push:*`; None for a pattern that means one exact command."""
    for mark in (":*", " *"):
        if pattern.endswith(mark):
            return pattern[: -len(mark)].rstrip()
    return None


def names_whole(rule: Rule, text: str) -> bool:
    """Whether the rule covers every command, or names exactly this text."""
    return rule.pattern is None or rule.pattern == text.strip()


def permits(rule: Rule, command: ShellCommand) -> bool:
    """Whether an allow rule covers one simple command: whole words of a known prefix, or all."""
    if rule.pattern is None:
        return True
    words = command.words
    prefix = prefix_of(rule.pattern)
    wanted = (rule.pattern if prefix is None else prefix).split()
    if command.assigns or command.substitutes or len(words) < len(wanted):
        return False
    if prefix is None and len(words) != len(wanted):
        return False
    return all(
        not word.computed and word.pattern is None and word.text == want
        for word, want in zip(words, wanted, strict=False)
    )


def forbids(rule: Rule, text: str, script: Script) -> bool:
    """Whether a deny or ask rule covers any part of the script, however it is dressed up.

    Quotes are removed, wrappers such as `sudo` and `xargs` looked through, scripts given to
    `sh -c` read. Of what cannot be read the plain text is searched.
    """
    if names_whole(rule, text):
        return True
    pattern = rule.pattern or ""
    prefix = prefix_of(pattern)
    wanted = (pattern if prefix is None else prefix).split()
    for words in _spoken(script, _DEEPEST):
        if _covers(wanted, words, exact=prefix is None):
            return True
    return script.trouble is not None and _occurs(wanted, text)


def _covers(wanted: Sequence[str], words: Sequence[str], *, exact: bool) -> bool:
    if not wanted or len(words) < len(wanted) or (exact and len(words) != len(wanted)):
        return False
    # Without ":*" the last word may be the start of one: "npm run test" forbids "test:all", too.
    *first, last = wanted
    same = all(word == want for word, want in zip(words, first, strict=False))
    word = words[len(first)]
    return same and (word == last or (not exact and len(wanted) > 1 and word.startswith(last)))


def _spoken(script: Script, depth: int) -> Iterator[list[str]]:
    """The word lists under which each command of the script can be known."""
    for command in script.commands:
        words = [word.text for word in command.words]
        yield from _forms(words, depth)


def _forms(words: list[str], depth: int) -> Iterator[list[str]]:
    if not words:
        return
    # Every tail of a wrapper's words may be the command it runs.
    tails = len(words) if _base(words[0]) in WRAPPERS else 1
    for start in range(tails):
        name = _base(words[start])
        form = [name, *words[start + 1 :]]
        yield form
        yield _without_options(form)
        if depth > 0 and name in SHELLS:
            for word in form[1:]:
                yield from _spoken(parse_script(word), depth - 1)
        if depth > 0 and name == "eval":
            yield from _spoken(parse_script(" ".join(form[1:])), depth - 1)


def _base(word: str) -> str:
    return word.rsplit("/", 1)[-1]


def _without_options(words: list[str]) -> list[str]:
    kept = [words[0]]
    place = 1
    while place < len(words):
        word = words[place]
        place += 1
        if words[0] == "git" and word in _GIT_VALUED:
            place += 1
        elif not word.startswith("-"):
            kept.append(word)
    return kept


def _occurs(wanted: Sequence[str], text: str) -> bool:
    bare = re.sub(r"[\\'\"]", "", text)
    words = r"\s+(?:-\S+\s+)*".join(re.escape(word) for word in wanted)
    return re.search(rf"(?<![\w.-]){words}(?![\w-])", bare) is not None
