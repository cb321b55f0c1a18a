"""The eight commands of `inspect` and the flags that each may be given (spec/dream.md).

What is not in the tables is refused: whatever writes, runs, waits, follows links, or takes a path
or a list of paths in a flag. Long flags are written out, since an abbreviation may mean another
flag in another version of the program.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from app.agent.shell_readers import FIND_ALONE, FIND_TEXT
from app.background.dream.inspect_words import words_of
from app.background.dream.roots import NotAllowed, Roots, quoted, readable

MOST_OPERANDS: Final = 100
_ANY: Final = re.compile(r".*", re.DOTALL)
_COUNT: Final = re.compile(r"\d{1,9}")
_AMOUNT: Final = re.compile(r"[+-]?\d{1,9}([kKM]B?)?")
_WORD: Final = re.compile(r"[a-z+%:.,\w -]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Rules:
    flags: str = ""
    """Short flags without a value."""
    valued: Mapping[str, re.Pattern[str]] = field(default_factory=dict[str, re.Pattern[str]])
    """Flags with a value, short ones as one letter, and what the value must be."""
    long: frozenset[str] = frozenset()
    number: str = ""
    """The flag that `-5` stands for; empty where there is no such form."""
    folders: bool = False
    """Operands may be folders."""


def _long(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ENDS = _Rules(
    flags="qv",
    valued={"n": _AMOUNT, "c": _AMOUNT, "lines": _AMOUNT, "bytes": _AMOUNT},
    long=_long("quiet silent verbose"),
    number="n",
)
RULES: Final[Mapping[str, _Rules]] = {
    "ls": _Rules(
        flags="aAbBcCdfFgGhiklmnopqQrRsStuUvxX1",
        valued={
            **dict.fromkeys(["I", "ignore", "hide"], _ANY),
            **dict.fromkeys(["w", "T", "width"], _COUNT),
            **dict.fromkeys(["sort", "time", "time-style", "format", "indicator-style"], _WORD),
        },
        long=_long(
            "all almost-all author directory full-time group-directories-first human-readable si "
            "inode literal no-group numeric-uid-gid quote-name reverse recursive size classify"
        ),
        folders=True,
    ),
    "find": _Rules(folders=True),
    "grep": _Rules(
        flags="EFGPincvlLoqswxhHIabrT",
        valued={
            **dict.fromkeys("ABCm", _COUNT),
            **dict.fromkeys(["after-context", "before-context", "context", "max-count"], _COUNT),
            **dict.fromkeys(["e", "regexp", "include", "exclude", "exclude-dir"], _ANY),
            **dict.fromkeys(["color", "colour"], re.compile("never")),
        },
        long=_long(
            "count ignore-case invert-match line-number files-with-matches files-without-match "
            "only-matching quiet silent no-messages word-regexp line-regexp with-filename "
            "no-filename text extended-regexp fixed-strings basic-regexp perl-regexp recursive "
            "byte-offset initial-tab"
        ),
        number="C",
    ),
    "cat": _Rules(
        flags="AbeEnstTuv",
        long=_long(
            "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting"
        ),
    ),
    "stat": _Rules(
        flags="Lt",
        valued=dict.fromkeys(["c", "format", "printf"], _ANY),
        long=_long("dereference terse"),
        folders=True,
    ),
    "wc": _Rules(flags="clLmw", long=_long("bytes chars lines max-line-length words")),
    "head": _ENDS,
    "tail": _ENDS,
}
_FIND_ALONE: Final = FIND_ALONE - _long("-print0 -readable -writable -executable")
_FIND_TEXT: Final = FIND_TEXT - _long("-xtype")
_FIND_STARTS: Final = frozenset({"!", "(", ")", ","})


@dataclass(slots=True)
class Call:
    """A command that may run."""

    name: str
    options: list[str] = field(default_factory=list[str])
    operands: list[str] = field(default_factory=list[str])
    expression: list[str] = field(default_factory=list[str])
    """What `find` looks for."""
    recursive: bool = False
    """`grep` goes through folders."""
    include: list[str] = field(default_factory=list[str])
    exclude: list[str] = field(default_factory=list[str])
    exclude_dir: list[str] = field(default_factory=list[str])

    @property
    def takes_folders(self) -> bool:
        """Operands may be folders."""
        return self.recursive or RULES[self.name].folders


def inspect_verdict(command: str, roots: Roots) -> str:
    """Why `inspect` would not run this command; empty where it would. Nothing is run."""
    try:
        call = parsed_call(command)
        for operand in call.operands:
            if readable(operand, roots).is_dir() and not call.takes_folders:
                return f"{quoted(operand)} is a folder, not a file."
    except NotAllowed as refused:
        return str(refused)
    return ""


def parsed_call(command: str) -> Call:
    """The command with its flags checked; its paths are not. Raises `NotAllowed`."""
    words = words_of(command)
    if not words or words[0] not in RULES:
        raise NotAllowed(f"Only {', '.join(RULES)} can be run, each by its bare name.")
    call = Call(words[0])
    if call.name == "find":
        _read_find(call, words[1:])
    else:
        _read_words(call, words[1:])
    if call.name == "grep":
        _settle_pattern(call)
    if not call.operands and call.takes_folders and call.name != "stat":
        call.operands.append(".")
    if not call.operands:
        raise NotAllowed(f"`{call.name}` needs the path of a file; there is no standard input.")
    if len(call.operands) > MOST_OPERANDS:
        raise NotAllowed(f"Give at most {MOST_OPERANDS} paths.")
    if "-" in call.operands:
        raise NotAllowed("There is no standard input; name a file.")
    return call


def _read_words(call: Call, words: list[str]) -> None:
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            call.operands += rest
            return
        if word.startswith("--"):
            _long_flag(call, word, rest)
        elif not word.startswith("-") or word == "-":
            call.operands.append(word)
        elif word[1:].isdigit() and word.isascii() and RULES[call.name].number:
            _keep(call, RULES[call.name].number, _valid(call, word, word[1:]))
        else:
            _short_flags(call, word, rest)


def _long_flag(call: Call, word: str, rest: list[str]) -> None:
    rules = RULES[call.name]
    name, has_value, value = word[2:].partition("=")
    if name in rules.long and not has_value:
        _keep(call, name, None)
    elif name in rules.valued and len(name) > 1:
        _keep(call, name, _valid(call, name, value if has_value else _next(word, rest)))
    else:
        raise _not_allowed(call, word)


def _short_flags(call: Call, word: str, rest: list[str]) -> None:
    rules = RULES[call.name]
    for place, letter in enumerate(word[1:], start=1):
        if letter in rules.flags:
            _keep(call, letter, None)
        elif letter in rules.valued:
            value = word[place + 1 :] or _next(word, rest)
            _keep(call, letter, _valid(call, letter, value))
            return
        else:
            raise _not_allowed(call, word)


def _next(word: str, rest: list[str]) -> str:
    if not rest:
        raise NotAllowed(f"{quoted(word)} needs a value.")
    return rest.pop(0)


def _valid(call: Call, name: str, value: str) -> str:
    form = RULES[call.name].valued.get(name, _COUNT)
    if not form.fullmatch(value):
        raise NotAllowed(f"{quoted(value)} is no value for this flag of `{call.name}`.")
    return value


def _keep(call: Call, name: str, value: str | None) -> None:
    if call.name == "grep" and name in {"r", "recursive"}:
        call.recursive = True
    elif call.name == "grep" and name == "include":
        call.include.append(value or "")
    elif call.name == "grep" and name == "exclude":
        call.exclude.append(value or "")
    elif call.name == "grep" and name == "exclude-dir":
        call.exclude_dir.append((value or "").rstrip("/"))
    elif len(name) == 1:
        call.options.append(f"-{name}{value or ''}" if value is None or value else f"-{name}")
        if value == "":
            call.options.append("")
    else:
        call.options.append(f"--{name}" if value is None else f"--{name}={value}")


def _settle_pattern(call: Call) -> None:
    """The first operand is the pattern unless a flag gave one."""
    if any(option.startswith(("-e", "--regexp=")) for option in call.options):
        return
    if not call.operands:
        raise NotAllowed("`grep` needs a pattern.")
    call.options.append(f"--regexp={call.operands.pop(0)}")


def _read_find(call: Call, words: list[str]) -> None:
    rest = list(words)
    while rest and not rest[0].startswith("-") and rest[0] not in _FIND_STARTS:
        call.operands.append(rest.pop(0))
    while rest:
        word = rest.pop(0)
        if word in _FIND_ALONE:
            call.expression.append(word)
        elif word in _FIND_TEXT:
            call.expression += [word, _next(word, rest)]
        else:
            raise _not_allowed(call, word)


def _not_allowed(call: Call, word: str) -> NotAllowed:
    return NotAllowed(f"`{call.name}` is not run with {quoted(word)}.")
