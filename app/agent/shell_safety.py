"""Whether a shell command only reads what may be read: then it runs without a question."""

from __future__ import annotations

import glob
import itertools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.agent.path_policy import read_trouble, resolved, tree_trouble
from app.agent.policy import Policy
from app.agent.shell_parse import Redirect, Script, ShellCommand
from app.agent.shell_readers import FIND_ALONE, FIND_PATH, FIND_TEXT, READERS, Reader
from app.agent.shell_reasons import effect_of
from app.agent.shell_words import Word

MOST_MATCHES = 1000
"""File names a pattern may stand for; of a wider one the answer is not known."""
MOST_FOLDERS = 8


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a command is not plainly read-only; `path` where only what it reads is in question."""

    reason: str
    path: bool = False


def script_trouble(script: Script, policy: Policy) -> Trouble | None:
    """The first reason why `script` may not run by itself; None where all of it only reads."""
    if script.trouble is not None:
        return Trouble(script.trouble)
    folders = possible_folders(script, policy)
    for command in script.commands:
        trouble = command_trouble(command, folders, policy)
        if trouble is not None:
            return trouble
    return redirects_trouble(script, folders, policy)


def possible_folders(script: Script, policy: Policy) -> tuple[Path, ...]:
    """Every folder a command of the script may run in, whichever `cd` was reached.

    More than `MOST_FOLDERS` of them are not followed up; then nothing is allowed by itself.
    """
    folders = [policy.shell_folder]
    for command in script.commands:
        words = command.words
        if command.name != "cd" or len(words) != 2 or words[1].computed or words[1].pattern:
            continue
        for folder in list(folders):
            try:
                folders += resolved(words[1].text, folder, policy.home)
            except ValueError:
                continue
        folders = list(dict.fromkeys(folders))
        if len(folders) > MOST_FOLDERS:
            break
    return tuple(folders)


def command_trouble(
    command: ShellCommand, folders: Sequence[Path], policy: Policy
) -> Trouble | None:
    """Why this command is not plainly read-only."""
    if len(folders) > MOST_FOLDERS:
        return Trouble("it changes folders too often to check", path=True)
    name = command.name
    if command.assigns or command.substitutes or name is None:
        return Trouble("part of it is known only when it runs")
    for folder in folders:
        where = read_trouble(".", folder, policy)
        if where is not None:
            return Trouble(f"it runs in {folder}: {where}", path=True)
    words = command.words[1:]
    if name == "cd":
        return _cd_trouble(words, folders, policy)
    if name == "find":
        return _find_trouble(words, folders, policy)
    reader = READERS.get(name)
    if reader is None:
        return Trouble(effect_of(command))
    return _reader_trouble(name, reader, words, folders, policy)


def redirects_trouble(script: Script, folders: Sequence[Path], policy: Policy) -> Trouble | None:
    """Why a redirect of the script needs a question: it writes, or reads what may not be read."""
    for redirect in script.redirects:
        trouble = _redirect_trouble(redirect, folders, policy)
        if trouble is not None:
            return trouble
    return None


def _redirect_trouble(
    redirect: Redirect, folders: Sequence[Path], policy: Policy
) -> Trouble | None:
    target = redirect.target
    if target is None:
        closes = redirect.operator in {">&-", "<&-"}
        return None if closes else Trouble("it redirects in a way that cannot be checked")
    if target.computed or target.pattern is not None:
        return Trouble("where it redirects to is known only when it runs")
    if redirect.operator in {">&", "<&"} and (target.text.isdecimal() or target.text == "-"):
        return None
    if redirect.operator == "<":
        return _path_trouble([target], folders, policy, tree=False)
    if target.text == "/dev/null" and redirect.operator != "<&":
        return None
    return Trouble(f"it writes to `{target.text}` by a redirect")


def _cd_trouble(words: Sequence[Word], folders: Sequence[Path], policy: Policy) -> Trouble | None:
    if len(words) != 1 or words[0].text.startswith("-"):
        return Trouble("where `cd` leads is not said", path=True)
    return _path_trouble(words, folders, policy, tree=False)


def _reader_trouble(
    name: str, reader: Reader, words: Sequence[Word], folders: Sequence[Path], policy: Policy
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
        return _path_trouble(patterns, folders, policy, tree=False)
    first_is_text = reader.operands == "pattern" and not parsed.has(reader.gives_pattern)
    paths = [*(operands[1:] if first_is_text else operands), *patterns]
    most = 1 if any(word.pattern for word in paths) else len(paths)
    if most > reader.most or (reader.most < 3 and patterns):
        return Trouble(f"`{name}` may write to one of its operands")
    recursive = parsed.has(reader.recursive)
    if recursive and not paths:
        paths = [Word(".")]
    return _path_trouble(paths, folders, policy, tree=recursive or reader.reads_folders)


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


def _find_trouble(words: Sequence[Word], folders: Sequence[Path], policy: Policy) -> Trouble | None:
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
    return _path_trouble(paths, folders, policy, tree=False)


def _path_trouble(
    words: Sequence[Word], folders: Sequence[Path], policy: Policy, *, tree: bool
) -> Trouble | None:
    check = tree_trouble if tree else read_trouble
    for word, folder in itertools.product(words, folders):
        names = _names(word, folder, policy)
        if names is None:
            return Trouble(f"`{word.text}` stands for too many files to check", path=True)
        if word.pattern is not None and any(name.startswith("-") for name in names):
            return Trouble(f"`{word.text}` stands for a file that reads as an option")
        for name in names:
            reason = check(name, folder, policy)
            if reason is not None:
                return Trouble(reason, path=True)
    return None


def _names(word: Word, folder: Path, policy: Policy) -> list[str] | None:
    """The paths that a word stands for; None where there are too many."""
    if word.pattern is None:
        return [word.text]
    pattern = f"{glob.escape(str(policy.home))}{word.pattern[1:]}" if word.home else word.pattern
    # Path.glob knows neither hidden names nor "../*".
    found = glob.iglob(pattern, root_dir=os.fspath(folder), include_hidden=True)  # noqa: PTH207
    names = list(itertools.islice(found, MOST_MATCHES + 1))
    # Without a match bash passes the pattern itself on.
    return None if len(names) > MOST_MATCHES else [*names, word.text]
