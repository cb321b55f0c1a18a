"""Which paths may be read or written without a question; one policy for tools and shell."""

from __future__ import annotations

import fnmatch
import itertools
import os
import re
from collections.abc import Callable
from pathlib import Path, PurePath

from app.agent.policy import Policy

MOST_VISITED = 50_000
"""Entries of folders that one verdict looks at; where there are more the answer is not known."""

_SECRET_NAME = re.compile(
    r"""\.env(\.(?!(example|sample|template|dist|defaults?)$).*)?
    | \.env[-_](?!(example|sample|template|dist|defaults?)$).+ | \.envrc | .+\.env
    | env\.(local|dev(elopment)?|prod(uction)?|staging|test)
    | [._]netrc | \.git-credentials | \.npmrc | \.yarnrc\.yml | \.pypirc | \.pgpass
    | \.my(login)?\.cnf | \.ht(passwd|digest) | \.dockercfg | \.dockerconfigjson | \.boto | \.s3cfg
    | \.terraformrc | (.+[-._])?kubeconfig(-[\w-]+)?(\.(ya?ml|json|conf))? | nuget\.config
    | local\.settings\.json
    | \.?vault[-_](token|pass(word)?)(\.(txt|ya?ml))?
    | .+\.(pem|key|p8|p12|pfx|ppk|jks|keystore|kdbx|gpg|ovpn|tfstate|tfvars)
    | id_[a-z0-9]+(-cert)? | \.?tokens?\.(txt|json) | auth\.json
    | credentials?(\.(json|ya?ml|toml|ini|xml|db))?
    | (secret|passw(or)?d)s?\.(json|ya?ml|toml|ini|env|txt|csv)
    | client_secret.*\.json | service[-_]account.*\.json | .*firebase-adminsdk.*\.json
    | (api|access|private|secret|ssh|deploy)[-_]?keys?(\.(txt|json|ya?ml|toml))?
    | \.secrets?(\..+)? | .+\.(secrets?|age) | rclone\.conf | wp-config\.php
    | \..+_history""",
    re.IGNORECASE | re.VERBOSE,
)
_COPY = re.compile(
    r"(.+?)(~|[-._ ](bak|backup|old|orig|saved?|copy|te?mp|txt|sw[a-p]|\d+|gz|bz2|xz|zst|b64))",
    re.IGNORECASE,
)
"""What editors and careful people add to the name of a file that they keep another copy of."""
_SECRET_FOLDER = re.compile(
    r"\.ssh|\.aws|\.gnupg|\.kube|\.azure|\.gcloud|gcloud|\.docker|\.password-store|keyrings?",
    re.IGNORECASE,
)
_GIT_CONFIG = re.compile(r"config(\..+)?|credentials", re.IGNORECASE)
_GIT_SECRET = re.compile(rb"://[^/\s:@]*:[^/\s@]+@|extraheader|token|passw|secret", re.IGNORECASE)
_PROTECTED_FOLDER = re.compile(
    r"""\.git|\.hg|\.svn|\.reverie|\.claude|\.vscode|\.idea|\.husky|\.cargo|\.devcontainer|\.cursor
    |\.zed|\.fleet|\.windsurf|\.gemini|\.codex|\.circleci|\.buildkite|\.mvn|\.yarn|\.bundle|\.direnv
    |\.n?vim""",
    re.VERBOSE,
)
_PROTECTED_NAME = re.compile(
    r"""\.(ba|z|k|c|tc|fi)?sh(rc|env) | \.(bash_|z)?(profile|login|logout) | \.bash_aliases
    | \.gitconfig | \.gitmodules | \.ripgreprc | \.mcp\.json | \.claude\.json | config\.fish
    | \.pre-commit-config\.ya?ml | crontab | authorized_keys | \.exrc | \.g?n?vim(rc|\.lua)
    | \.l(ocal_)?vimrc | \.emacs | \.dir-locals(-2)?\.el | \.(gdb|lldb)init | \.inputrc
    | \.tmux\.conf | \.(pdb|irb|pry)rc | \.rprofile | (site|user)customize\.py | .+\.pth
    | \.yarnrc | \.pnpmfile\.c?js | \.?lefthook(-local)?\.(ya?ml|toml|json) | \.lintstagedrc(\..+)?
    | \.?mise(\..+)?\.toml | \.tool-versions | \.cursorrules | \.devcontainer\.json
    | .+\.code-workspace | \.gitlab-ci\.ya?ml | \.travis\.yml | azure-pipelines\.ya?ml
    | jenkinsfile""",
    re.VERBOSE,
)
_CI_FOLDERS = frozenset({"workflows", "actions"})
"""Of `.github` these run on the forge's machines, with its secrets."""
_MOST_CONFIG = 100_000
"""Bytes of a file of git's settings that are looked at."""
_SYSTEM_ROOTS = ("/proc", "/sys", "/dev")


class TooManyFiles(Exception):
    """A verdict would have to look at more entries of folders than it may."""


class Visits:
    """How many more entries of folders one verdict may look at: a count, so that the same tree
    gets the same answer on every machine."""

    def __init__(self, most: int = MOST_VISITED) -> None:
        self._left = most

    def spend(self) -> None:
        """One more. Raises `TooManyFiles`."""
        self._left -= 1
        if self._left < 0:
            raise TooManyFiles


def is_secret(path: PurePath) -> bool:
    """Whether such a file usually holds keys or passwords, or is a copy of one that does, or lies
    in a folder of such files."""
    if _GIT_CONFIG.fullmatch(path.name) and ".git" in path.parts[:-1]:
        return True  # an address in it may hold a token
    return _has_secret_name(path.name) or any(_SECRET_FOLDER.fullmatch(part) for part in path.parts)


