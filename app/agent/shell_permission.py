"""The verdict on a shell command."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from app.agent.path_policy import TooManyFiles, first_below, real_form, resolved
from app.agent.policy import Mode, Policy, Verdict, clipped
from app.agent.rules import Rule, path_matcher
from app.agent.shell_parse import Script, parse_script
from app.agent.shell_readers import (
    FILE_WRITERS,
    FOLDER_READERS,
    below_is_read,
    output_operands,
    placed_operands,
    read_folders,
    written_below,
    written_operands,
)
from app.agent.shell_reasons import TAKES_CODE
from app.agent.shell_rules import (
    IN_CODE,
    base_name,
    forbids,
    names_whole,
    permits,
    scripts_in,
    spoken,
)
from app.agent.shell_safety import (
    Ground,
    Trouble,
    command_trouble,
    ground_of,
    redirects_trouble,
    script_trouble,
)
from app.agent.shell_words import Word, names_in

_BETWEEN_WORDS = re.compile(r"[\s;&|<>()'\"`]+")
_LOOP = re.compile(r"\b(for|select)\b|=\(")


@dataclass(frozen=True, slots=True)
class _Hit:
    """A rule that speaks of the script; not `sure` where the files could not all be looked at."""

    rule: Rule
    why: str = ""
    sure: bool = True


def judge_shell(arguments: Mapping[str, Any], policy: Policy) -> Verdict:
    """The verdict on one call of Bash. Never raises."""
    text = arguments.get("command")
    if not isinstance(text, str) or not text.strip():
        return Verdict("ask", "there is no command in it")
    script = parse_script(text)
    bypass = policy.mode is Mode.BYPASS
    ground = ground_of(script, policy)
    denied = _forbidding(policy.rules.deny, text, ground)
    if denied is not None and (denied.sure or bypass):
        return _by_rule("deny", denied)
    asked = denied
    if asked is None and not bypass:
        asked = _forbidding(policy.rules.ask, text, ground)
    if asked is not None:
        return _by_rule("ask", asked)
    if bypass:
        return Verdict("allow", "permissions are bypassed")
    trouble = script_trouble(script, ground)
    if trouble is None:
        return Verdict("allow", "it only reads inside the project")
    if policy.mode is Mode.PLAN:
        return _in_plan_mode(trouble)
    return _by_allow_rules(text, script, trouble, ground)


def _by_rule(answer: str, hit: _Hit) -> Verdict:
    name = hit.rule.text
    if not hit.sure:
        reason = f"whether the rule {name} forbids it is not known: {hit.why}"
    elif answer == "deny":
        reason = f"the rule {name} forbids it" + (f": {hit.why}" if hit.why else "")
    else:
        reason = f"the rule {name} wants a question" + (f": {hit.why}" if hit.why else "")
    return Verdict("deny" if answer == "deny" else "ask", clipped(reason), name)


def _in_plan_mode(trouble: Trouble) -> Verdict:
    if trouble.path:
        return Verdict("ask", clipped(trouble.reason))
    return Verdict("deny", clipped(f"plan mode only reads; {trouble.reason}"))


def _by_allow_rules(text: str, script: Script, trouble: Trouble, ground: Ground) -> Verdict:
    rules = [rule for rule in ground.policy.rules.allow if rule.covers("Bash")]
    for rule in rules:
        if names_whole(rule, text):
            return Verdict("allow", f"the rule {rule.text} allows it", rule.text)
    if script.trouble is not None:
        return _uncovered(script.trouble)
    used: Rule | None = None
    for command in script.commands:
        rule = next((rule for rule in rules if permits(rule, command)), None)
        reason = None if rule is not None else command_trouble(command, ground)
        if reason is not None:
            return _uncovered(reason.reason)
        used = used or rule
    reason = redirects_trouble(script, ground)
    if reason is not None:
        return _uncovered(reason.reason)
    if used is None:
        return _uncovered(trouble.reason)
    return Verdict("allow", f"the rule {used.text} allows it", used.text)


def _uncovered(reason: str) -> Verdict:
    return Verdict("ask", clipped(f"not covered by a rule; {reason}"))


def _forbidding(rules: Iterable[Rule], text: str, ground: Ground) -> _Hit | None:
    """The first rule that speaks of the script, by its commands or by the files they touch."""
    rules = tuple(rules)
    for rule in rules:
        if rule.covers("Bash") and forbids(rule, text):
            return _Hit(rule)
    named = [rule for rule in rules if rule.pattern is not None]
    reading = [rule for rule in named if rule.covers("Read")]
    writing = [
        rule
        for rule in named
        if rule not in reading and (rule.covers("Edit") or rule.covers("Write"))
    ]
    touched = [*reading, *writing]
    if not touched:
        return None
    if ground.too_wide:
        return _Hit(touched[0], "it changes folders too often to check", sure=False)
    search = _Search(Ground(ground.policy, ground.folders), touched)
    try:
        # What is named outright goes first: to be sure of it few files have to be looked at.
        return (
            search.named(reading, _named_words(text))
            or search.named(writing, _written_words(text))
            or search.named(writing, _placed_words(text), in_folder=True)
            or search.below(reading, _folders_read(text, ground.policy.mode))
            or search.below(writing, _folders_written(text))
        )
    except TooManyFiles:
        return _Hit(touched[0], "there are too many files to check", sure=False)


_Words: TypeAlias = Iterator[Word]


class _Search:
    """Finds the paths of a script that file rules cover. Raises `TooManyFiles`."""

    def __init__(self, ground: Ground, rules: Sequence[Rule]) -> None:
        root, self._home = ground.policy.root, ground.policy.home
        self._ground = ground
        self._covers = {rule: path_matcher(rule.pattern or "", root, self._home) for rule in rules}

    def named(
        self, rules: Sequence[Rule], words: _Words, *, in_folder: bool = False
    ) -> _Hit | None:
        """The rule that covers a path which one of the words may stand for; with `in_folder` only
        where the folder of that path is there."""
        for _, forms in self._paths(rules, words):
            if in_folder and not os.path.isdir(forms[0].parent):  # noqa: PTH112 -- never raises
                continue
            rule = next(filter(None, (self._rule(rules, form) for form in forms)), None)
            if rule is not None:
                return _Hit(rule)
        return None

    def below(self, rules: Sequence[Rule], words: _Words) -> _Hit | None:
        """The rule that covers a path below a folder which one of the words may stand for, or one
        that a link there leads to."""
        looked: set[Path] = set()
        for name, forms in self._paths(rules, words):
            for form in forms:
                if form in looked or not os.path.isdir(form):  # noqa: PTH112 -- never raises
                    continue
                looked.add(form)
                found = first_below(
                    form, lambda path: self._rule(rules, path) is not None, self._ground.visits
                )
                rule = (
                    None
                    if found is None
                    else self._rule(rules, found) or self._rule(rules, real_form(found))
                )
                if found is not None and rule is not None:
                    return _Hit(rule, f"`{name}` holds `{found.name}`")
        return None

    def _rule(self, rules: Sequence[Rule], path: Path) -> Rule | None:
        return next((rule for rule in rules if self._covers[rule](path)), None)

    def _paths(
        self, rules: Sequence[Rule], words: _Words
    ) -> Iterator[tuple[str, tuple[Path, ...]]]:
        for word in dict.fromkeys(words) if rules else ():
            for folder in self._ground.folders:
                for name in self._ground.names(word, folder):
                    self._ground.visits.spend()
                    try:
                        yield name, resolved(name, folder, self._home)
                    except ValueError:
                        continue


def _named_words(text: str) -> _Words:
    """Everything in the script that may be a path."""
    for inner, script in scripts_in(text):
        for command in script.commands:
            for word in command.words[1:]:
                yield from names_in(word)
        for redirect in script.redirects:
            if redirect.target is not None:
                yield from names_in(redirect.target)
        for words in spoken(script, TAKES_CODE):
            for word in words[1:]:
                yield from _loose_words(word.text) if IN_CODE.search(word.text) else ()
        if script.trouble is not None:
            # A loop or the like, whose words are in no command.
            yield from _loose_words(inner)


def _written_words(text: str) -> _Words:
    for inner, script in scripts_in(text):
        writes = False
        for words in spoken(script, FILE_WRITERS):
            for word in written_operands(words):
                writes = True
                yield from names_in(word)
        for command in script.commands:
            yield from output_operands(command.words)
        for redirect in script.redirects:
            if redirect.target is not None and redirect.operator != "<":
                yield from names_in(redirect.target)
        if writes and script.trouble is not None:
            yield from _loose_words(inner)


def _placed_words(text: str) -> _Words:
    for _, script in scripts_in(text):
        for words in spoken(script, FILE_WRITERS):
            yield from placed_operands(words)


def _folders_read(text: str, mode: Mode) -> _Words:
    """Folders whose files the script may read. Where only rules that forbid hold, these are all
    that a command is given which may look into them."""
    for _, script in scripts_in(text):
        for words in spoken(script, FOLDER_READERS):
            if below_is_read(words, guess=False):
                for word in read_folders(words):
                    yield from names_in(word)
        for command in script.commands if mode is Mode.BYPASS else ():
            words = command.words
            name = base_name(words[0].text) if words else ""
            if words and below_is_read((Word(name), *words[1:]), guess=True):
                for word in words[1:]:
                    yield from names_in(word)


def _folders_written(text: str) -> _Words:
    for _, script in scripts_in(text):
        for words in spoken(script, FILE_WRITERS):
            for word in written_below(words):
                yield from names_in(word)


def _loose_words(text: str) -> _Words:
    """The words of a text that is no list of plain commands."""
    loops = _LOOP.search(text) is not None
    for piece in dict.fromkeys(_BETWEEN_WORDS.split(text)):
        if set(piece) & set("${["):
            yield from names_in(Word(piece, computed=True))
        elif set(piece) & set("*?"):
            # A lone star is a pattern of files in a loop; elsewhere it has many a meaning.
            yield from names_in(Word(piece, pattern=piece)) if loops or set(piece) - {"*"} else ()
        elif piece:
            yield from names_in(Word(piece))
