"""The `@path` imports of an instruction file: what counts as one, and where it leads."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from msgspec import Struct

from app.memory.markdown import without_code

MOST_ASKED: Final = 1_000
"""Imports that are followed up in one load, missing ones included."""
_IMPORT: Final = re.compile(r"(?<![^\s(\[{\"'])@((?:[^\s\\@`]|\\[ ])+)")
_AFTER: Final = ".,;:!?)]}>\"'*_"
_ENDING: Final = re.compile(r"[^/]\.[A-Za-z0-9]{1,8}$")


class Import(Struct, frozen=True):
    """A path that a file asks to load as well."""

    path: Path
    """Absolute; nothing is said about whether it exists."""
    looks_like_path: bool
    """Whether it has a `/` or a file ending: else it may be a decorator or a person's name."""


def imports(text: str, file: Path, home: Path) -> list[Import]:
    """What the text of `file` imports, in order, each once, little more than `MOST_ASKED`.

    An import is an `@` at the beginning of a word, and a path: from the file's folder, from `~/`,
    or absolute; `\\ ` stands for a space. In code there is none, and `me@example.org` is none.
    A full stop or bracket after it belongs to the sentence where no such file exists.
    """
    found: dict[Path, Import] = {}
    for written in dict.fromkeys(_IMPORT.findall(without_code(text))):
        if len(found) > MOST_ASKED:
            break
        words = written.replace("\\ ", " ")
        shorter = words.rstrip(_AFTER)
        path = _place(words, file, home)
        if shorter != words and not os.path.lexists(path):
            words, path = shorter, _place(shorter, file, home)
        if words.strip("/.~"):
            looks_like_path = "/" in words or _ENDING.search(words) is not None
            found.setdefault(path, Import(path, looks_like_path))
    return list(found.values())


def _place(words: str, file: Path, home: Path) -> Path:
    if words.startswith("~/"):
        return home / words[2:]
    return file.parent / words
