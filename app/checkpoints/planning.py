"""Works out what going back would do; reads files and changes none (spec/checkpoints.md)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import structs

from app.checkpoints.blobs import BlobMissing, BlobStore
from app.checkpoints.history import Change, FileHistory
from app.checkpoints.plan import NOT_FOUND, Plan, Problem, RewindError, Step
from app.checkpoints.states import ABSENT, FileState, state_of


def make_plan(
    history: FileHistory,
    store: BlobStore,
    message: str,
    roots: Sequence[Path],
    lefts: Mapping[str, FileState] | None = None,
) -> Plan:
    """What going back to `message` would do, with all that changed since.

    `roots` are the project's own folders; `lefts` is what is known to have been left at paths
    where no change says so. Raises `RewindError` when the message has no checkpoint.
    """
    if not history.knows(message):
        raise RewindError(NOT_FOUND)
    known = lefts or {}
    changed = {
        path: (changes, _left(history, changes) or known.get(path))
        for path, changes in history.since(message).items()
    }
    plan = _plan(message, changed, store, roots)
    return structs.replace(plan, untracked=history.gaps_since(message))


def undo_plan(history: FileHistory, store: BlobStore, rewind: str, roots: Sequence[Path]) -> Plan:
    """What taking back this rewind would do: to the files that it changed, and to no others.

    Whatever changed one of them since is a conflict. Raises `RewindError` when it is too old.
    """
    if not history.knows(rewind):
        raise RewindError(NOT_FOUND)
    changed: dict[str, tuple[list[Change], FileState | None]] = {}
    for path, changes in history.since(rewind).items():
        for own in (change for change in changes if change.message == rewind):
            last = changes[-1].left
            stands = own.left is not None and last is not None and last.same_bytes(own.left)
            changed[path] = ([own], own.left if stands else FileState("other"))
    return _plan(rewind, changed, store, roots)


def _left(history: FileHistory, changes: list[Change]) -> FileState | None:
    """What was left at a path, by us as far as is known; `other` for what cannot be ours.

    A rewind may have put back what somebody else had written: that is still not ours.
    """
    last = changes[-1]
    if last.by != "rewind" or last.left is None:
        return last.left
    return last.left if history.is_tracked(last.path, last.left) else FileState("other")


def _plan(
    message: str,
    changed: Mapping[str, tuple[list[Change], FileState | None]],
    store: BlobStore,
    roots: Sequence[Path],
) -> Plan:
    real_roots = tuple(os.path.realpath(root) for root in roots)

    def inside(path: str) -> bool:
        place = Path(path)
        relative = [place.relative_to(root) for root in real_roots if place.is_relative_to(root)]
        return any(".git" not in each.parts for each in relative)

    steps: list[Step] = []
    links: list[str] = []
    for path, (changes, left) in changed.items():
        now, then = state_of(path), _target(changes[0])
        if "link" in (now.kind, then.kind):
            if now.kind != then.kind:
                links.append(path)
        elif (step := _step(message, changes, now, then, left, store, inside)) is not None:
            steps.append(step)
    return Plan(message, tuple(sorted(steps, key=lambda step: step.path)), tuple(sorted(links)))


def _target(first: Change) -> FileState:
    """What the path held; a folder comes back with what lay in it."""
    return ABSENT if first.before.kind == "folder" else first.before


def _step(
    message: str,
    changes: list[Change],
    now: FileState,
    then: FileState,
    left: FileState | None,
    store: BlobStore,
    inside: Callable[[str], bool],
) -> Step | None:
    """What would happen to one path, None where nothing would."""
    first, last = changes[0], changes[-1]
    if now.kind in ("folder", "beneath") and then.kind == "absent":
        return None  # no file of ours is there any more
    if all(change.by == "rewind" for change in changes) and left and left.same(then):
        return None  # rewinds that took each other back
    if last.by == "tool" and now.same_bytes(last.before):
        left = now  # the tool's own change never came
    then, problem = _found(then, first.blob, store)
    if not problem and (now.same(then) or (now.same_bytes(then) and not _modes_moved(changes))):
        return None
    writers = _writers(changes, now, left)
    if now.kind == "other":
        problem = "blocked"
    elif now.kind in ("folder", "beneath"):
        problem = problem or now.kind
    problem = problem or _conflict(first, now, left, inside)
    folders = (folder for change in changes for folder in change.folders)
    return Step(
        path=first.path,
        now=now,
        then=then,
        blob=first.blob,
        writers=writers,
        command=next((c.what for c in reversed(changes) if c.by == "shell"), ""),
        problem=problem,
        folders=tuple(dict.fromkeys(folder for folder in folders if inside(folder))),
        shell_only="shell" in writers
        and not {"tool", "unknown"} & set(writers)
        and (first.by != "rewind" or first.message != message),
    )


def _conflict(
    first: Change, now: FileState, left: FileState | None, inside: Callable[[str], bool]
) -> Problem:
    if left is None:
        return "unknown"
    if not left.same_bytes(now):
        return "changed"
    return "outside" if first.by == "unknown" and not inside(first.path) else ""


def _found(then: FileState, blob: str | None, store: BlobStore) -> tuple[FileState, Problem]:
    """What the path would hold, with the digest of its bytes, once these have been looked at."""
    if then.kind == "other":
        return then, "unseen"
    if then.kind != "file":
        return then, ""
    try:
        digest, size = store.measure(blob or "")
    except BlobMissing:
        return then, "missing"
    if then.sha256 and then.sha256 != digest:
        return then, "missing"
    return FileState("file", digest, size, then.mode), ""


def _modes_moved(changes: list[Change]) -> bool:
    """Whether permission bits were changed on the way, and not by the person alone."""
    return any(
        change.left is not None
        and None not in (change.before.mode, change.left.mode)
        and change.before.mode != change.left.mode
        for change in changes
    )


def _writers(changes: list[Change], now: FileState, left: FileState | None) -> tuple[str, ...]:
    """Who changed a path, in order; `someone` where it was not as it had been left."""
    found: dict[str, None] = {}
    before: FileState | None = None
    for change in changes:
        if before is not None and change.before.sha256 and not before.same_bytes(change.before):
            found["someone"] = None
        found[change.by] = None
        before = change.left
    if left is not None and not left.same_bytes(now):
        found["someone"] = None
    return tuple(found)
