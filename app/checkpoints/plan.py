"""What going back would do, path by path, before anything is done (spec/checkpoints.md)."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct, structs

from app.checkpoints.states import ABSENT, FileState
from app.errors import ReverieError

Problem: TypeAlias = Literal[
    "", "changed", "unknown", "outside", "folder", "beneath", "missing", "unseen", "blocked"
]
"""Why a path is not simply put back:

- `changed`: somebody else changed it since we last wrote it;
- `unknown`: nobody recorded what was left there, so it may be somebody else's;
- `outside`: another program recorded it, and it is not in the project, or it is git's own;
- `folder`: a folder with somebody's files is in its place;
- `beneath`: a folder on the way is somebody's file;
- `missing`: its saved bytes are gone, or damaged;
- `unseen`: nobody saw what was there before a command;
- `blocked`: something that is no plain file is in its place or on the way.

The first three are overwritten when the person says so, their present bytes saved first; the next
two give way when all that is in the way goes anyway.
"""
FORCEABLE: frozenset[Problem] = frozenset({"changed", "unknown", "outside"})

NOT_FOUND = "No file checkpoint found for this message."
NOT_ENABLED = "File rewinding is not enabled."


class RewindError(ReverieError):
    """Files cannot be put back; nothing was changed."""


class Step(Struct, frozen=True):
    """One path: what it holds, what it would hold, and what stands against it."""

    path: str
    now: FileState
    then: FileState
    blob: str | None
    """Names the bytes that it would hold."""
    writers: tuple[str, ...]
    """Who changed it since: `tool`, `shell`, `rewind`, `unknown`, `someone` for anybody else."""
    command: str = ""
    """The last command that changed it."""
    problem: Problem = ""
    folders: tuple[str, ...] = ()
    """Folders that were made for it and go when they are empty."""
    shell_only: bool = False
    """Whether nothing but commands changed it: it is put back only when chosen."""

    @property
    def action(self) -> str:
        """What would happen: create, delete, restore, or permissions."""
        if self.then.kind == "absent":
            return "delete"
        if self.now.kind == "absent":
            return "create"
        return "permissions" if self.now.same_bytes(self.then) else "restore"


class Plan(Struct, frozen=True):
    """Everything that going back to a message would do to files."""

    message: str
    steps: tuple[Step, ...] = ()
    links: tuple[str, ...] = ()
    """Symbolic links, or paths through one: never written through, left as they are."""
    untracked: tuple[str, ...] = ()
    """Commands since then of which it is not known what they changed."""

    @property
    def by_shell(self) -> tuple[Step, ...]:
        """What only commands changed."""
        return tuple(step for step in self.steps if step.shell_only)


class Selection(Struct, frozen=True):
    """The part of a plan that is chosen."""

    steps: tuple[Step, ...]
    """What would be carried out."""
    conflicts: tuple[Step, ...]
    """What needs a word of the person, or cannot be done at all."""


def select(plan: Plan, *, with_shell: bool, force: bool) -> Selection:
    """What of a plan is carried out: with what only commands changed, over others' changes.

    A folder in a file's place, or a file in a folder's, gives way when it goes anyway.
    """
    wanted = [step for step in plan.steps if with_shell or not step.shell_only]
    allowed = FORCEABLE if force else frozenset[Problem]()
    steps = [step for step in wanted if not step.problem or step.problem in allowed]
    going = {step.path for step in steps if step.then.kind == "absent"}
    for step in wanted:
        if step.problem == "folder" and holds_only(step.path, going):
            steps.append(step)
        elif step.problem == "beneath" and any(str(p) in going for p in Path(step.path).parents):
            steps.append(structs.replace(step, now=ABSENT))
    files = {step.path for step in steps if step.then.kind == "file"}
    steps = [
        step
        for step in steps
        if step.then.kind != "file" or not any(str(p) in files for p in Path(step.path).parents)
    ]
    taken = {step.path for step in steps}
    left = [step for step in wanted if step.path not in taken]
    return Selection(tuple(sorted(steps, key=lambda step: step.path)), tuple(left))


def holds_only(folder: str, names: set[str] | frozenset[str]) -> bool:
    """Whether a folder holds nothing but these files, folders in between aside."""
    try:
        for entry in os.scandir(folder):
            if stat.S_ISDIR(entry.stat(follow_symlinks=False).st_mode):
                if not holds_only(entry.path, names):
                    return False
            elif entry.path not in names:
                return False
    except OSError:
        return False
    return True
