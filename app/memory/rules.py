"""The rules of a person or a project: Markdown files in a `rules` folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

_MOST_LEVELS: Final = 8
_MOST_ENTRIES: Final = 1_000
"""Entries of one rules folder that are looked at."""


def rule_files(folder: Path, watch: Callable[[Path], None], *, is_deep: bool = True) -> list[Path]:
    """The `.md` files of a rules folder, ordered by path, with `is_deep` also those further down.

    `watch` is called with every folder before it is listed. Links to folders are not followed
    below `folder`; one that cannot be listed holds nothing.
    """
    found: list[Path] = []
    waiting = [(folder, 1)]
    looked = 0
    while waiting and looked < _MOST_ENTRIES:
        each, level = waiting.pop()
        watch(each)
        try:
            with os.scandir(each) as listed:
                for entry in listed:
                    looked += 1
                    if looked > _MOST_ENTRIES:
                        break
                    if entry.name.endswith(".md"):
                        found.append(each / entry.name)
                    elif is_deep and level < _MOST_LEVELS and entry.is_dir(follow_symlinks=False):
                        waiting.append((each / entry.name, level + 1))
        except OSError:
            continue
    return sorted(found)
