"""May this call run? Allow, ask or deny, with a reason for the person who is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from app.agent.path_policy import (
    glob_base,
    is_secret,
    read_trouble_of,
    real_form,
    resolved,
    write_trouble,
)
from app.agent.permission_suggest import suggest_rule
from app.agent.policy import Mode, Policy, Verdict, clipped
from app.agent.rules import FILE_READERS, FILE_WRITERS, Rule, match_domain, match_path
from app.agent.shell_permission import judge_shell

__all__ = ["Mode", "Policy", "Verdict", "hidden_from_search", "judge", "suggest_rule"]

_HARMLESS = frozenset({"TodoWrite", "AskUserQuestion", "BashOutput", "KillShell"})
"""They touch nothing but the session itself."""


def judge(tool_name: str, arguments: Mapping[str, Any], policy: Policy) -> Verdict:
    """The verdict on one call. Looks at the file system for links and secrets, changes nothing
    there, and never raises, whatever the model wrote into `arguments`.

    Where a path leads is resolved once, and noted in `policy.sightings` for the tool.
    """
    if tool_name == "Bash":
        return judge_shell(arguments, policy)
    paths = _paths(tool_name, arguments, policy)
    if paths:
        policy.sightings.note(arguments, paths[-1])
    for kind, rules in (("deny", policy.rules.deny), ("ask", policy.rules.ask)):
        rule = _covering(rules, tool_name, arguments, paths, policy, every=False)
        if rule is not None and kind == "deny":
            return Verdict("deny", f"the rule {rule.text} forbids it", rule.text)
        if rule is not None and policy.mode is not Mode.BYPASS:
            return Verdict("ask", f"the rule {rule.text} wants a question", rule.text)
    if tool_name == "memory" and policy.memory_writes == "deny" and not _views(arguments):
        return Verdict("deny", "memory is only read here (memory.writes = deny)")
    if policy.mode is Mode.BYPASS:
        return _bypassed(tool_name, paths, policy)
    if tool_name in _HARMLESS:
        return Verdict("allow", "it touches nothing outside the session")
    if tool_name == "SendFeedback":
        return Verdict("allow", "it only queues a draft, which you review")
    # The narrower rules first: they open what one without a pattern does not.
    allowing = sorted(policy.rules.allow, key=lambda rule: rule.pattern is None)
    allowed_by = _covering(allowing, tool_name, arguments, paths, policy, every=True)
    if tool_name in FILE_READERS:
        return _judge_read(_path_argument(tool_name, arguments), paths, allowed_by, policy)
    if tool_name in FILE_WRITERS:
        return _judge_write(_path_argument(tool_name, arguments), paths, allowed_by, policy)
    if tool_name == "memory" and _views(arguments):
        return Verdict("allow", "it reads the project's memory")
    if allowed_by is not None and not (tool_name == "memory" and policy.mode is Mode.PLAN):
        return Verdict("allow", f"the rule {allowed_by.text} allows it", allowed_by.text)
    if policy.mode is Mode.PLAN:
        return Verdict("deny", f"plan mode only reads, and {tool_name} may do more")
    if tool_name == "memory" and policy.memory_writes == "allow":
        return Verdict("allow", "changes to memory are silent (memory.writes = allow)")
    if tool_name == "memory":
        return Verdict("ask", "later sessions will read it")
    return Verdict("ask", f"no rule covers {tool_name}")


def _views(arguments: Mapping[str, Any]) -> bool:
    return arguments.get("command") == "view"


def _bypassed(tool: str, paths: tuple[Path, ...], policy: Policy) -> Verdict:
    named = any(rule.covers(tool) and rule.pattern is not None for rule in policy.rules.deny)
    if tool in FILE_READERS | FILE_WRITERS and named and not paths:
        return Verdict("deny", "its path cannot be resolved, and rules forbid some")
    return Verdict("allow", "permissions are bypassed")


def hidden_from_search(policy: Policy) -> Callable[[Path], bool]:
    """For `ToolContext.hidden`: the files that a deny rule for reading names."""
    rules = [rule for rule in policy.rules.deny if rule.covers("Read") and rule.pattern is not None]

    def hidden(path: Path) -> bool:
        forms = {path, real_form(path)}
        return any(
            match_path(rule.pattern or "", form, policy.root, policy.home)
            for rule in rules
            for form in forms
        )

    return hidden


def _judge_read(
    text: str | None, paths: tuple[Path, ...], allowed_by: Rule | None, policy: Policy
) -> Verdict:
    if text is None:
        return Verdict("ask", "it does not say which file")
    if not paths:
        return Verdict("ask", clipped(f"`{text}` cannot be resolved to a path"))
    trouble = read_trouble_of(text, paths, policy)
    if trouble is None:
        return Verdict("allow", "it reads inside the project")
    # A rule without a pattern opens the disk, but not the files that hold secrets.
    opened = allowed_by is not None and allowed_by.pattern is not None
    if allowed_by is not None and (opened or not any(map(is_secret, paths))):
        return Verdict("allow", f"the rule {allowed_by.text} allows it", allowed_by.text)
    return Verdict("ask", clipped(trouble))


def _judge_write(
    text: str | None, paths: tuple[Path, ...], allowed_by: Rule | None, policy: Policy
) -> Verdict:
    if policy.mode is Mode.PLAN:
        return Verdict("deny", "plan mode only reads; leave it to change files")
    if text is None:
        return Verdict("ask", "it does not say which file")
    if not paths:
        return Verdict("ask", clipped(f"`{text}` cannot be resolved to a path"))
    trouble = write_trouble(text, paths, policy)
    if allowed_by is not None and (allowed_by.pattern is not None or trouble is None):
        return Verdict("allow", f"the rule {allowed_by.text} allows it", allowed_by.text)
    if trouble is not None:
        return Verdict("ask", clipped(trouble))
    if policy.mode is Mode.ACCEPT_EDITS:
        return Verdict("allow", "edits inside the project are accepted")
    return Verdict("ask", "it changes a file")


def _path_argument(tool: str, arguments: Mapping[str, Any]) -> str | None:
    key = "file_path" if tool in {"Read", "Write", "Edit"} else "path"
    value = arguments.get(key, None if key == "file_path" else ".")
    if not isinstance(value, str) or not value.strip():
        return None
    if tool == "Glob":
        pattern = arguments.get("pattern")
        return glob_base(pattern, value)[0] if isinstance(pattern, str) else None
    return value


def _paths(tool: str, arguments: Mapping[str, Any], policy: Policy) -> tuple[Path, ...]:
    if tool not in FILE_READERS | FILE_WRITERS:
        return ()
    text = _path_argument(tool, arguments)
    try:
        return () if text is None else resolved(text, policy.root, policy.home)
    except ValueError:
        return ()


def _covering(
    rules: Iterable[Rule],
    tool: str,
    arguments: Mapping[str, Any],
    paths: tuple[Path, ...],
    policy: Policy,
    *,
    every: bool,
) -> Rule | None:
    """The first rule for this call. With `every` a pattern must cover the path by name and the
    one behind its links, so that a link does not widen an allow rule."""
    for rule in rules:
        if not rule.covers(tool):
            continue
        if rule.pattern is None:
            return rule
        if tool == "WebFetch" and match_domain(rule.pattern, dict(arguments)):
            return rule
        matches = [match_path(rule.pattern, path, policy.root, policy.home) for path in paths]
        if matches and (all(matches) if every else any(matches)):
            return rule
    return None
