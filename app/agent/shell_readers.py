"""What is known of commands and files: which only read, with the options that keep them so (what
is not named there asks), and for rules that forbid, what they read and write."""

from __future__ import annotations

import glob
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from app.agent.shell_words import Word, names

Operands: TypeAlias = Literal["paths", "text", "pattern", "none"]
"""What the words behind the options are; `pattern` is one text and then paths."""


@dataclass(frozen=True, slots=True)
class Reader:
    """How a command may be called without a question."""

    operands: Operands = "paths"
    flags: str = ""
    """Short options that take no value."""
    valued: str = ""
    """Short options with a value that is no path."""
    long: str = ""
    """Long options, space separated; a value that follows one of them counts as an operand."""
    most: int = 1_000
    """Most operands: of some commands a further one is a file to write."""
    recursive: str = ""
    """Options that make it read whole folders."""
    reads_folders: bool = False
    """It reads the files of a folder without being asked to, and follows the links there."""
    gives_pattern: str = ""
    """Options that hold the pattern, so that every operand is a path."""


_DIGITS = "0123456789"
_GREP = Reader(
    operands="pattern",
    flags="EFGPincvlLoqswxHhabIrzTyZU" + _DIGITS,
    valued="ABCme",
    long=(
        "count ignore-case invert-match line-number files-with-matches files-without-match "
        "only-matching quiet silent no-messages word-regexp line-regexp with-filename no-filename "
        "text extended-regexp fixed-strings basic-regexp perl-regexp recursive color colour "
        "context after-context before-context max-count regexp include exclude exclude-dir "
        "byte-offset null initial-tab line-buffered"
    ),
    recursive="r recursive",
    gives_pattern="e regexp",
)
_HEAD = Reader(
    flags="qvz" + _DIGITS, valued="nc", long="lines bytes quiet silent verbose zero-terminated"
)
_SUM = Reader(flags="bt", long="binary text tag zero")

READERS: Mapping[str, Reader] = {
    "basename": Reader("text", "az", "s", "multiple suffix zero"),
    "cat": Reader(
        flags="AbeEnstTuv",
        long="show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting",
    ),
    "cmp": Reader(flags="bls", valued="n", long="print-bytes verbose quiet silent bytes", most=2),
    "comm": Reader(flags="123z", long="check-order nocheck-order total zero-terminated", most=2),
    "cut": Reader(
        flags="nsz",
        valued="bcdf",
        long="bytes characters delimiter fields complement only-delimited output-delimiter",
    ),
    "df": Reader(flags="ahHiklPT", long="all human-readable si inodes print-type total"),
    "diff": Reader(
        flags="abBcdeEiNpqsTtuwyrZ" + _DIGITS,
        valued="CUW",
        long=(
            "brief unified context side-by-side ignore-case ignore-all-space ignore-blank-lines "
            "ignore-space-change recursive new-file minimal text width color normal"
        ),
        most=2,
        reads_folders=True,
    ),
    "dirname": Reader("text", "z", "", "zero"),
    "du": Reader(
        flags="0abchHklmsSx",
        valued="dt",
        long="all apparent-size bytes total human-readable si summarize max-depth",
    ),
    "echo": Reader("text", "neE"),
    "egrep": _GREP,
    "expand": Reader(flags="i", valued="t", long="initial tabs"),
    "false": Reader("text"),
    "fgrep": _GREP,
    "file": Reader(
        flags="bhikNprLs0", valued="F", long="brief mime mime-type mime-encoding keep-going"
    ),
    "fold": Reader(flags="bs", valued="w", long="bytes spaces width"),
    "grep": _GREP,
    "head": _HEAD,
    "id": Reader("none", "gGnru"),
    "join": Reader(flags="iz", valued="12aejotv", most=2),
    "ls": Reader(
        # Not L: it tells of the files that the links in a folder lead to, and with R lists them.
        flags="aAbBcCdfFgGhHiklmnNopqQrRsStuUvxXZ1",
        valued="ITw",
        long=(
            "all almost-all author classify color directory full-time group-directories-first "
            "human-readable si inode ignore hide indicator-style literal no-group numeric-uid-gid "
            "quote-name reverse recursive size sort time time-style format width"
        ),
    ),
    "md5sum": _SUM,
    "nl": Reader(flags="p", valued="bdfhilnsvw"),
    "nproc": Reader("none", "", "", "all"),
    "od": Reader(flags="abcdfilosxv", valued="AjNStw"),
    "paste": Reader(flags="sz", valued="d", long="serial delimiters"),
    "pwd": Reader("none", "LP"),
    "readlink": Reader(flags="efmnqsvz", long="canonicalize canonicalize-existing no-newline"),
    "realpath": Reader(flags="emLPqsz", long="canonicalize-existing canonicalize-missing quiet"),
    "rev": Reader(),
    "seq": Reader("text", "w", "fs"),
    "sha1sum": _SUM,
    "sha256sum": _SUM,
    "sha512sum": _SUM,
    "sort": Reader(
        flags="bcCdfghiMmnrRsuVz",
        valued="kt",
        long=(
            "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort "
            "human-numeric-sort numeric-sort month-sort reverse version-sort check key "
            "field-separator stable unique zero-terminated merge"
        ),
    ),
    "stat": Reader(flags="Lft", valued="c", long="dereference file-system format printf terse"),
    "tac": Reader(flags="br", valued="s", long="before regex separator"),
    "tail": Reader(
        flags="qvz" + _DIGITS, valued="nc", long="lines bytes quiet silent verbose zero-terminated"
    ),
    "tr": Reader("text", "cCdst", "", "complement delete squeeze-repeats truncate-set1"),
    "tree": Reader(flags="adfiCDFhnpqrstuv", valued="LPI", long="dirsfirst noreport prune du si"),
    "true": Reader("text"),
    "uname": Reader("none", "amnoprsv", "", "all"),
    "uniq": Reader(
        flags="cdDiuz",
        valued="fsw",
        long="count repeated unique ignore-case skip-fields skip-chars check-chars",
        most=1,
    ),
    "wc": Reader(flags="clLmw", long="bytes chars lines max-line-length words"),
    "which": Reader("text", "a"),
    "whoami": Reader("none"),
}

