"""Which paths may be read or written without a question; one policy for tools and shell."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePath

from app.agent.policy import Policy

MOST_SCANNED = 20_000
"""Entries looked at for secrets below a folder; in a larger tree the answer is not known."""

_SECRET_NAME = re.compile(
    r"""\.env(\.(?!(example|sample|template|dist|defaults?)$).*)? | \.envrc | .+\.env
    | [._]netrc | \.git-credentials | \.npmrc | \.yarnrc\.yml | \.pypirc | \.pgpass | \.my\.cnf
    | \.htpasswd | \.dockercfg | \.vault-token | \.boto | \.s3cfg | \.terraformrc
    | .+\.(pem|key|p12|pfx|ppk|jks|keystore|kdbx|gpg|tfstate) | id_[a-z0-9]+(-cert)?
    | credentials?(\.(json|ya?ml|toml|ini|xml|db))? | secrets?\.(json|ya?ml|toml|ini|env)
    | client_secret.*\.json | service[-_]account.*\.json | \..+_history""",
    re.IGNORECASE | re.VERBOSE,
)
_SECRET_FOLDER = re.compile(
    r"\.ssh|\.aws|\.gnupg|\.kube|\.azure|\.gcloud|gcloud|\.docker|\.password-store|keyrings?",
    re.IGNORECASE,
)
_PROTECTED_FOLDER = re.compile(r"\.git|\.hg|\.svn|\.reverie|\.claude|\.vscode|\.idea|\.husky")
_PROTECTED_NAME = re.compile(
    r"""\.(ba|z|k|c|tc|fi)?sh(rc|env) | \.(bash_|z)?(profile|login|logout) | \.bash_aliases
    | \.gitconfig | \.gitmodules | \.ripgreprc | \.mcp\.json | \.claude\.json | config\.fish
    | \.pre-commit-config\.yaml | crontab | authorized_keys""",
    re.VERBOSE,
)
_SYSTEM_ROOTS = ("/proc", "/sys", "/dev")


def is_secret(path: PurePath) -> bool:
    """Whether such a file usually holds keys or passwords, or lies in a folder that does."""
    if _SECRET_NAME.fullmatch(path.name):
        return True
    return any(_SECRET_FOLDER.fullmatch(part) for part in path.parts)


def is_protected(path: PurePath) -> bool:
    """Whether a change here would change what runs later: git hooks, settings, shell files."""
    if _PROTECTED_NAME.fullmatch(path.name.lower()):
        return True
    return any(_PROTECTED_FOLDER.fullmatch(part.lower()) for part in path.parts)


def resolved(text: str, base: Path, home: Path) -> tuple[Path, ...]:
    """The path by name, and the ones with links resolved. Raises `ValueError` for no path.

    There are two of these where a `..` follows a link: the system goes through the link first,
    and a tool that folds `..` away by name does not.
    """
    if not text or "\x00" in text:
        raise ValueError("not a path")
    if text == "~" or text.startswith("~/"):
        text = f"{home}{text[1:]}"
    elif text.startswith("~"):
        raise ValueError("the home of another user")
    by_name = Path(os.path.normpath(base / text))
    try:
        reals = (Path(os.path.realpath(base / text)), Path(os.path.realpath(by_name)))
    except OSError as error:
        raise ValueError("cannot be resolved") from error
    return (by_name, *dict.fromkeys(reals))


def inside_roots(path: Path, policy: Policy) -> bool:
    """Whether a resolved path lies in the project or an added folder."""
    return any(
        path.is_relative_to(os.path.realpath(root)) for root in (policy.root, *policy.added_roots)
    )


def read_trouble(text: str, base: Path, policy: Policy) -> str | None:
    """Why reading this path needs a question; None where it may be read."""
    try:
        forms = resolved(text, base, policy.home)
    except ValueError:
        return f"`{text}` cannot be resolved to a path"
    if str(forms[0]) == "/dev/null":
        return None
    outside = _outside(text, forms, policy)
    if outside is not None:
        return outside
    if any(is_secret(_inner(form, policy)) for form in forms):
        return f"`{text}` may hold secrets"
    return None


def tree_trouble(text: str, base: Path, policy: Policy) -> str | None:
    """Why reading everything below this path needs a question; looks at `MOST_SCANNED` entries."""
    trouble = read_trouble(text, base, policy)
    if trouble is not None:
        return trouble
    waiting = [str(real) for real in resolved(text, base, policy.home)[1:]]
    seen = 0
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    seen += 1
                    if seen > MOST_SCANNED:
                        return f"`{text}` holds too many files to check for secrets"
                    if is_secret(PurePath(entry.name)):
                        return f"`{text}` holds `{entry.name}`, which may hold secrets"
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue  # what we cannot list, the command cannot read either
    return None


def write_trouble(text: str, base: Path, policy: Policy) -> str | None:
    """Why a change here needs a question even where edits are accepted; None where it does not."""
    try:
        forms = resolved(text, base, policy.home)
    except ValueError:
        return f"`{text}` cannot be resolved to a path"
    outside = _outside(text, forms, policy)
    if outside is not None:
        return outside
    if any(is_secret(_inner(form, policy)) for form in forms):
        return f"`{text}` may hold secrets"
    if any(is_protected(_inner(form, policy)) for form in forms):
        return f"`{text}` decides what runs later"
    return None


def glob_base(pattern: str, path: str) -> tuple[str, str]:
    """`(folder, pattern in it)` of a Glob call: an absolute pattern names its own folder."""
    if not pattern.startswith(("/", "~/")):
        return path, pattern
    parts = pattern.split("/")
    fixed = 0
    while fixed < len(parts) - 1 and not set(parts[fixed]) & set("*?[{"):
        fixed += 1
    return "/".join(parts[:fixed]) or "/", "/".join(parts[fixed:])


def _outside(text: str, forms: tuple[Path, ...], policy: Policy) -> str | None:
    by_name, *reals = forms
    for real in reals:
        in_system = any(real.is_relative_to(root) for root in _SYSTEM_ROOTS)
        if in_system or not inside_roots(real, policy):
            how = f"`{text}` leads to `{real}`," if real != by_name else f"`{real}` is"
            return f"{how} outside the project"
    return None


def _inner(path: Path, policy: Policy) -> PurePath:
    """The part that the project decides; how its own folder is called says nothing."""
    for root in (policy.root, Path(os.path.realpath(policy.root))):
        if path.is_relative_to(root):
            return path.relative_to(root)
    return path
