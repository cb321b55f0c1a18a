"""Commands that only read, with the options that keep them so. What is not named here asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

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
FIND_PATH = frozenset(["-newer", "-anewer", "-cnewer", "-samefile"])
"""What `find` may be told with a path."""
