"""The little of git that the app shows, read from its files: no process, no lock."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from app.paths import read_small


def git_root(folder: Path) -> Path | None:
    """The top folder of the work tree that holds `folder`, None outside of git."""
    for candidate in (folder, *folder.parents):
        try:
            if (candidate / ".git").exists():
                return candidate
        except OSError:
            return None
    return None


def git_branch(folder: Path) -> str:
    """The branch that is checked out: empty outside of git, `HEAD` when detached."""
    root = git_root(folder)
    if root is None:
        return ""
    try:
        head = _small_text(_git_folder(root) / "HEAD")
    except OSError:
        return ""
    prefix = "ref: refs/heads/"
    return head.removeprefix(prefix) if head.startswith(prefix) else "HEAD"


def work_trees(folder: Path) -> tuple[Path, ...]:
    """The top folders of all work trees of the repository that holds `folder`, its own first.

    Read from `.git/worktrees/*/gitdir`; none outside of git.
    """
    root = git_root(folder)
    if root is None:
        return ()
    try:
        own = _git_folder(root)
        shared = own / "commondir"
        common = (own / _small_text(shared)).resolve() if shared.is_file() else own
        named = sorted((common / "worktrees").glob("*/gitdir"))
    except OSError:
        return (root,)
    found = [root]
    if common.name == ".git":
        found.append(common.parent)
    for file in named:
        with contextlib.suppress(OSError):
            marker = Path(_small_text(file))
            found.append((marker if marker.is_absolute() else file.parent / marker).parent)
    return tuple(dict.fromkeys(Path(os.path.realpath(each)) for each in found))


def _git_folder(root: Path) -> Path:
    marker = root / ".git"
    if marker.is_dir():
        return marker
    text = _small_text(marker)
    return (root / text.removeprefix("gitdir:").strip()).resolve()


def _small_text(file: Path) -> str:
    return read_small(file, 4096).decode("utf-8", "replace").strip()
