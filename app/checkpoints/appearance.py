"""What was, before a command, at a path that is listed only since it.

Usually nothing. But a file that was there and ignored is listed as soon as the rules change, and
to call it the command's own would offer to delete it; so what cannot be told is not claimed.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping

from msgspec import Struct

from app.checkpoints.baseline import GRANULE, Stamp
from app.checkpoints.states import ABSENT, FileState

RULES = frozenset({b".gitignore", b".ignore", b".rgignore"})
"""Names of files that say what is ignored."""

FOLDER = FileState("folder")
UNKNOWN = FileState("other")


class Setting(Struct, frozen=True):
    """What is known around the new names."""

    prefix: bytes
    """The root's path, with its `/`."""
    known: Collection[bytes]
    """All names from before."""
    gone: Collection[int]
    """Inodes of known files that are at their path no more."""
    began: int
    """When the command began, in ns."""
    rules_changed: bool
    """Whether there is a sign that files which were ignored are not ignored any more."""


def states_before(stamps: Mapping[bytes, Stamp], setting: Setting) -> dict[bytes, FileState]:
    """Of new names with their stamps; without those that were there and are what they were.

    Kind "absent": the command made it. "folder": it is where a folder was. "other": not known.

    A file whose ctime is older than the command was moved here with its folder, or was here. Some
    such file that was here means that the rules have changed, and then a younger one may have been
    here as well, and been written over. What does not show: rules that changed outside of the
    project, where every file of theirs was written over too.
    """
    folders = _folders(setting.known)
    recent = setting.began - GRANULE
    found = {name: FOLDER for name in stamps if name in folders}
    young = [name for name in stamps if name not in folders and stamps[name][2] >= recent]
    rules_changed = setting.rules_changed
    ages: dict[bytes, bool] = {}
    for name in stamps.keys() - found.keys() - set(young):
        if stamps[name][3] in setting.gone:
            found[name] = ABSENT
            continue
        rules_changed = True
        if any(_is_recent(setting.prefix + each, recent, ages) for each in _above(name)):
            found[name] = UNKNOWN
    return found | dict.fromkeys(young, UNKNOWN if rules_changed else ABSENT)


def _is_recent(folder: bytes, recent: int, ages: dict[bytes, bool]) -> bool:
    """Whether the folder was moved, or something in it made or removed."""
    if folder not in ages:
        try:
            ages[folder] = os.lstat(folder).st_ctime_ns >= recent
        except OSError:
            ages[folder] = True
    return ages[folder]


def _folders(names: Iterable[bytes]) -> set[bytes]:
    """All folders on the way to these names."""
    folders: set[bytes] = set()
    for name in names:
        for folder in _above(name):
            if folder in folders:
                break
            folders.add(folder)
    return folders


def _above(name: bytes) -> Iterator[bytes]:
    """The folders of a relative name, the nearest first, without the root."""
    while name := name.rpartition(b"/")[0]:
        yield name
