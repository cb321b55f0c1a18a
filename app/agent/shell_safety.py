"""Whether a shell command only reads what may be read: then it runs without a question."""

from __future__ import annotations

import glob
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.agent.path_policy import (
    TooManyFiles,
    Visits,
    expanded,
    read_trouble,
    resolved,
    tree_trouble,
)
from app.agent.policy import Policy
from app.agent.shell_parse import Redirect, Script, ShellCommand
from app.agent.shell_readers import FIND_ALONE, FIND_PATH, FIND_TEXT, READERS, Reader
from app.agent.shell_reasons import effect_of
from app.agent.shell_words import Word

MOST_FOLDERS = 8
"""Working folders that are followed up; a script that may run in more is not allowed by itself."""


_HOME = Word("~", home=True)
"""Where `cd` goes when it is not told."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a command is not plainly read-only; `path` where only what it reads is in question."""

    reason: str
    path: bool = False


@dataclass(frozen=True, slots=True)
class Ground:
    """Where a script may run, by which policy, and how much of the disk may be looked at for it."""

    policy: Policy
    folders: tuple[Path, ...]
    visits: Visits = field(default_factory=Visits)

    @property
    def too_wide(self) -> bool:
        """There are more folders than are followed up."""
        return len(self.folders) > MOST_FOLDERS

    def names(self, word: Word, folder: Path) -> list[str]:
        """The paths that a word stands for. Raises `TooManyFiles`."""
        self.visits.spend()
        if word.pattern is None:
            return [word.text]
        home = glob.escape(str(self.policy.home))
        pattern = f"{home}{word.pattern[1:]}" if word.home else word.pattern
        # Without a match bash passes the pattern itself on.
        return [*expanded(pattern, folder, self.visits), word.text]


def ground_of(script: Script, policy: Policy) -> Ground:
    """The folders a command of the script may run in, whichever `cd` was reached."""
    visits = Visits()
    ground = Ground(policy, (policy.shell_folder,), visits)
    for command in script.commands:
        plain = [word for word in command.words if word.text not in {"command", "builtin"}]
        aims = [word for word in plain[1:] if not word.text.startswith("-")] or [_HOME]
        if not plain or plain[0].text not in {"cd", "pushd"} or aims[0].computed:
            continue
        folders = list(ground.folders)
        for folder in ground.folders:
            try:
                for name in ground.names(aims[0], folder):
                    folders += resolved(name, folder, policy.home)
            except ValueError:
                continue
            except TooManyFiles:
                # More than are followed up: which ones does not matter any more.
                folders += [folder / str(number) for number in range(MOST_FOLDERS + 1)]
        ground = Ground(policy, tuple(dict.fromkeys(folders))[: MOST_FOLDERS + 1], visits)
        if ground.too_wide:
            break
    return ground


def script_trouble(script: Script, ground: Ground) -> Trouble | None:
    """The first reason why `script` may not run by itself; None where all of it only reads."""
    if script.trouble is not None:
        return Trouble(script.trouble)
    for command in script.commands:
        trouble = command_trouble(command, ground)
        if trouble is not None:
            return trouble
    return redirects_trouble(script, ground)


def command_trouble(command: ShellCommand, ground: Ground) -> Trouble | None:
    """Why this command is not plainly read-only."""
    if ground.too_wide:
        return Trouble("it changes folders too often to check", path=True)
    name = command.name
    if command.assigns or command.substitutes or name is None:
        return Trouble("part of it is known only when it runs")
    for folder in ground.folders:
        where = read_trouble(".", folder, ground.policy)
        if where is not None:
            return Trouble(f"it runs in {folder}: {where}", path=True)
    words = command.words[1:]
    if name == "cd":
        return _cd_trouble(words, ground)
    if name == "find":
        return _find_trouble(words, ground)
    reader = READERS.get(name)
    if reader is None:
        return Trouble(effect_of(command))
    return _reader_trouble(name, reader, words, ground)


def redirects_trouble(script: Script, ground: Ground) -> Trouble | None:
    """Why a redirect of the script needs a question: it writes, or reads what may not be read."""
    for redirect in script.redirects:
        trouble = _redirect_trouble(redirect, ground)
        if trouble is not None:
            return trouble
    return None


def _redirect_trouble(redirect: Redirect, ground: Ground) -> Trouble | None:
    target = redirect.target
    if target is None:
        closes = redirect.operator in {">&-", "<&-"}
        return None if closes else Trouble("it redirects in a way that cannot be checked")
    if target.computed or target.pattern is not None:
        return Trouble("where it redirects to is known only when it runs")
    if redirect.operator in {">&", "<&"} and (target.text.isdecimal() or target.text == "-"):
        return None
    if redirect.operator == "<":
        return _path_trouble([target], ground)
    if target.text == "/dev/null" and redirect.operator != "<&":
        return None
    return Trouble(f"it writes to `{target.text}` by a redirect")


