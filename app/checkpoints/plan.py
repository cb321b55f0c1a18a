"""What going back would do, path by path, before anything is done (spec/checkpoints.md)."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct, structs

from app.checkpoints.blobs import BlobMissing, BlobStore
from app.checkpoints.history import Change, FileHistory
from app.checkpoints.states import ABSENT, FileState, state_of
from app.errors import ReverieError

Problem: TypeAlias = Literal[
    "", "changed", "unknown", "outside", "folder", "beneath", "missing", "blocked"
]
"""Why a path is not simply put back:

- `changed`: somebody else changed it since we last wrote it;
- `unknown`: nobody recorded what was left there, so it may be somebody else's;
- `outside`: it is not in the project, or it is git's own;
- `folder`: a folder with somebody's files is in its place;
- `beneath`: a folder on the way is somebody's file;
- `missing`: its saved bytes are gone;
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
    taken = {step.path for step in steps}
    left = [step for step in wanted if step.path not in taken]
    return Selection(tuple(sorted(steps, key=lambda step: step.path)), tuple(left))


def make_plan(
    history: FileHistory,
    store: BlobStore,
    message: str,
    roots: Sequence[Path],
    lefts: Mapping[str, FileState] | None = None,
) -> Plan:
    """What going back to `message` would do; reads files and changes none.

    `roots` are the project's own folders; `lefts` is what is known to have been left at paths
    where no change says so. Raises `RewindError` when the message has no checkpoint.
    """
    if not history.knows(message):
        raise RewindError(NOT_FOUND)
    real_roots = tuple(os.path.realpath(root) for root in roots)
    steps: list[Step] = []
    links: list[str] = []
    for path, changes in history.since(message).items():
        now, then = state_of(path), _target(changes[0])
        if "link" in (now.kind, then.kind):
            if now.kind != then.kind:
                links.append(path)
            continue
        left = changes[-1].left or (lefts or {}).get(path)
        step = _step(message, path, changes, now, then, left, store)
        if step is not None:
            steps.append(_outside(step, real_roots))
    return Plan(message, tuple(sorted(steps, key=lambda step: step.path)), tuple(sorted(links)))


def _target(first: Change) -> FileState:
    """What the path held; a folder comes back with what lay in it."""
    return ABSENT if first.before.kind == "folder" else first.before


def _step(
    message: str,
    path: str,
    changes: list[Change],
    now: FileState,
    then: FileState,
    left: FileState | None,
    store: BlobStore,
) -> Step | None:
    problem: Problem = ""
    blob = changes[0].blob
    if then.kind == "other":
        problem = "missing"  # nobody saw what was there
    elif then.kind == "file":
        try:
            then = _with_digest(then, blob, store)
        except BlobMissing:
            problem = "missing"
    writers = _writers(changes, now)
    if now.kind in ("folder", "beneath") and then.kind == "absent":
        return None  # no file of ours is there any more
    if all(change.by == "rewind" for change in changes) and (left and left.same(then)):
        return None  # rewinds that took each other back
    if not problem and (now.same(then) or (now.same_bytes(then) and not _modes_moved(changes))):
        return None
    if now.kind == "other":
        problem = "blocked"
    elif now.kind in ("folder", "beneath"):
        problem = problem or now.kind
    elif not problem and left is None:
        problem = "unknown"
    elif not problem and left is not None and not left.same_bytes(now):
        problem = "changed"
    command = next((c.what for c in reversed(changes) if c.by == "shell"), "")
    folders = tuple(dict.fromkeys(f for change in changes for f in change.folders))
    return Step(
        path,
        now,
        then,
        blob,
        writers,
        command,
        problem,
        folders,
        shell_only="shell" in writers
        and not {"tool", "unknown"} & set(writers)
        and (changes[0].by != "rewind" or changes[0].message != message),
    )


def _modes_moved(changes: list[Change]) -> bool:
    """Whether permission bits were changed on the way, and not by the person alone."""
    return any(
        change.left is not None
        and None not in (change.before.mode, change.left.mode)
        and change.before.mode != change.left.mode
        for change in changes
    )


def _with_digest(then: FileState, blob: str | None, store: BlobStore) -> FileState:
    if blob is None or not store.has(blob):
        raise BlobMissing("The saved bytes are gone.")
    if then.sha256:
        return then
    digest, size = store.measure(blob)
    return FileState("file", digest, size, then.mode)


def _writers(changes: list[Change], now: FileState) -> tuple[str, ...]:
    found: dict[str, None] = {}
    before: FileState | None = None
    for change in changes:
        if before is not None and change.before.sha256 and not before.same_bytes(change.before):
            found["someone"] = None
        found[change.by] = None
        before = change.left
    if before is not None and not before.same_bytes(now):
        found["someone"] = None
    return tuple(found)


def _outside(step: Step, roots: tuple[str, ...]) -> Step:
    path = Path(step.path)
    inside = [path.relative_to(root) for root in roots if path.is_relative_to(root)]
    if step.problem or any(".git" not in relative.parts for relative in inside):
        return step
    return structs.replace(step, problem="outside")


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
