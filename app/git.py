"""The little of git that the app shows, read from its files: no process, no lock."""

from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from app.paths import read_small

_MOST_INDEX = 64 << 20
"""Bytes of an index that are read."""
_INDEX_HEAD = 12


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


def main_work_tree(folder: Path) -> Path | None:
    """The top folder of the repository's main work tree, None outside of git.

    A linked work tree is believed only when the repository names it too: a `.git` file that came
    with a download must not make it share what belongs to another project.
    """
    root = git_root(folder)
    if root is None:
        return None
    try:
        own = _git_folder(root)
        shared = own / "commondir"
        if (root / ".git").is_dir() or not shared.is_file():
            return root
        common = (own / _small_text(shared)).resolve()
        named = Path(_small_text(own / "gitdir"))
        marker = named if named.is_absolute() else own / named
        is_named = own.parent == common / "worktrees" and marker.samefile(root / ".git")
    except OSError:
        return root
    if not is_named:
        return root
    return common.parent if common.name == ".git" else common  # a bare repository


def _git_folder(root: Path) -> Path:
    marker = root / ".git"
    if marker.is_dir():
        return marker
    text = _small_text(marker)
    return (root / text.removeprefix("gitdir:").strip()).resolve()


def _small_text(file: Path) -> str:
    return read_small(file, 4096).decode("utf-8", "replace").strip()


def tracked_files(root: Path) -> frozenset[bytes]:
    """The plain files that git tracks in the work tree with this top folder, ignored ones too.

    Read from the index; empty outside of git and for an index of an unknown kind. Blocking.
    """
    try:
        index = _git_folder(root) / "index"
        state = index.stat()
    except OSError:
        return frozenset()
    return _names_in(index, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=2)
def _names_in(index: Path, _changed: int, size: int) -> frozenset[bytes]:
    try:
        data = read_small(index, min(size, _MOST_INDEX))
        return frozenset(_entries(data))
    except (OSError, struct.error, ValueError, IndexError):
        return frozenset()


def _entries(data: bytes) -> Iterator[bytes]:
    """The names of the plain files in an index of version 2 to 4 (git's index-format)."""
    signature, version, count = struct.unpack_from(">4sII", data)
    if signature != b"DIRC" or version not in (2, 3, 4):
        return
    place, name = _INDEX_HEAD, b""
    for _ in range(count):
        (mode,) = struct.unpack_from(">I", data, place + 24)
        (flags,) = struct.unpack_from(">H", data, place + 60)
        extended = struct.unpack_from(">H", data, place + 62)[0] if flags & 0x4000 else 0
        start = place + (64 if flags & 0x4000 else 62)
        if version == 4:
            strip, start = _offset(data, start)
            end = data.index(0, start)
            name = name[: len(name) - strip] + data[start:end]
            place = end + 1
        else:
            end = data.index(0, start)
            name = data[start:end]
            place += (end - place + 8) // 8 * 8
        is_there = not extended & 0x4000  # of a sparse checkout only a part is
        if mode >> 12 == 0o10 and is_there and _stays_inside(name):
            yield name


def _stays_inside(name: bytes) -> bool:
    """Whether a name can only mean a file of the work tree: an index may come from anybody."""
    parts = name.split(b"/")
    return not name.startswith(b"/") and not {b"", b".", b"..", b".git"} & set(parts)


def _offset(data: bytes, place: int) -> tuple[int, int]:
    """A number of git's own variable length, and the place behind it."""
    byte = data[place]
    value = byte & 0x7F
    while byte & 0x80:
        place += 1
        byte = data[place]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, place + 1
