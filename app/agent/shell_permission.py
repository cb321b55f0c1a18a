"""The verdict on a shell command."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.agent.path_policy import resolved
from app.agent.policy import Mode, Policy, Verdict, clipped
from app.agent.rules import Rule, match_path
from app.agent.shell_parse import Script, parse_script
from app.agent.shell_rules import forbids, names_whole, permits
from app.agent.shell_safety import (
    Trouble,
    command_trouble,
    possible_folders,
    redirects_trouble,
    script_trouble,
)
from app.agent.shell_words import Word


def judge_shell(arguments: Mapping[str, Any], policy: Policy) -> Verdict:
    """The verdict on one call of Bash. Never raises."""
    text = arguments.get("command")
    if not isinstance(text, str) or not text.strip():
        return Verdict("ask", "there is no command in it")
    script = parse_script(text)
    bypass = policy.mode is Mode.BYPASS
    denied = _forbidding(policy.rules.deny, text, script, policy)
    if denied is not None:
        return Verdict("deny", f"the rule {denied.text} forbids it", denied.text)
    asked = None if bypass else _forbidding(policy.rules.ask, text, script, policy)
    if asked is not None:
        return Verdict("ask", f"the rule {asked.text} wants a question", asked.text)
    if bypass:
        return Verdict("allow", "permissions are bypassed")
    trouble = script_trouble(script, policy)
    if trouble is None:
        return Verdict("allow", "it only reads inside the project")
    if policy.mode is Mode.PLAN:
        return _in_plan_mode(trouble)
    return _by_allow_rules(text, script, trouble, policy)


def _in_plan_mode(trouble: Trouble) -> Verdict:
    if trouble.path:
        return Verdict("ask", clipped(trouble.reason))
    return Verdict("deny", clipped(f"plan mode only reads; {trouble.reason}"))


def _by_allow_rules(text: str, script: Script, trouble: Trouble, policy: Policy) -> Verdict:
    rules = [rule for rule in policy.rules.allow if rule.covers("Bash")]
    for rule in rules:
        if names_whole(rule, text):
            return Verdict("allow", f"the rule {rule.text} allows it", rule.text)
    if script.trouble is not None:
        return _uncovered(script.trouble)
    folders = possible_folders(script, policy)
    used: Rule | None = None
    for command in script.commands:
        rule = next((rule for rule in rules if permits(rule, command)), None)
        reason = None if rule is not None else command_trouble(command, folders, policy)
        if reason is not None:
            return _uncovered(reason.reason)
        used = used or rule
    reason = redirects_trouble(script, folders, policy)
    if reason is not None:
        return _uncovered(reason.reason)
    if used is None:
        return _uncovered(trouble.reason)
    return Verdict("allow", f"the rule {used.text} allows it", used.text)


def _uncovered(reason: str) -> Verdict:
    return Verdict("ask", clipped(f"not covered by a rule; {reason}"))


def _forbidding(rules: Iterable[Rule], text: str, script: Script, policy: Policy) -> Rule | None:
    folders = possible_folders(script, policy)
    for rule in rules:
        if rule.covers("Bash") and forbids(rule, text, script):
            return rule
        if rule.pattern is not None and _touches(rule, script, folders, policy):
            return rule
    return None


def _touches(rule: Rule, script: Script, folders: Sequence[Path], policy: Policy) -> bool:
    """Whether a rule for files names a path that stands in the script."""
    reads, writes = rule.covers("Read"), rule.covers("Edit") or rule.covers("Write")
    words: list[Word] = []
    if reads:
        words += [word for command in script.commands for word in command.words[1:]]
        words += [item.target for item in script.redirects if item.target is not None]
    elif writes:
        words += [
            item.target
            for item in script.redirects
            if item.target is not None and item.operator != "<"
        ]
    for word in words:
        for folder in folders:
            try:
                forms = resolved(word.text, folder, policy.home)
            except ValueError:
                continue
            if any(
                match_path(rule.pattern or "", form, policy.root, policy.home) for form in forms
            ):
                return True
    return False