FIND_ALONE = frozenset(
    [
        "-print",
        "-print0",
        "-ls",
        "-true",
        "-false",
        "-empty",
        "-not",
        "-a",
        "-o",
        "-and",
        "-or",
        "!",
        "(",
        ")",
        ",",
        "-depth",
        "-prune",
        "-quit",
        "-xdev",
        "-mount",
        "-readable",
        "-writable",
        "-executable",
        "-daystart",
        "-noleaf",
        "-nouser",
        "-nogroup",
    ]
)
"""What `find` may be told without a value."""
FIND_TEXT = frozenset(
    [
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-iwholename",
        "-regex",
        "-iregex",
        "-regextype",
        "-type",
        "-xtype",
        "-size",
        "-mtime",
        "-atime",
        "-ctime",
        "-mmin",
        "-amin",
        "-cmin",
        "-maxdepth",
        "-mindepth",
        "-perm",
        "-user",
        "-group",
        "-uid",
        "-gid",
        "-links",
        "-inum",
        "-printf",
        "-fstype",
        "-lname",
        "-ilname",
        "-used",
        "-newermt",
        "-newerct",
        "-newerat",
    ]
)
"""What `find` may be told with a value that is no path."""
FIND_PATH = names("-newer -anewer -cnewer -samefile")
"""What `find` may be told with a path."""

_NAMES_ONLY = names(
    "cd pushd popd ls dir stat du df tree pwd echo printf mkdir rmdir rm touch chmod chown chgrp "
    "test [ basename dirname realpath readlink file which type true false kill sleep"
)
"""Commands that take a folder and read no file in it."""
_READ_BELOW = names(
    "diff rg ag ack ugrep zgrep tar bsdtar gtar zip 7z 7za pax cp gcp rsync scp rclone sdiff "
    "colordiff vimdiff meld cpio ditto"
)
"""Commands that read all that is in a folder."""
_SEARCH_HERE = frozenset({"grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "ugrep", "git"})
"""They take the working folder where they are given none."""
_GIT_BY_NAME = names(
    "add status commit log branch rm mv checkout switch restore init push pull fetch clone stash "
    "reset clean tag worktree ls-files check-ignore config remote rev-parse"
)
_RECURSIVE = re.compile(r"-[A-Za-z]*[rRd].*|--(dereference-)?recursive|--directories.*")
_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})

_WRITES_ALL = names(
    "tee truncate touch rm unlink shred mv gmv rmdir patch ed ex vi vim nvim nano emacs sponge "
    "gzip gunzip bzip2 bunzip2 xz unxz zstd dos2unix unix2dos split csplit fallocate mkfifo mknod "
    "dd tar bsdtar unzip prettier black isort gofmt rustfmt clang-format autopep8 yapf"
)
"""Commands that may change or remove every file they name."""
_WRITES_LAST = frozenset({"cp", "gcp", "mv", "gmv", "install", "ln", "rsync", "scp", "ditto"})
_IN_PLACE = re.compile(r"-[A-Za-z]*i.*|--in-place.*")
_EDITORS = frozenset({"sed", "gsed", "perl", "ruby", "awk", "gawk", "yq"})
"""They write where an option says so."""
_GIT_WRITES = frozenset({"checkout", "restore", "mv", "rm", "apply", "clean", "stash", "reset"})
_OUTPUT = re.compile(r"-[A-Za-z]*[oO]|--out[\w-]*")
_ATTACHED_OUTPUT = re.compile(r"(-[oO]|--out[\w-]*=)(?=.)")


