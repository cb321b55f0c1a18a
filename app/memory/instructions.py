"""Instruction files that every request loads: `CLAUDE.md`, `AGENTS.md`, rules, and their imports.

Source: spec/memory.md, "Sources that later requests load". A cloned project is not trusted with
more than itself: its files load nothing from elsewhere but Markdown of the person's own settings.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from app.memory.entry import code_units, end_of_units
from app.memory.imports import MOST_ASKED, imports
from app.memory.rules import rule_files
from app.plain_text import plain_line
from app.storage.documents import Skipped
from app.storage.reading import decode, is_below, read_resolved

MOST_BYTES: Final = 102_400
"""Of one file; the rest of it is left out."""
MOST_FILES: Final = 100
MOST_UNITS: Final = 400_000
"""UTF-16 code units of all files together."""
MOST_DEEP: Final = 5
"""Imports within imports (spec/memory.md)."""

Scope: TypeAlias = Literal["user", "project", "local", "import"]
Stamp: TypeAlias = tuple[int, ...]
"""What tells one state of a file from another; empty where there is none."""


class Source(Struct, frozen=True):
    """The text of one instruction file."""

    path: Path
    scope: Scope
    text: str
    modified: float
    """Seconds since the epoch."""
    imported_by: Path | None = None
    is_cut: bool = False
    """Whether the end of the file was left out."""


class Instructions(Struct, frozen=True):
    """All that is loaded, general before particular, an import after the file that asks for it."""

    sources: tuple[Source, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    watched: tuple[str, ...] = ()
    """Every path that decided about the above, whether there is a file or not."""
    signature: tuple[Stamp, ...] = ()
    """What `signature(watched)` was before anything was read."""


class _Rights(Struct, frozen=True):
    """Where the files lie that a source may load, all as resolved paths."""

    all_below: tuple[str, ...]
    texts_below: tuple[str, ...] = ()

    def allow(self, real: str) -> bool:
        if any(is_below(real, top) for top in self.all_below):
            return True
        is_text = real.endswith((".md", ".txt"))
        return is_text and any(
            # Below `projects` lie the notes and sessions of other projects.
            is_below(real, top) and "projects" not in Path(real[len(top) :]).parts
            for top in self.texts_below
        )


def signature(watched: Iterable[str]) -> tuple[Stamp, ...]:
    """What changes when one of these files changes, comes or goes; only their status is read."""
    return tuple(_stamp(path) for path in watched)


def load_instructions(
    folder: Path, root: Path, home: Path, config: Path, refuses: Callable[[Path], str]
) -> Instructions:
    """The instructions for requests from the working `folder` of the project at `root`. Blocking.

    `refuses` says why a resolved path may not be read, for instance because it holds keys; empty
    for an ordinary one. A project's file loads files below `root`, and `.md` and `.txt` files
    below `config` and `~/.claude`; a file of the person's own loads anything below `home`. Of the
    folders above `root` a file counts only where nobody but this user or root can have put it
    there. Each file enters once. What is not loaded though it is there, or asked for, is named.
    """
    loading = _Loading(root, home, config, refuses)
    for file in _of_user(home, config, loading.watch):
        loading.take(_Wanted(file, "user", loading.user))
    place = Path(os.path.realpath(folder))
    for each in (*reversed(place.parents), place):
        is_inside = is_below(str(each), loading.root)
        rights = loading.project if is_inside else loading.above(each)
        for file, scope in _of_folder(each, loading.watch):
            loading.take(_Wanted(file, scope, rights, above=None if is_inside else each))
    return Instructions(
        sources=tuple(loading.sources),
        skipped=tuple(loading.skipped),
        watched=tuple(loading.stamps),
        signature=tuple(loading.stamps.values()),
    )


def _of_user(home: Path, config: Path, watch: Callable[[Path], None]) -> list[Path]:
    own = home / ".claude"
    return [
        config / "CLAUDE.md",
        config / "AGENTS.md",
        *rule_files(config / "rules", watch, is_deep=False),
        own / "CLAUDE.md",
        *rule_files(own / "rules", watch, is_deep=False),
    ]


def _of_folder(folder: Path, watch: Callable[[Path], None]) -> list[tuple[Path, Scope]]:
    shared = [
        folder / "CLAUDE.md",
        folder / "AGENTS.md",
        folder / ".claude" / "CLAUDE.md",
        *rule_files(folder / ".claude" / "rules", watch),
    ]
    return [*((file, "project") for file in shared), (folder / "CLAUDE.local.md", "local")]


class _Wanted(Struct, frozen=True):
    """A file that is loaded if there is one and it may be."""

    path: Path
    scope: Scope
    rights: _Rights
    above: Path | None = None
    """The folder above the project in which it was looked for."""
    imported_by: Path | None = None
    deep: int = 0
    looks_like_path: bool = True
    """What does not, and names no file, is no import."""


class _Loading:
    """What one load has found so far."""

    def __init__(
        self, root: Path, home: Path, config: Path, refuses: Callable[[Path], str]
    ) -> None:
        self.root = os.path.realpath(root)
        self._home = home
        self._refuses = refuses
        own = tuple(os.path.realpath(each) for each in (config, home / ".claude"))
        self.project = _Rights((self.root,), own)
        self.user = _Rights((os.path.realpath(home), *own))
        self.sources: list[Source] = []
        self.skipped: dict[Skipped, None] = {}
        self.stamps: dict[str, Stamp] = {}
        self._entered: set[str] = set()
        self._units_left = MOST_UNITS
        self._asked = 0

    def above(self, folder: Path) -> _Rights:
        """Of the files that a folder above the project holds."""
        return _Rights((str(folder), *self.project.all_below), self.project.texts_below)

    def watch(self, path: Path) -> None:
        """Let the signature tell of this path."""
        self.stamps.setdefault(str(path), _stamp(str(path)))

    def take(self, wanted: _Wanted) -> None:
        """Load a file and what it imports, or say why not."""
        self.watch(wanted.path)
        if wanted.imported_by is None and not os.path.lexists(wanted.path):
            return
        real = os.path.realpath(wanted.path)
        if not (wanted.looks_like_path or Path(real).is_file()):
            return
        if real not in self._entered and (reason := self._load(wanted, real)):
            self._skip(wanted, reason)

    def _load(self, wanted: _Wanted, real: str) -> str:
        """Why the file is not loaded, empty where it is."""
        if wanted.above and _may_be_planted(wanted.above, wanted.path):
            return "somebody else may have put it there"
        if not wanted.rights.allow(real):
            return f"it is {real}, which may not be loaded from there"
        if reason := self._refuses(Path(real)):
            return reason
        read = read_resolved(Path(real), MOST_BYTES)
        decoded = decode(read)
        if decoded.trouble:
            return decoded.trouble
        if wanted.above and _is_foreign(read.owner, read.mode):
            return "somebody else may have written it"
        if wanted.deep > MOST_DEEP:
            return f"imports are followed {MOST_DEEP} deep"
        if len(self.sources) == MOST_FILES:
            return f"{MOST_FILES} files are loaded at most"
        if self._units_left <= 0:
            return f"{MOST_UNITS} code units are loaded at most"
        self._entered.add(real)
        text = decoded.text[: end_of_units(decoded.text, self._units_left)]
        self._units_left -= code_units(text)
        if text.strip():
            is_cut = not read.is_whole or len(text) < len(decoded.text)
            path = Path(real) if wanted.imported_by else wanted.path
            source = Source(path, wanted.scope, text, read.seconds, wanted.imported_by, is_cut)
            self.sources.append(source)
            self._follow(wanted, source, real)
        return ""

    def _follow(self, wanted: _Wanted, source: Source, real: str) -> None:
        """Take what a file imports; one that lies in the project has the project's rights only."""
        is_own = wanted.rights is self.user and not is_below(real, self.root)
        rights = self.user if is_own else self.project
        for each in imports(source.text, Path(real), self._home):
            self._asked += 1
            if self._asked > MOST_ASKED:
                reason = f"more than {MOST_ASKED} imports are not followed up"
                self._skip(_Wanted(source.path, "import", rights), reason)
                return
            self.take(
                _Wanted(
                    each.path,
                    "import",
                    rights,
                    imported_by=source.path,
                    deep=wanted.deep + 1,
                    looks_like_path=each.looks_like_path,
                )
            )

    def _skip(self, wanted: _Wanted, reason: str) -> None:
        if wanted.imported_by:
            reason = f"{reason}; {wanted.imported_by} imports it"
        name = os.path.normpath(wanted.path)
        self.skipped[Skipped(plain_line(name), plain_line(reason))] = None


def _may_be_planted(folder: Path, file: Path) -> bool:
    """Whether somebody but this user and root can have put the file, or a link to it, there."""
    parts = file.relative_to(folder).parts
    for number in range(1, len(parts) + 1):
        try:
            state = folder.joinpath(*parts[:number]).lstat()
        except OSError:
            return True
        if _is_foreign(state.st_uid, state.st_mode):
            return True
    return False


def _is_foreign(owner: int, mode: int) -> bool:
    return owner not in (os.getuid(), 0) or (not stat.S_ISLNK(mode) and bool(mode & stat.S_IWOTH))


def _stamp(path: str) -> Stamp:
    try:
        state = Path(path).stat()
    except (OSError, ValueError):
        return ()
    return (state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino, state.st_mode)
