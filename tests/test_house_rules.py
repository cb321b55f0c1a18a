from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
LONGEST_FILE = 400
TEXT = {".py", ".md", ".toml", ".txt", ".tcss", ".yml", ""}


def code() -> list[Path]:
    return sorted([*(ROOT / "app").rglob("*.py"), *(ROOT / "widgets").rglob("*.py")])


def texts() -> Iterator[Path]:
    """Files of the project that a person writes."""
    places = ("app", "widgets", "styles", "tests", "docs", "benchmarks", ".ci")
    files = [file for file in ROOT.iterdir() if file.is_file()]
    for place in places:
        files += (ROOT / place).rglob("*")
    skipped = {ROOT / "LICENSE", Path(__file__)}
    for file in files:
        is_data = ROOT / "tests" / "data" in file.parents
        if file.is_file() and file.suffix in TEXT and file not in skipped and not is_data:
            yield file


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_imports_go_down_only() -> None:
    done = run(str(Path(sys.executable).parent / "lint-imports"), "--no-cache")
    assert done.returncode == 0, done.stdout[-3000:]


def test_files_are_short() -> None:
    long = [
        (str(file.relative_to(ROOT)), lines)
        for file in code()
        if (lines := len(file.read_text("utf-8").splitlines())) > LONGEST_FILE
    ]
    assert long == []


def test_packages_do_nothing_on_import() -> None:
    assert [file for file in code() if file.name == "__init__.py" and file.read_bytes()] == []


@pytest.mark.parametrize("module", ["app.controller", "app.cli.print_mode", "app.cli.run"])
def test_no_textual_and_no_sdk_below_the_widgets(module: str) -> None:
    program = f"import sys, {module}; print({{'textual', 'anthropic'}} & sys.modules.keys())"
    done = run(sys.executable, "-c", program)
    assert (done.returncode, done.stdout) == (0, "set()\n"), done.stderr


def test_help_needs_no_heavy_import() -> None:
    program = "import sys, app.cli.run, app.cli.parser; print('asyncio' in sys.modules)"
    assert run(sys.executable, "-c", program).stdout == "False\n"


def test_nothing_names_a_build_machine_or_a_registry() -> None:
    here = [re.escape(str(place) + "/") for place in (ROOT, Path.home(), Path(sys.prefix))]
    telltale = re.compile("|".join([*here, "index-url", "find-links", r"pypi\.", r"registry\.np"]))
    found = [
        (str(file.relative_to(ROOT)), line)
        for file in texts()
        for line in file.read_text("utf-8").splitlines()
        if telltale.search(line)
    ]
    assert found == []


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pairs = (line.split("==") for line in lines if line and not line.startswith("#"))
    return {canonicalize_name(name): version for name, version in pairs}


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    waiting = [Requirement(text) for text in project["dependencies"]]
    waiting += [Requirement(text) for group in extras for text in group]
    seen: set[tuple[str, str]] = set()
    pinned = pins()
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        assert name in pinned, f"{name} is not pinned"
        assert wanted.specifier.contains(pinned[name]), f"{wanted} and {pinned[name]}"
        try:
            requires = distribution(name).requires or []
        except PackageNotFoundError:  # an optional part that is not installed here
            continue
        for extra in ("", *wanted.extras):
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            needed = (Requirement(text) for text in requires)
            waiting += [r for r in needed if not r.marker or r.marker.evaluate({"extra": extra})]