FILE_WRITERS = _WRITES_ALL | _WRITES_LAST | _EDITORS | {"git", "find"}
"""The commands of which it is known what they write."""
FOLDER_READERS = _READ_BELOW | _SEARCH_HERE | {"find"}
"""The commands of which it is known that they may read all that is in a folder."""


def below_is_read(words: Sequence[Word], *, guess: bool) -> bool:
    """Whether a command reads the files below a folder that it is given; with `guess` also where
    that is not known."""
    name, rest = words[0].text, [word.text for word in words[1:]]
    if name == "find":
        return not _FIND_RUNS.isdisjoint(rest)
    if name == "git":
        second = next((word for word in rest if not word.startswith("-")), "")
        return second == "grep" or (guess and second not in _GIT_BY_NAME)
    if name in {"grep", "egrep", "fgrep", "zgrep"}:
        return any(_RECURSIVE.fullmatch(word) for word in rest)
    if name in _READ_BELOW:
        return True
    return guess and name not in _NAMES_ONLY and name not in READERS


def read_folders(words: Sequence[Word]) -> list[Word]:
    """What may be the folders of a command that reads below them."""
    name, rest = words[0].text, list(words[1:])
    plain = [word for word in rest if not word.text.startswith("-")]
    if name == "find":
        first = next((n for n, word in enumerate(rest) if word.text.startswith("-")), len(rest))
        return rest[:first] or [Word(".")]
    wanted = 3 if name == "git" else 2
    return [*rest, Word(".")] if name in _SEARCH_HERE and len(plain) < wanted else rest


def written_operands(words: Sequence[Word]) -> Iterator[Word]:
    """The words of a usual command that name what it changes; `of=x` and `--output=x` as they
    are."""
    name, rest = words[0].text, list(words[1:])
    plain = [word for word in rest if not word.text.startswith("-")]
    in_place = name in _EDITORS and any(_IN_PLACE.fullmatch(word.text) for word in rest)
    if name == "dd":
        yield from (word for word in rest if not word.text.startswith("if="))
    elif in_place or name in _WRITES_ALL:
        yield from rest
    elif name == "git" and plain and plain[0].text in _GIT_WRITES:
        yield from plain[1:]
    if name in _WRITES_LAST:
        yield _target(rest, plain)


def written_below(words: Sequence[Word]) -> Iterator[Word]:
    """The words of a usual command by which it changes or removes whole folders."""
    name, rest = words[0].text, list(words[1:])
    plain = [word for word in rest if not word.text.startswith("-")]
    recursive = any(re.fullmatch(r"-[A-Za-z]*[rRa].*|--(recursive|archive)", w.text) for w in rest)
    if name in {"rm", "mv", "gmv"}:
        yield from plain[: len(plain) - (name != "rm")]
    elif name == "find" and (
        any(word.text == "-delete" for word in rest)
        or any(word.text.rsplit("/", 1)[-1] in _WRITES_ALL | _EDITORS for word in rest)
    ):
        yield from read_folders(words)
    elif name == "git" and plain and plain[0].text in _GIT_WRITES:
        yield from plain[1:]
    elif name in _WRITES_LAST and recursive:
        yield from plain[-1:]


def placed_operands(words: Sequence[Word]) -> Iterator[Word]:
    """What the sources of a copying or moving command are called where its target is a folder."""
    rest = list(words[1:])
    plain = [word for word in rest if not word.text.startswith("-")]
    folder = _target(rest, plain)
    for source in plain if words[0].text in _WRITES_LAST else ():
        base = source.text.rstrip("/").rsplit("/", 1)[-1]
        text = f"{folder.text}/{base}"
        pattern = None if source.pattern is None else f"{glob.escape(folder.text)}/{base}"
        yield Word(text, pattern=pattern, home=folder.home)


def _target(rest: Sequence[Word], plain: Sequence[Word]) -> Word:
    """The folder of `-t`, or the last operand; alone it is a source, put where the command runs."""
    for before, word in itertools.pairwise([Word(""), *rest]):
        if before.text in {"-t", "--target-directory"}:
            return word
        if word.text.startswith("--target-directory="):
            return Word(word.text.split("=", 1)[1])
    return plain[-1] if len(plain) > 1 else Word(".")


def output_operands(words: Sequence[Word]) -> Iterator[Word]:
    """What stands behind the options by which commands of every kind are told where to write."""
    if words and words[0].text in READERS and words[0].text != "sort":
        return
    for before, word in itertools.pairwise(words):
        attached = _ATTACHED_OUTPUT.match(word.text)
        if attached is not None:
            yield Word(word.text[attached.end() :])
        if _OUTPUT.fullmatch(before.text):
            yield word