def _cd_trouble(words: Sequence[Word], ground: Ground) -> Trouble | None:
    if len(words) != 1 or words[0].text.startswith("-"):
        return Trouble("where `cd` leads is not said", path=True)
    if words[0].computed or words[0].pattern is not None:
        return Trouble("where `cd` leads is known only when it runs", path=True)
    return _path_trouble(words, ground)


def _reader_trouble(
    name: str, reader: Reader, words: Sequence[Word], ground: Ground
) -> Trouble | None:
    parsed = _Options(reader)
    for word in words:
        if word.computed:
            return Trouble(f"`{word.text}` is known only when it runs")
        if not parsed.take(word):
            return Trouble(f"`{name} {word.text}` may do more than read")
    operands = parsed.operands
    patterns = [word for word in words if word.pattern is not None]
    if reader.operands == "none" and operands:
        return Trouble(f"`{name}` with `{operands[0].text}` may do more than read")
    if reader.operands in {"text", "none"}:
        return _path_trouble(patterns, ground)
    first_is_text = reader.operands == "pattern" and not parsed.has(reader.gives_pattern)
    paths = [*(operands[1:] if first_is_text else operands), *patterns]
    most = 1 if any(word.pattern for word in paths) else len(paths)
    if most > reader.most or (reader.most < 3 and patterns):
        return Trouble(f"`{name}` may write to one of its operands")
    recursive = parsed.has(reader.recursive)
    if recursive and not paths:
        paths = [Word(".")]
    links = reader.reads_folders
    return _path_trouble(paths, ground, tree=recursive or links, links=links)


class _Options:
    """Tells a command's options from its operands, as the command itself would."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._long = frozenset(reader.long.split())
        self._used: set[str] = set()
        self._value_next = False
        self._operands_only = False
        self.operands: list[Word] = []

    def take(self, word: Word) -> bool:
        """Whether the word is an operand or a known option."""
        if self._value_next:
            self._value_next = False
            return True
        text = word.text
        if self._operands_only or text == "-" or not text.startswith("-"):
            # A single "-" is the input, which is no file.
            if text != "-" or self._operands_only:
                self.operands.append(word)
            return True
        if text == "--":
            self._operands_only = True
            return True
        if text.startswith("--"):
            name = text[2:].split("=", 1)[0]
            self._used.add(name)
            return name in self._long
        return self._take_short(text)

    def _take_short(self, text: str) -> bool:
        if self._reader.operands == "text" and not self._reader.valued:
            # echo and its like print what they do not know.
            return True
        for place, letter in enumerate(text[1:], start=1):
            self._used.add(letter)
            if letter in self._reader.valued:
                self._value_next = place == len(text) - 1
                return True
            if letter not in self._reader.flags:
                return False
        return True

    def has(self, names: str) -> bool:
        """Whether one of the space separated options was given."""
        return not self._used.isdisjoint(names.split())


def _find_trouble(words: Sequence[Word], ground: Ground) -> Trouble | None:
    for word in words:
        if word.computed or word.pattern is not None:
            return Trouble(f"what `find` does with `{word.text}` is known only when it runs")
    count = len(words)
    start = next((n for n in range(count) if words[n].text.startswith(("-", "(", "!", ","))), count)
    paths = list(words[:start]) or [Word(".")]
    place = start
    while place < count:
        text = words[place].text
        place += 1
        if text in FIND_ALONE:
            continue
        if text in FIND_TEXT | FIND_PATH and place < count:
            paths += [words[place]] if text in FIND_PATH else []
            place += 1
            continue
        return Trouble(f"`find` with `{text}` may run, change or delete something")
    return _path_trouble(paths, ground)


def _path_trouble(
    words: Sequence[Word], ground: Ground, *, tree: bool = False, links: bool = False
) -> Trouble | None:
    for word, folder in itertools.product(words, ground.folders):
        try:
            names = ground.names(word, folder)
            if word.pattern is not None and any(name.startswith("-") for name in names):
                return Trouble(f"`{word.text}` stands for a file that reads as an option")
            for name in names:
                reason = _name_trouble(name, folder, ground, tree=tree, links=links)
                if reason is not None:
                    return Trouble(reason, path=True)
        except TooManyFiles:
            return Trouble(f"`{word.text}` stands for too many files to check", path=True)
    return None


def _name_trouble(
    name: str, folder: Path, ground: Ground, *, tree: bool, links: bool
) -> str | None:
    ground.visits.spend()
    if tree:
        return tree_trouble(name, folder, ground.policy, ground.visits, links=links)
    return read_trouble(name, folder, ground.policy)
