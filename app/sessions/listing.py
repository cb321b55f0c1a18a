"""The list of sessions: of a project, of all work trees of its repository, or of all projects."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from app.git import work_trees
from app.paths import Places, project_slug
from app.sessions.catalogue import is_session_id
from app.sessions.glance import UNPRICED, SessionSummary, Tariff, exact, summarise
from app.sessions.ownership import holder_of
from app.sessions.summary_cache import read_cache, write_cache

Scope: TypeAlias = Literal["project", "worktrees", "all"]
SCOPES: tuple[Scope, ...] = ("project", "worktrees", "all")

_DIGEST = re.compile(r"-[0-9a-f]{8}$")
_Belongs: TypeAlias = Callable[[SessionSummary], bool]


def list_sessions(
    places: Places, folder: Path, scope: Scope, tariff: Tariff = UNPRICED
) -> list[SessionSummary]:
    """The sessions of a scope, the one in which something was said last first.

    Empty files and those of sub-agents are left out, and in a project sessions whose records name
    another folder (cases/B11). Branches and cost of a big file are known once `complete` has
    been through it.
    """
    found: list[SessionSummary] = []
    for data, belongs in _projects(places, folder, scope):
        found += (each for each in list_folder(data, tariff) if belongs(each))
    return sorted(found, key=lambda each: (each.updated_at, each.written), reverse=True)


def _projects(places: Places, folder: Path, scope: Scope) -> Iterator[tuple[Path, _Belongs]]:
    """Data folders of the projects in a scope, each with what belongs to it."""
    if scope == "project":
        yield places.project(folder), _inside((folder,))
        return
    trees = work_trees(folder) or (folder,)
    slugs = {project_slug(tree) for tree in trees}
    readable = tuple(_DIGEST.sub("", slug) for slug in slugs)
    own, below = _inside(trees), _opened_in(trees)
    for data in sorted(_folders(places.projects)):
        if scope == "all":
            yield data, lambda _: True
        elif data.name in slugs:
            yield data, own
        elif data.name.startswith(readable):  # of a folder in a tree, or of one with a like name
            yield data, below


def _folders(parent: Path) -> list[Path]:
    try:
        with os.scandir(parent) as entries:
            return [Path(entry.path) for entry in entries if entry.is_dir()]
    except OSError:
        return []


def _inside(folders: Iterable[Path]) -> _Belongs:
    """Whether a session was opened in one of the folders or below; unknown counts as yes."""
    is_in = _within(folders)

    def belongs(each: SessionSummary) -> bool:
        named = [place for place in (each.cwd, each.last_cwd) if place]
        return bool(
            not named
            or each.is_imported
            or each.forked_from
            or any(is_in(place) for place in named)
        )

    return belongs


def _opened_in(folders: Iterable[Path]) -> _Belongs:
    """Whether a session says that it was opened in one of the folders or below."""
    is_in = _within(folders)
    return lambda each: is_in(each.cwd)


def _within(folders: Iterable[Path]) -> Callable[[str], bool]:
    tops = {str(place) for each in folders for place in (each, os.path.realpath(each))}
    below = tuple(f"{top.rstrip('/')}/" for top in tops)
    return lambda place: place in tops or place.startswith(below)


def list_folder(data: Path, tariff: Tariff = UNPRICED) -> Iterator[SessionSummary]:
    """The sessions in one project's data folder, in no order."""
    known = read_cache(data, tariff.key)
    locked: set[str] = set()
    files: list[os.DirEntry[str]] = []
    try:
        with os.scandir(data) as entries:
            for entry in entries:
                stem, _, kind = entry.name.partition(".")
                if kind == "lock":
                    locked.add(stem)
                elif kind == "jsonl" and is_session_id(stem):
                    files.append(entry)
    except OSError:
        return
    for entry in files:
        summary = _known(entry, known) or summarise(Path(entry.path), tariff)
        if not summary.size or summary.is_sidechain:
            continue
        if summary.session_id in locked and holder_of(summary.path) is not None:
            summary = msgspec.structs.replace(summary, status="open")
        yield summary


def _known(entry: os.DirEntry[str], known: dict[str, SessionSummary]) -> SessionSummary | None:
    cached = known.get(entry.name)
    if cached is None:
        return None
    try:
        found = entry.stat()
    except OSError:
        return None
    fresh = (cached.size, cached.written) == (found.st_size, found.st_mtime_ns)
    return cached if fresh else None


def complete(
    summaries: Iterable[SessionSummary], tariff: Tariff = UNPRICED
) -> Iterator[SessionSummary]:
    """Read the big files of a list whole, one a step, and remember what is known then.

    Yields each session that is known exactly now and was not before.
    """
    known: list[SessionSummary] = []
    try:
        for each in summaries:
            found = each if each.is_exact else exact(each.path, tariff)
            if each.status == "open":
                found = msgspec.structs.replace(found, status="open")
            known.append(found)
            if found is not each and found.is_exact:
                yield found
    finally:
        remember(known, tariff)


def remember(summaries: Iterable[SessionSummary], tariff: Tariff = UNPRICED) -> None:
    """Keep what is known of the sessions, so that the next list need not read them."""
    projects: defaultdict[Path, dict[str, SessionSummary]] = defaultdict(dict)
    for each in summaries:
        if each.status != "open":  # it grows on: what is known now is of no use later
            projects[each.path.parent][each.path.name] = each
    for data, found in projects.items():
        _remember(data, tariff, found)


def _remember(data: Path, tariff: Tariff, found: dict[str, SessionSummary]) -> None:
    before = read_cache(data, tariff.key)
    after = {
        name: each
        for name, each in (before | found).items()
        if name in found or each.path.is_file()
    }
    if after != before:
        write_cache(data, tariff.key, after.values())
