"""What a shell command changed in a project (spec/checkpoints.md).

Watched are the plain files that `.gitignore` and its like do not name, nested repositories and
submodules included, `.git` and Reverie's own data excluded. Links, pipes and devices are not
listed, so one counts only where it took a file's place.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from app.checkpoints.appearance import RULES, Setting, states_before
from app.checkpoints.baseline import NO_STAMP, Baseline, Entry
from app.checkpoints.blobs import BlobStore
from app.checkpoints.look import BYTES, MOST_BYTES, Look, look_at
from app.checkpoints.states import ABSENT, FileState
from app.errors import StorageError

_NOT_HERE = "The shell's changes are not tracked here: "
_GONE = Entry(NO_STAMP, ABSENT)
_UNREAD = Entry(NO_STAMP, FileState("other"))


class ShellChange(Struct, frozen=True):
    """A path that a command left otherwise than it found it.

    `before` of kind "other" is not known: the file may have been there, ignored. `left` of kind
    "other" could not be read or kept. Where a kind is "file" the bytes are in the session's store.
    `path` is absolute and real; bytes that are no UTF-8 are surrogates, as `os.fsdecode` has them.
    """

    path: str
    before: FileState
    left: FileState


class FolderWatch:
    """Compares a project before and after each command; one command at a time.

    All methods block, and may be called from any thread. `list_files` gives the relative names of
    the files that are not ignored, more than `MOST_FILES` where there are more, None where they
    cannot be listed; `now` gives the wall time in ns.
    """

    def __init__(
        self,
        root: Path,
        baseline_folder: Path,
        store: BlobStore,
        list_files: Callable[[Path], list[bytes] | None],
        now: Callable[[], int] = time.time_ns,
    ) -> None:
        self.root = Path(os.path.realpath(root))
        self.gap = ""
        """What the last `after` could not tell or keep, as a sentence; empty when nothing."""
        self._prefix = os.fsencode(self.root).rstrip(b"/") + b"/"
        self._own = _own_data(self.root, Path(os.path.realpath(baseline_folder)))
        self._store = store
        self._list_files = list_files
        self._now = now
        self._baseline = Baseline(baseline_folder, now)
        self._turn = threading.Lock()
        self._watching = False
        self._leaving = False
        self._known: dict[bytes, Entry] = {}
        self._began = 0
        self._repository = 0

    def prepare(self) -> None:
        """Bring the baseline up to date ahead of the first command, and remove what it does not
        need any more. Does nothing while a command runs."""
        with self._turn:
            if not self._watching and not self._start():
                self._baseline.sweep()
                self._stop()

    def give_up(self) -> None:
        """Let whatever is being read end soon: the session closes."""
        self._leaving = True

    def before(self) -> str:
        """Keep the files as they are, right before a command.

        Returns why the shell's changes are not tracked, as a sentence; empty when they are.
        """
        with self._turn:
            return self._start()

    def after(self) -> tuple[ShellChange, ...]:
        """What differs since `before`, by path; the bytes of both states are in the store.

        Empty when `before` said why not. What cannot be kept is told by `gap`.
        """
        with self._turn:
            self.gap = ""
            if not self._watching:
                return ()
            try:
                return self._compare()
            finally:
                self._stop()

    def _start(self) -> str:
        self._stop()
        try:
            self._baseline.hold()
            why = self._update()
        except StorageError as error:
            self._baseline.sweep()
            why = f"The shell's changes are not tracked now. {error.happened}"
        if why:
            self._stop()
        self._watching = not why
        return why

    def _stop(self) -> None:
        self._watching = False
        self._known = {}
        self._baseline.release()

    def _update(self) -> str:
        """Make the baseline what the project is; returns why it cannot be that."""
        self._began = self._now()
        self._repository = self._marker()
        old = self._baseline.load()
        look = self._look(old)
        if why := look.too_much():
            return f"{_NOT_HERE}{why}."
        known = {
            name: entry
            for name, entry in old.items()
            if entry.stamp == look.stamps.get(name) and name in look.listed
        }
        unread = look.listed - known.keys()
        if not self._baseline.room_for(sum(look.size(name) for name in unread)):
            return f"{_NOT_HERE}the disk is too full for a copy of its files."
        for name in sorted(unread):
            if self._leaving:
                break
            entry = self._baseline.capture(self._path(name))
            if entry.state.kind != "absent":
                known[name] = entry
        # A link that took a file's place is not listed, and may become a file again.
        for name in [each for each in old if old[each].state.kind == "link"]:
            entry = self._baseline.capture(self._path(name))
            if entry.state.kind == "link":
                known[name] = entry
        self._baseline.save(known)
        self._known = known
        return f"{_NOT_HERE}the session closes." if self._leaving else ""

    def _compare(self) -> tuple[ShellChange, ...]:
        known, look = self._known, self._look(self._known)
        same = {
            name: entry
            for name, entry in known.items()
            if entry.stamp == look.stamps.get(name) and name in look.listed
        }
        new = look.listed - known.keys() if look.complete else frozenset[bytes]()
        if not look.complete:
            self.gap = "Files that the command made are not tracked: they cannot all be listed."
        if not new and len(same) == len(known):
            return ()
        left = self._captured([*sorted(known.keys() - same.keys()), *sorted(new)], look)
        left |= dict.fromkeys(_renamed_by_case(left, new, look), _GONE)
        before = {name: known[name].state for name in left if name in known}
        before |= self._states_before(new, left, look)
        changes = tuple(
            ShellChange(self._path(name), before[name], left[name].state)
            for name in sorted(before)
            if not before[name].same(left[name].state)
        )
        self._keep(same | left, changes)
        return changes

    def _states_before(
        self, new: Iterable[bytes], left: Mapping[bytes, Entry], look: Look
    ) -> dict[bytes, FileState]:
        """Of the new names, those that are the command's doing or may be."""
        known = self._known
        stamps = {
            name: look.stamps[name]
            for name in new
            if name in look.stamps and left[name].state.kind != "absent"
        }
        moot = [name for name in left if name in known]
        rules = any(
            name.rpartition(b"/")[2] in RULES and not known[name].state.same(left[name].state)
            for name in moot
        )
        repository = self._repository not in {0, self._marker()}
        gone = {
            known[name].stamp[3]
            for name in moot
            if left[name].state.kind != "file" or left[name].stamp[3] != known[name].stamp[3]
        }
        return states_before(
            stamps,
            Setting(self._prefix, known, gone, self._began, rules or repository),
        )

    def _captured(self, names: Iterable[bytes], look: Look) -> dict[bytes, Entry]:
        """What is at these names; the bytes are kept up to `MOST_BYTES` of new ones."""
        found: dict[bytes, Entry] = {}
        room = MOST_BYTES
        for name in names:
            was = self._known.get(name)
            if was is None or was.stamp[:2] != look.stamps.get(name, NO_STAMP)[:2]:
                room -= look.size(name)
            if room < 0:
                found[name] = _UNREAD
                self.gap = f"Not all that the command wrote is kept: more than {BYTES}."
                continue
            try:
                found[name] = self._baseline.capture(self._path(name))
            except StorageError as error:
                found[name] = _UNREAD
                self.gap = f"Not all that the command wrote is kept. {error.happened}"
        return found

    def _keep(self, left: Mapping[bytes, Entry], changes: tuple[ShellChange, ...]) -> None:
        """Give the session the bytes of both states, and note what is there now."""
        if changes:
            states = [state for change in changes for state in (change.before, change.left)]
            try:
                self._baseline.share(self._store, {each.sha256 for each in states if each.sha256})
            except StorageError as error:
                self.gap = f"What the command changed is not all kept. {error.happened}"
        there = {n: entry for n, entry in left.items() if entry.state.kind != "absent"}
        with contextlib.suppress(StorageError):  # costs the next look a second reading
            self._baseline.save(there)
        if changes:
            self._baseline.sweep()

    def _look(self, known: Iterable[bytes]) -> Look:
        return look_at(self._prefix, known, lambda: self._list_files(self.root), self._own)

    def _path(self, name: bytes) -> str:
        return os.fsdecode(self._prefix + name)

    def _marker(self) -> int:
        """The inode of the repository's `.git`, 0 where there is none."""
        try:
            return os.lstat(self._prefix + b".git").st_ino
        except OSError:
            return 0


def _renamed_by_case(left: Mapping[bytes, Entry], new: Iterable[bytes], look: Look) -> list[bytes]:
    """Names that are gone, though a file system that ignores case still finds a file by them."""
    inodes = {os.fsdecode(name).casefold(): look.stamps.get(name, NO_STAMP)[3] for name in new}
    return [
        name
        for name in left
        if name not in look.listed
        and look.stamps.get(name, NO_STAMP)[3] == inodes.get(os.fsdecode(name).casefold())
    ]


def _own_data(root: Path, baseline: Path) -> bytes:
    """The outermost of our folders (`<data>/projects/<slug>/baseline`) in the project, relative
    with its `/`; empty where none is."""
    ours = (*reversed(baseline.parents[:3]), baseline)
    inside = next((folder for folder in ours if root in folder.parents), None)
    return b"" if inside is None else os.fsencode(inside.relative_to(root)) + b"/"
