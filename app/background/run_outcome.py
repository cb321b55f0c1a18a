"""Whether a run of tests or a build went well, by what it printed and by its exit code."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from app.background.turn import Call

_TAIL: Final = 6_000
"""Characters at the end of an output that are searched for a summary."""
_LONGEST_COMMAND: Final = 2_000

_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_EXIT_CODE = re.compile(r"Exit code (\d+)")
_TIMED_OUT = re.compile(r"timed out|took too long", re.IGNORECASE)
_PARTS = re.compile(r"&&|\|\||[;&|\n(]")
_ASSIGNED = re.compile(r"\w+=")
_PREFIXES = frozenset(
    {"time", "env", "sudo", "npx", "bunx", "uvx", "uv", "poetry", "pdm", "pipenv", "hatch", "run",
     "bundle", "exec", "timeout", "nice", "php", "py"}
)  # fmt: skip
_PYTHON_OR_OPTION = re.compile(r"python[\d.]*|-.*")
_TESTS = re.compile(
    r"pytest|py\.test|unittest|tox|nox|jest|vitest|mocha|phpunit|rspec|ctest|pest"
    r"|(?:npm|pnpm|yarn|bun|deno|go|cargo|dotnet|swift|mix|flutter|zig build)(?: run)?"
    r" (?:test|nextest)"
    r"|(?:make|just|rake|gradlew?|mvnw?) (?:\S+ )*?(?:test|check|spec|verify)|node --test"
)
_BUILDS = re.compile(
    r"(?:make|just)(?: (?:-\S+|all|build|lint))* $|ninja|cmake --build"
    r"|tsc|webpack|vite build|gcc|g\+\+|clang|javac|gradlew? |mvnw? "
    r"|(?:npm|pnpm|yarn|bun) (?:run )?(?:build|typecheck|lint)|(?:cargo|go|dotnet|swift|zig|next)"
    r" (?:build|check|vet|clippy)|pyright|mypy|ruff check|eslint"
)


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How the last run of a turn ended."""

    passed: bool
    words: str


def last_run(calls: Sequence[Call]) -> RunOutcome | None:
    """The outcome of the last test or build run among the calls, None when there was none."""
    for call in reversed(calls):
        if call.name in {"Bash", "BashOutput"} and call.answered and not call.denied:
            found = _outcome(call)
            if found is not None:
                return found
    return None


def _outcome(call: Call) -> RunOutcome | None:
    if "backgroundTaskId" in call.details:
        return None
    command = call.arguments.get("command")
    kind = _kind(command) if isinstance(command, str) else ""
    if call.failed and kind and _TIMED_OUT.search(call.result[:200]):
        return RunOutcome(False, f"{kind} timed out")
    exit_code = _EXIT_CODE.search(call.result[:200]) if call.failed else None
    code = int(exit_code[1][:6]) if exit_code else int(call.failed)
    counted = _counted(call.result[-_TAIL:])
    if counted is not None:
        if counted.passed and code and kind == "tests":
            return RunOutcome(False, f"tests pass, but exit code {code}")
        return counted
    if kind == "tests":
        return RunOutcome(not code, "tests failed" if code else "tests pass")
    if kind == "build":
        return RunOutcome(not code, f"build failed (exit code {code})" if code else "build passes")
    return None


def _kind(command: str) -> str:
    """`tests`, `build` or nothing, by the programs that a command line starts."""
    kinds: set[str] = set()
    for part in _PARTS.split(command[:_LONGEST_COMMAND]):
        words = part.split()
        while words and _is_prefix(words[0]):
            # What `timeout` takes is a number in front of the program.
            words = words[2:] if words[0] == "timeout" else words[1:]
        if not words:
            continue
        line = " ".join([words[0].rsplit("/", 1)[-1], *words[1:]]) + " "
        if re.match(rf"(?:{_TESTS.pattern})\b", line):
            kinds.add("tests")
        elif re.match(rf"(?:{_BUILDS.pattern})(?!\w)", line):
            kinds.add("build")
    return "tests" if "tests" in kinds else "build" if kinds else ""


