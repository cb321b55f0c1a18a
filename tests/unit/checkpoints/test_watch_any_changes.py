"""Any operations during a command, against what a plain walk sees before and after it."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from pathlib import Path
from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from app.checkpoints.states import FileState
from tests.unit.checkpoints.watched import Project, project

NAMES = ("a", "b", "d/a", "d/b", "d/e/a", "d/e/b", "f/a")
Thing: TypeAlias = tuple[str, bytes, int]
"""Kind, bytes and permission bits of what is at a path."""

names = st.sampled_from(NAMES)
writes = st.tuples(st.just("write"), names, st.sampled_from([b"", b"1", b"2", b"\xff\n"]))
operations = st.one_of(
    writes,
    st.tuples(st.just("append"), names, st.just(b"+")),
    st.tuples(st.just("replace"), names, st.sampled_from([b"1", b"2"])),
    st.tuples(st.just("remove"), names, st.none()),
    st.tuples(st.just("rename"), names, names),
    st.tuples(st.just("rename folder"), st.sampled_from(["d", "d/e", "f"]), st.just("g")),
    st.tuples(st.just("mode"), names, st.sampled_from([0o600, 0o755])),
    st.tuples(st.just("link"), names, names),
    st.tuples(st.just("hard link"), names, names),
    st.tuples(st.just("pipe"), names, st.none()),
)


def clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def free(root: Path, name: str) -> Path:
    """The path, with nothing there and folders on the way."""
    path = root / name
    for folder in reversed(path.parents):
        if root in folder.parents and (folder.is_symlink() or not folder.is_dir()):
            folder.unlink(missing_ok=True)
            folder.mkdir()
    clear(path)
    return path


def is_file(path: Path) -> bool:
    return kind(path) == "file"


def kind(path: Path) -> str:
    for folder in reversed(path.parents):
        if folder.is_symlink():
            return "link"
        if folder.is_file():
            return "beneath"
    try:
        mode = path.lstat().st_mode
    except OSError:
        return "absent" if not any(p.exists() and not p.is_dir() for p in path.parents) else "other"
    if stat.S_ISREG(mode):
        return "file"
    return "link" if stat.S_ISLNK(mode) else "folder" if stat.S_ISDIR(mode) else "other"


def carry_out(root: Path, what: str, name: str, with_what: object) -> None:
    path = root / name
    match what, with_what:
        case "write", bytes(data):
            (path if is_file(path) else free(root, name)).write_bytes(data)
        case "append", bytes(data) if is_file(path):
            with path.open("ab") as file:
                file.write(data)
        case "replace", bytes(data) if is_file(path):
            beside = path.with_name("beside")
            beside.write_bytes(data)
            beside.replace(path)
        case "remove", None:
            if kind(path) not in {"link", "beneath"} or path.is_symlink():
                clear(path)
        case "rename", str(other) if is_file(path) and other != name:
            path.rename(free(root, other))
        case "rename folder", str(other) if kind(path) == "folder":
            path.rename(free(root, other))
        case "mode", int(mode) if is_file(path):
            path.chmod(mode)
        case "link", str(other) if is_file(path):
            free(root, name).symlink_to(root / other)
        case "hard link", str(other) if is_file(path) and other != name:
            os.link(path, free(root, other))
        case "pipe", None if is_file(path):
            os.mkfifo(free(root, name))
        case _:
            pass


def walk(root: Path) -> dict[str, Thing]:
    """All that is in the project, links not followed."""
    found: dict[str, Thing] = {}
    for folder, folders, files in os.walk(root):
        for each in folders + files:
            path = Path(folder, each)
            name = str(path.relative_to(root))
            if name != ".git":
                data = path.read_bytes() if is_file(path) else b""
                found[name] = (kind(path), data, stat.S_IMODE(path.lstat().st_mode))
    return found


def files(things: dict[str, Thing]) -> dict[str, Thing]:
    return {name: thing for name, thing in things.items() if thing[0] == "file"}


def holds(here: Project, state: FileState, thing: Thing) -> bool:
    """Whether a state, and what the store has for it, is what was seen."""
    if state.kind != "file":
        return state.kind == thing[0]
    return ("file", here.store.read(state.sha256), state.mode) == thing


@settings(max_examples=50, deadline=None)
@given(
    st.lists(writes, max_size=6),
    st.lists(st.lists(operations, max_size=6), min_size=1, max_size=4),
    st.booleans(),
)
def test_each_change_is_told_once_with_the_right_bytes(first, commands, settled: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        here = project(Path(os.path.realpath(folder)))
        if not settled:
            here.watch._now = here.watch._baseline._now = time.time_ns
        for operation in first:
            carry_out(here.root, *operation)
        for command in commands:
            here.start()
            before = walk(here.root)
            for operation in command:
                carry_out(here.root, *operation)
            after = walk(here.root)
            told = here.changes()
            concerned = files(before).keys() | files(after).keys()
            # A link that took a file's place is watched until it is gone.
            links = {n for n in told if n not in concerned and before[n][0] == "link"}
            changed = {n for n in concerned | links if before.get(n) != after.get(n)}
            assert set(told) == changed
            for name, change in told.items():
                now = after.get(name, (kind(here.root / name), b"", 0))
                was = before.get(name, ("absent", b"", 0))
                assert holds(here, change.left, now)
                # A link or pipe that took no file's place is not known.
                unknown = was[0] in {"link", "other"} and change.before.kind == "absent"
                assert unknown or holds(here, change.before, was)
            assert here.watch.gap == ""