def is_protected(path: PurePath) -> bool:
    """Whether a change here would change what runs later: git hooks, settings, shell files."""
    if _PROTECTED_NAME.fullmatch(path.name.lower()):
        return True
    parts = [part.lower() for part in path.parts]
    if any(_PROTECTED_FOLDER.fullmatch(part) for part in parts):
        return True
    pairs = itertools.pairwise(parts)
    return any(parent == ".github" and part in _CI_FOLDERS for parent, part in pairs)


def _has_secret_name(name: str) -> bool:
    name = name.strip("#")
    while True:
        if _SECRET_NAME.fullmatch(name) or _SECRET_NAME.fullmatch(name.lstrip(".")):
            return True
        copy = _COPY.fullmatch(name)
        if copy is None:
            return False
        name = copy[1]


def resolved(text: str, base: Path, home: Path) -> tuple[Path, ...]:
    """The path by name, and the ones with links resolved. Raises `ValueError` for no path.

    There are two of these where a `..` follows a link: the system goes through the link first,
    and a tool that folds `..` away by name does not. The tool's one is the last.
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
    return read_trouble_of(text, forms, policy)


def read_trouble_of(text: str, forms: tuple[Path, ...], policy: Policy) -> str | None:
    """`read_trouble` of a path whose forms by `resolved` are known."""
    if str(forms[0]) == "/dev/null":
        return None
    outside = _outside(text, forms, policy)
    if outside is not None:
        return outside
    if any(is_secret(_inner(form, policy)) for form in forms):
        return f"`{text}` may hold secrets"
    return None


def tree_trouble(
    text: str, base: Path, policy: Policy, visits: Visits, *, links: bool
) -> str | None:
    """Why reading everything below this path needs a question; with `links` what the links there
    lead to is read, too. Raises `TooManyFiles`.
    """
    trouble = read_trouble(text, base, policy)
    if trouble is not None:
        return trouble
    waiting = [str(real) for real in resolved(text, base, policy.home)[1:]]
    known = set(waiting)
    while waiting:
        for entry in _entries(waiting.pop(), visits):
            if _has_secret_name(entry.name) or _SECRET_FOLDER.fullmatch(entry.name):
                return f"`{text}` holds `{entry.name}`, which may hold secrets"
            if _GIT_CONFIG.fullmatch(entry.name) and _git_config_tells(Path(entry.path)):
                return f"`{text}` holds `{entry.name}` of git, which holds an address with a key"
            aim = read_trouble(entry.path, base, policy) if links and entry.is_symlink() else None
            if aim is not None:
                return f"`{text}` holds the link `{entry.name}`: {aim}"
            if _is_folder(entry, links=links):
                real = str(real_form(Path(entry.path))) if entry.is_symlink() else entry.path
                waiting += [] if real in known else [real]
                known.add(real)
    return None


def first_below(folder: Path, wanted: Callable[[Path], bool], visits: Visits) -> Path | None:
    """The first path below a folder that is `wanted`, by name or behind its link.

    Does not go into linked folders. Raises `TooManyFiles`.
    """
    waiting = [str(folder)]
    while waiting:
        for entry in _entries(waiting.pop(), visits):
            path = Path(entry.path)
            if wanted(path) or (entry.is_symlink() and wanted(real_form(path))):
                return path
            if _is_folder(entry, links=False):
                waiting.append(entry.path)
    return None


def expanded(pattern: str, folder: Path, visits: Visits) -> list[str]:
    """The paths that a pattern for `glob` stands for in `folder`, hidden ones too.

    As bash does it, which before 5.2 also took `.` and `..` for what `.*` means. Raises
    `TooManyFiles`.
    """
    found = ["/"] if pattern.startswith("/") else [""]
    parts = [part for part in pattern.split("/") if part]
    for place, part in enumerate(parts):
        last = place == len(parts) - 1 and not pattern.endswith("/")
        step: list[str] = []
        for base in found:
            names = _names_like(part, folder / base, visits, folders_only=not last)
            step += [f"{base}{name}" if last else f"{base}{name}/" for name in names]
        found = step
    return found


def _names_like(part: str, folder: Path, visits: Visits, *, folders_only: bool) -> list[str]:
    visits.spend()
    if not set(part) & set("*?["):
        return [part] if os.path.lexists(folder / part) else []
    like = re.compile(fnmatch.translate(part))
    names = [name for name in (".", "..") if part.startswith(".") and like.match(name)]
    names += [
        entry.name
        for entry in _entries(str(folder), visits)
        if like.match(entry.name) and (not folders_only or _is_folder(entry, links=True))
    ]
    return names


def real_form(path: Path) -> Path:
    """`path` with links resolved, as far as the system tells where they lead."""
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):
        return path  # such as `exe` of a process that is not ours


def _is_folder(entry: os.DirEntry[str], *, links: bool) -> bool:
    try:
        return entry.is_dir(follow_symlinks=links)
    except OSError:
        return False


def _entries(folder: str, visits: Visits) -> list[os.DirEntry[str]]:
    found: list[os.DirEntry[str]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                visits.spend()
                found.append(entry)
    except (OSError, ValueError):
        pass  # what we cannot list, the command cannot read either
    return found


def _git_config_tells(path: Path) -> bool:
    """Whether a file of git's settings holds more than the usual; a large one may."""
    if ".git" not in path.parts:
        return False
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_CONFIG)
    except OSError:
        return False
    return len(text) == _MOST_CONFIG or _GIT_SECRET.search(text) is not None


def write_trouble(text: str, forms: tuple[Path, ...], policy: Policy) -> str | None:
    """Why a change to the path with these forms by `resolved` needs a question even where edits
    are accepted; None where it does not."""
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
