"""A watched project on disk, with a clock that takes every file so far for long written."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from app.checkpoints.baseline import GRANULE
from app.checkpoints.blobs import BlobStore
from app.checkpoints.look import MOST_FILES
from app.checkpoints.watch import FolderWatch, ShellChange
from app.ripgrep import list_files

LISTED = partial(list_files, most=MOST_FILES)


class FileClock:
    """Gives a time at which all that was written before the last `tick` is old."""

    def __init__(self, folder: Path) -> None:
        self._probe = folder / "clock"
        self._probe.write_text("")
        self.now = self._probe.stat().st_ctime_ns + GRANULE

    def tick(self) -> None:
        """Wait until the file system's clock has moved on, a few ms."""
        self._probe.write_text("")
        before = self._probe.stat().st_ctime_ns
        while (moment := self._probe.stat().st_ctime_ns) == before:
            self._probe.write_text("")
        self.now = moment + GRANULE

    def __call__(self) -> int:
        return self.now


@dataclass
class Project:
    """A project, its session's store and its watch."""

    root: Path
    baseline: Path
    store: BlobStore
    clock: FileClock
    watch: FolderWatch

    def write(self, name: str, data: bytes | str = b"old\n") -> Path:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data.encode() if isinstance(data, str) else data)
        return file

    def start(self) -> None:
        self.clock.tick()
        assert self.watch.before() == ""
        self.clock.tick()

    def changes(self) -> dict[str, ShellChange]:
        """What `after` says, by relative name."""
        found = self.watch.after()
        assert [each.path for each in found] == sorted(
            {each.path for each in found}, key=os.fsencode
        )
        return {os.path.relpath(each.path, self.root): each for each in found}

    def during(self, command: Callable[[], object]) -> dict[str, ShellChange]:
        """What a command that does this is said to have changed."""
        self.start()
        command()
        return self.changes()

    def kinds(self, command: Callable[[], object]) -> dict[str, tuple[str, str]]:
        """The same, kinds of states only."""
        found = self.during(command)
        return {name: (each.before.kind, each.left.kind) for name, each in found.items()}

    def another(self, session: str = "other") -> FolderWatch:
        """A watch of a second session."""
        store = BlobStore(self.baseline.parent / session)
        return FolderWatch(self.root, self.baseline, store, LISTED, self.clock)


def project(folder: Path) -> Project:
    """An empty project under version control in `folder`."""
    root = folder / "project"
    (root / ".git").mkdir(parents=True)
    data = folder / "data" / "projects" / "slug"
    store = BlobStore(data / "session")
    clock = FileClock(folder)
    watch = FolderWatch(root, data / "baseline", store, LISTED, clock)
    return Project(root, data / "baseline", store, clock, watch)