def _is_prefix(word: str) -> bool:
    """Whether a word of a command only says how the program behind it is run."""
    name = word.rsplit("/", 1)[-1]
    return (
        name in _PREFIXES or bool(_PYTHON_OR_OPTION.fullmatch(name)) or bool(_ASSIGNED.match(word))
    )


# What the runners print at the end


def _counted(output: str) -> RunOutcome | None:
    text = _COLOURS.sub("", output)
    found = [each for each in (reader(text) for reader in _READERS) if each is not None]
    if not found:
        return None
    failed = max(found)
    if failed < 0:
        return RunOutcome(False, "no tests ran")
    words = "tests pass" if not failed else f"{failed} test{'' if failed == 1 else 's'} failed"
    return RunOutcome(not failed, words)


def _sum(pattern: str, text: str) -> int:
    return sum(int(number[:9]) for number in re.findall(pattern, text))


def _pytest(text: str) -> int | None:
    lines = re.findall(r"(?m)^=*[ ]?((?:\d+ [a-z]+,? ?)+|no tests ran) in \d[\d.]*m?s", text)
    if not lines:
        return None
    counts = lines[-1]
    if counts.startswith("no tests"):
        return -1
    return _sum(r"(\d+) (?:failed|errors?)\b", counts)


def _unittest(text: str) -> int | None:
    if not (ran := re.findall(r"(?m)^Ran (\d+) tests? in ", text)):
        return None
    if failures := re.findall(r"(?m)^FAILED \((.*)\)", text):
        return _sum(r"(?:failures|errors)=(\d+)", failures[-1]) or 1
    return -1 if ran[-1] == "0" else 0


def _jest(text: str) -> int | None:
    """Also vitest, which parts the counts with bars."""
    lines = re.findall(r"(?m)^ *Tests:? +(\d+ (?:failed|passed|skipped|todo).*)$", text)
    return _sum(r"(\d+) failed", lines[-1]) if lines else None


def _go(text: str) -> int | None:
    failed = len(re.findall(r"(?m)^\s*--- FAIL: ", text))
    if failed or re.search(r"(?m)^FAIL(?:\t|$)", text):
        return max(failed, 1)
    return 0 if re.search(r"(?m)^ok  ?\t?\s*\S+\s+(?:\(cached\)|[\d.]+s)", text) else None


def _cargo(text: str) -> int | None:
    if not re.search(r"(?m)^test result: ", text):
        return None
    return _sum(r"(?m)^test result: .*? (\d+) failed", text)


def _mocha(text: str) -> int | None:
    if not re.search(r"(?m)^ +\d+ passing\b", text):
        return None
    return _sum(r"(?m)^ +(\d+) failing\b", text)


def _phpunit(text: str) -> int | None:
    if re.search(r"(?m)^OK \(\d+ tests?, \d+ assertions?\)", text):
        return 0
    lines = re.findall(r"(?m)^Tests: \d+, Assertions: \d+(.*)$", text)
    return _sum(r"(?:Failures|Errors): (\d+)", lines[-1]) if lines else None


def _rspec(text: str) -> int | None:
    lines = re.findall(r"(?m)^\d+ examples?, (.*)$", text)
    return _sum(r"(\d+) (?:failures?|errors?)\b", lines[-1]) if lines else None


def _maven(text: str) -> int | None:
    lines = re.findall(r"Tests run: \d+, (Failures: \d+, Errors: \d+)", text)
    return _sum(r": (\d+)", lines[-1]) if lines else None


def _tap(text: str) -> int | None:
    """Also the reporter of `node --test`."""
    return _sum(r"(?m)^[#ℹ] fail (\d+)", text) if re.search(r"(?m)^[#ℹ] fail \d", text) else None


_READERS: Final[tuple[Callable[[str], int | None], ...]] = (
    _pytest, _unittest, _jest, _go, _cargo, _mocha, _phpunit, _rspec, _maven, _tap,
)  # fmt: skip
"""Each gives the number of failed tests, −1 where none ran, None where it knows no summary."""
