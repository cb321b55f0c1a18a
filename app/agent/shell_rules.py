"""Whether a Bash rule speaks of a command."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from app.agent.rules import Rule
from app.agent.shell_parse import Script, ShellCommand, parse_script
from app.agent.shell_reasons import (
    RUNS_AFTER,
    RUNS_INPUT,
    SHELLS,
    SUB_WRAPPERS,
    TAKES_CODE,
    WRAPPERS,
)
from app.agent.shell_words import Word, names

_DEEPEST = 4
"""Levels of `sh -c '…'` that are looked into."""
MOST_SCRIPTS = 300
"""Scripts inside one script that are looked into; of more the plain text is searched."""
_GIT_VALUED = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace"})
_LITERALS = frozenset({"echo", "printf"})
_GIVES_SCRIPT = names(
    "-c -x -e --exec --call --run --command --extcmd --upload-pack --receive-pack --tree-filter "
    "--index-filter --msg-filter --env-filter --commit-filter"
)
IN_CODE = re.compile(r"[\s('\"]")
"""What a word holds that is a program and not a name."""
_SPLIT_STRING = re.compile(r"-[A-Za-z0]*S|--split-string=?")
_OPTION_IN_FRONT = re.compile(r"--?[\w-]*=|-[A-Za-z]{1,2}(?=\w)")
_RISKY_LONG = names(
    "output outdir outfile exec toolexec config fix write root rootdir prefix cwd dir basetemp "
    "confcutdir override-ini pastebin log-file junit cache plugin require preload eval init setup "
    "global reporter runner transform resolve testenvironment testrunner testsequencer "
    "testresultsprocessor snapshotserializers watchplugins prettierpath preset projects env "
    "environment coveragedirectory update python createstub writebaseline install-types shadow "
    "any-exprs-report html xml txt cobertura lineprecision linecount linecoverage cov-report cov- "
    "config report parser rulesdir formatter script-shell userconfig node-options manifest "
    "target-dir artifact-dir overlay modfile vettool ldflags gcflags asmflags gccgoflags "
    "cpuprofile memprofile blockprofile mutexprofile coverprofile trace pkgdir settings append "
    "add-noqa unsafe-fixes pdbcls debug project venvpath custom-typeshed bug-report"
)
"""Options that write where they are told to, run another program, or change files; those of five
letters and more stand for all that begin so."""
_RISKY_SHORT: Mapping[str, str] = {
    "npm": "C",
    "pnpm": "C",
    "yarn": "",
    "bun": "re",
    "cargo": "ZC",
    "go": "oC",
    "ruff": "o",
    "pytest": "pco",
    "pyright": "p",
    "mypy": "",
    "flake8": "",
    "eslint": "ocf",
    "jest": "cu",
    "vitest": "cur",
    "black": "",
    "isort": "o",
}
"""By command: short options of that kind. A prefix rule for one of these commands allows neither
them nor the long ones, unless it names them itself."""
_HARMLESS_LONG = names("output-format output-indicator-new output-indicator-old")
_ABBREVIATES = names("git npm mypy flake8 isort")
"""Commands that take the beginning of a long option for the whole."""
_GIT_LONG = names(
    "output output-directory ext-diff textconv exec exec-path upload-pack receive-pack delete "
    "open-files-in-pager no-index contents config-env extcmd"
)
_GIT_BRANCH_LONG = names("force move copy edit-description")
_GIT_SHORT: Mapping[str, str] = {
    "branch": "dDmMcCf",
    "tag": "df",
    "grep": "O",
    "format-patch": "o",
    "archive": "o",
    "rebase": "x",
    "difftool": "x",
}


def prefix_of(pattern: str) -> str | None:
    """`git push` for `git push:*`; None for a pattern that means one exact command."""
    for mark in (":*", " *"):
        if pattern.endswith(mark):
            return pattern[: -len(mark)].rstrip()
    return None


def names_whole(rule: Rule, text: str) -> bool:
    """Whether the rule covers every command, or names exactly this text."""
    return rule.pattern is None or rule.pattern == text.strip()


def permits(rule: Rule, command: ShellCommand) -> bool:
    """Whether an allow rule covers one simple command: whole words of a known prefix, or all.

    A prefix of a command that `risky_option` knows does not cover its risky options.
    """
    if rule.pattern is None:
        return True
    words = command.words
    prefix = prefix_of(rule.pattern)
    wanted = (rule.pattern if prefix is None else prefix).split()
    if command.assigns or command.substitutes or len(words) < len(wanted):
        return False
    if prefix is None and len(words) != len(wanted):
        return False
    if not all(
        not word.computed and word.pattern is None and word.text == want
        for word, want in zip(words, wanted, strict=False)
    ):
        return False
    return risky_option([word.text for word in words], len(wanted)) is None


def risky_option(words: Sequence[str], start: int) -> str | None:
    """The first word from `start` on by which a command that else builds, tests or shows would
    write elsewhere, run something else or delete; None where there is none, or the command is not
    known."""
    name = words[0] if words else ""
    if name != "git" and name not in _RISKY_SHORT:
        return None
    second = next((word for word in words[1:] if not word.startswith("-")), "")
    long, short = _RISKY_LONG, _RISKY_SHORT.get(name, "")
    if name == "git":
        changes = _GIT_BRANCH_LONG if second in {"branch", "tag"} else frozenset[str]()
        # Before its subcommand `-c` sets anything, such as the program that shows pages.
        long, short = _GIT_LONG | changes, _GIT_SHORT.get(second, "") + ("c" * (start < 2))
    for word in words[start:]:
        if word == "--":
            return None
        option = word.split("=", 1)[0]
        # Go writes long options with one dash.
        is_long = option.startswith("--") or (name == "go" and len(option) > 2)
        text = option.lstrip("-").lower()
        if option.startswith("-") and is_long and _is_risky(text, long, name in _ABBREVIATES):
            return word
        if option.startswith("-") and not is_long and set(option[1:]) & set(short):
            return word
    return None


def _is_risky(option: str, risky: frozenset[str], abbreviated: bool) -> bool:
    if option in _HARMLESS_LONG:
        return False
    return "." in option or any(
        option == name
        or option.startswith(name if len(name) > 4 else f"{name}-")
        or (abbreviated and len(option) > 3 and name.startswith(option))
        for name in risky
    )


def forbids(rule: Rule, text: str) -> bool:
    """Whether a deny or ask rule covers any part of the script, however it is dressed up.

    Quotes are removed, wrappers such as `sudo` and `xargs` looked through, scripts given to
    `sh -c`, `trap`, `env -S` or a pipe into a shell read. Of what cannot be read the plain text
    is searched.
    """
    if names_whole(rule, text):
        return True
    pattern = rule.pattern or ""
    prefix = prefix_of(pattern)
    wanted = (pattern if prefix is None else prefix).split()
    scripts = scripts_in(text)
    for inner, read in scripts:
        if read.trouble is not None and _occurs(wanted, inner):
            return True
        if any(_covers(wanted, command, exact=prefix is None) for command in read.commands):
            return True
        for words in spoken(read, TAKES_CODE):
            if any(IN_CODE.search(word.text) and _occurs(wanted, word.text) for word in words[1:]):
                return True
    return len(scripts) >= MOST_SCRIPTS and _occurs(wanted, text)


@lru_cache(maxsize=16)
def scripts_in(text: str) -> tuple[tuple[str, Script], ...]:
    """The script `text` and every one that stands in a word of it, each with its own text; at most
    `MOST_SCRIPTS`."""
    found: dict[str, Script] = {}
    level = [text]
    for _ in range(_DEEPEST + 1):
        deeper: list[str] = []
        for inner in level:
            if inner not in found and len(found) < MOST_SCRIPTS:
                found[inner] = parse_script(inner)
                deeper += itertools.islice(_texts_run(found[inner]), MOST_SCRIPTS)
        level = deeper
    return tuple(found.items())


def spoken(script: Script, known: Collection[str]) -> Iterator[Sequence[Word]]:
    """The word lists under which commands of the script can be known, the name without its folder:
    those with a `known` name, and for each name the longest."""
    for command in script.commands:
        words = command.words
        met: set[str] = set()
        for start in _starts([word.text for word in words]):
            name = base_name(words[start].text)
            if name in known and name not in met:
                met.add(name)
                yield (Word(name), *words[start + 1 :])


def base_name(word: str) -> str:
    """The name of a program without its folder."""
    return word.rsplit("/", 1)[-1]


def _starts(words: Sequence[str]) -> Iterator[int]:
    """Where in the words of a command a command may begin: of a wrapper anywhere."""
    if not words:
        return
    name = base_name(words[0])
    yield 0
    if name in WRAPPERS:
        yield from range(1, len(words))
    elif name in SUB_WRAPPERS:
        first = next((n for n, word in enumerate(words) if word in RUNS_AFTER), len(words))
        yield from range(first + 1, len(words))


def _texts_run(script: Script) -> Iterator[str]:
    """The texts among the words of a script that are run as scripts."""
    feeds = any(_runs_input(command) for command in script.commands)
    for command in script.commands:
        words = [word.text for word in command.words]
        name = base_name(words[0]) if words else ""
        if name in _LITERALS and feeds:
            yield from (text.replace("\\n", "\n") for text in (" ".join(words[1:]), *words[1:]))
        if name in SHELLS:
            yield from words[1:]
        elif name == "eval":
            yield " ".join(words[1:])
        elif name in WRAPPERS:
            yield from _wrapped_texts(words)
        elif name in SUB_WRAPPERS:
            # `git -c alias.x='!rm x' x`, `git rebase --exec 'rm x'`, `npm exec -c 'rm x'`.
            for before, word in itertools.pairwise(words):
                option, mark, value = word.partition("=")
                if mark and (option in _GIVES_SCRIPT or not option.startswith("-")):
                    yield value.lstrip("!")
                if before in _GIVES_SCRIPT | RUNS_AFTER or word.startswith("!"):
                    yield word.lstrip("!")


def _wrapped_texts(words: Sequence[str]) -> Iterator[str]:
    shell_at = next((n for n, word in enumerate(words) if base_name(word) in SHELLS), len(words))
    for place, word in enumerate(words[1:], start=1):
        if base_name(word) == "eval":
            yield " ".join(words[place + 1 :])
        if place > shell_at or re.search(r"\s", word):
            yield word
        split = _SPLIT_STRING.match(word)
        if split is not None:
            rest = words[place + 1 :] if split.end() == len(word) else ()
            # `env -S` has blanks of its own.
            yield " ".join([word[split.end() :], *rest]).replace("\\_", " ")
            yield " ".join([word[split.end() :], *words[place + 1 :]])
        front = _OPTION_IN_FRONT.match(word)
        if front is not None:
            yield word[front.end() :]


def _runs_input(command: ShellCommand) -> bool:
    words = [word.text for word in command.words]
    return any(base_name(words[start]) in RUNS_INPUT for start in _starts(words))


def _covers(wanted: Sequence[str], command: ShellCommand, *, exact: bool) -> bool:
    texts = [word.text for word in command.words]
    for start in _starts(texts):
        name = base_name(texts[start])
        if wanted and name == base_name(wanted[0]):
            form, rest = [name, *texts[start + 1 :]], [name, *wanted[1:]]
            if any(_begins(rest, one, exact=exact) for one in (form, _without_options(form))):
                return True
    return False


def _begins(wanted: Sequence[str], words: Sequence[str], *, exact: bool) -> bool:
    if len(words) < len(wanted) or (exact and len(words) != len(wanted)):
        return False
    # Without ":*" the last word may be the start of one: "npm run test" forbids "test:all", too.
    *first, last = wanted
    same = all(word == want for word, want in zip(words, first, strict=False))
    word = words[len(first)]
    return same and (word == last or (not exact and len(wanted) > 1 and word.startswith(last)))


def _without_options(words: Sequence[str]) -> list[str]:
    kept = [words[0]]
    place = 1
    while place < len(words):
        word = words[place]
        place += 1
        if words[0] == "git" and word in _GIT_VALUED:
            place += 1
        elif not word.startswith("-"):
            kept.append(word)
    return kept


def _occurs(wanted: Sequence[str], text: str) -> bool:
    bare = re.sub(r"[\\'\"]", "", text)
    words = r"\s+(?:-\S+\s+)*".join(re.escape(word) for word in wanted)
    return re.search(rf"(?<![\w.-]){words}(?![\w-])", bare) is not None
