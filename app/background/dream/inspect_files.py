"""The files of an inspect command, held open so that the program gets exactly what was checked.

A program is given `/proc/self/fd/N` in the place of a path: there is no moment between the check
and the use in which a name could be turned elsewhere. In what it prints the path stands again.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from app.agent.tools.arguments import clean
from app.background.dream.inspect_rules import Call
from app.background.dream.roots import STAND_IN, Roots, is_closed, open_there, readable
from app.paths import open_resolved

MOST_ENTRIES: Final = 50_000
"""Entries of folders that one recursive search looks at."""
_MOST_LEVELS: Final = 64
BATCH: Final = 200
"""Files that one run of a program gets."""
_PATTERNS: Final = frozenset({"-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex"})
_LABELS: Final = {
    "cat": rb"(?!)",
    "head": rb"(?m)^(==> )%s(?= <==$)",
    "tail": rb"(?m)^(==> )%s(?= <==$)",
    "wc": rb"(?m)( )%s$",
    "grep": rb"(?m)^(grep: |Binary file |)%s",
}
"""Where a program prints the names of its files; elsewhere the same text is a file's own."""
_ANYWHERE: Final = rb"()%s"
_STAND_IN: Final = rb"/proc/self/fd/(\d+)(?:/\.)?"


@dataclass(slots=True)
class Opened:
    """Files held open, by descriptor with what the model called them."""

    names: dict[int, str] = field(default_factory=dict[int, str])
    words: list[str] = field(default_factory=list[str])
    """What the program gets in their place."""

    def add(self, descriptor: int, name: str) -> None:
        """Take over a descriptor."""
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        self.names[descriptor] = (name.rstrip("/") or "/") if is_folder else name
        self.words.append(f"/proc/self/fd/{descriptor}{'/.' if is_folder else ''}")

    def close(self) -> None:
        """Close all; closing twice is harmless."""
        while self.names:
            os.close(self.names.popitem()[0])

    def named(self, output: bytes, program: str, *, errors: bool = False) -> bytes:
        """The output with the files' own names in it."""
        form = _ANYWHERE if errors else _LABELS.get(program, _ANYWHERE)
        return re.sub(form.replace(b"%s", _STAND_IN), self._name, output)

    def _name(self, found: re.Match[bytes]) -> bytes:
        name = self.names.get(int(found[2]))
        return found[0] if name is None else found[1] + os.fsencode(clean(name))


def open_operands(call: Call, roots: Roots) -> Opened:
    """All paths of a command that goes through no folder itself. Raises `NotAllowed`."""
    opened = Opened()
    try:
        for text in call.operands:
            folder = None if call.takes_folders else False
            opened.add(open_there(readable(text, roots), text, folder=folder), text)
    except BaseException:  # whatever it is, no descriptor may stay open; raised again below
        opened.close()
        raise
    return opened


def expression_for(call: Call, opened: Opened) -> list[str]:
    """`find`'s expression, with patterns of whole paths turned to what it now sees."""
    found: list[str] = []
    before = ""
    for word in call.expression:
        found.append(_seen_by_find(word, opened) if before in _PATTERNS else word)
        before = word if before not in _PATTERNS else ""
    return found


def _seen_by_find(pattern: str, opened: Opened) -> str:
    for name, word in zip(opened.names.values(), opened.words, strict=True):
        if pattern == name or pattern.startswith(f"{name}/"):
            return word + pattern[len(name) :]
    return pattern


class Walk:
    """The plain files below the operands of a recursive search, through no link.

    Left out: `.git`, what may hold secrets, what a rule closes, and what the command excludes.
    """

    def __init__(self, call: Call, roots: Roots) -> None:
        self._call = call
        self._roots = roots
        self.left = MOST_ENTRIES
        self.closed = 0
        """Files and folders left out because of secrets or rules."""
        self._found = self._all()

    def batch(self) -> Opened:
        """The next files, opened; none at the end. Blocking. Raises `NotAllowed`."""
        opened = Opened()
        try:
            for descriptor, name in self._found:
                opened.add(descriptor, name)
                if len(opened.words) == BATCH:
                    break
        except BaseException:  # whatever it is, no descriptor may stay open; raised again below
            opened.close()
            raise
        return opened

    def _all(self) -> Iterator[tuple[int, str]]:
        for text in self._call.operands:
            path = readable(text, self._roots)
            descriptor = open_there(path, text)
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                yield descriptor, text
            else:
                os.close(descriptor)
                yield from self._below(path, text)

    def _below(self, top: Path, text: str) -> Iterator[tuple[int, str]]:
        waiting = [""]
        while waiting and self.left > 0:
            inner = waiting.pop()
            try:
                folder = open_resolved(top / inner, os.O_RDONLY | os.O_DIRECTORY)
            except OSError:
                continue
            try:
                names = self._names(folder)
                folders: list[str] = []
                for name in names:
                    within = f"{inner}/{name}" if inner else name
                    if self._leads_on(folder, name, top / within, within):
                        folders.append(within)
                    elif (found := self._file(folder, name, top / within)) is not None:
                        yield found, f"{text.rstrip('/') or '/'}/{within}"
                waiting += reversed(folders)
            finally:
                os.close(folder)

    def _names(self, folder: int) -> Sequence[str]:
        names: list[str] = []
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                self.left -= 1
                if self.left <= 0:
                    break
                if not entry.is_symlink():
                    names.append(entry.name)
        return sorted(names)

    def _leads_on(self, folder: int, name: str, path: Path, within: str) -> bool:
        if not stat.S_ISDIR(_mode(folder, name)) or name == ".git":
            return False
        if any(fnmatch.fnmatchcase(name, each) for each in self._call.exclude_dir):
            return False
        if is_closed(path, self._roots):
            self.closed += 1
            return False
        return within.count("/") < _MOST_LEVELS

    def _file(self, folder: int, name: str, path: Path) -> int | None:
        if not stat.S_ISREG(_mode(folder, name)) or not self._is_wanted(name):
            return None
        if is_closed(path, self._roots):
            self.closed += 1
            return None
        flags = STAND_IN | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            descriptor = os.open(name, flags, dir_fd=folder)
        except OSError:
            return None
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return descriptor
        os.close(descriptor)
        return None

    def _is_wanted(self, name: str) -> bool:
        call = self._call
        if any(fnmatch.fnmatchcase(name, each) for each in call.exclude):
            return False
        return not call.include or any(fnmatch.fnmatchcase(name, each) for each in call.include)


def _mode(folder: int, name: str) -> int:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        return 0
