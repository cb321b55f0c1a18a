from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from app.background.dream import inspect, inspect_files
from app.background.dream.inspect_files import Walk
from app.background.dream.inspect_rules import parsed_call
from app.background.dream.inspect_words import words_of
from app.background.dream.roots import NotAllowed
from tests.unit.agent.tool_kit import until
from tests.unit.background.dream.dream_kit import SECRET, Ground

LEFT_OUT = "(10 files or folders were left out: secrets, or a rule closes them)"


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


def _program(ground: Ground, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Let a script run in the place of all eight."""
    file = ground.base / "program"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o700)
    monkeypatch.setattr(inspect.shutil, "which", lambda _name, path: str(file))


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("ls", ["ls"]),
        ("  ls \t -l  ", ["ls", "-l"]),
        ("grep 'a  b' c", ["grep", "a  b", "c"]),
        ('grep "it\'s" c', ["grep", "it's", "c"]),
        ("grep 'a$|b' c", ["grep", "a$|b", "c"]),
        (r'grep "a\"b\\c\d" c', ["grep", r'a"b\c\d', "c"]),
        (r"find . \( -name a \)", ["find", ".", "(", "-name", "a", ")"]),
        (r"cat a\ b", ["cat", "a b"]),
        ("cat a'b'\"c\"", ["cat", "abc"]),
        ("grep '' c", ["grep", "", "c"]),
        ("find -name *.py", ["find", "-name", "*.py"]),
        ("cat a#b a~b", ["cat", "a#b", "a~b"]),
    ],
)
def test_words(command: str, words: list[str]) -> None:
    assert words_of(command) == words


def test_flags_in_all_their_forms() -> None:
    call = parsed_call("grep -rniA3 --include=*.py --exclude-dir node_modules -e x -- -y")
    assert (call.options, call.operands) == (["-n", "-i", "-A3", "-ex"], ["-y"])
    assert (call.recursive, call.include, call.exclude_dir) == (True, ["*.py"], ["node_modules"])
    call = parsed_call("tail -7 a b -q")
    assert (call.options, call.operands) == (["-n7", "-q"], ["a", "b"])
    call = parsed_call("grep -e '' a")
    assert (call.options, call.operands) == (["-e", ""], ["a"])
    call = parsed_call("grep -i -- -x a")
    assert (call.options, call.operands) == (["-i", "--regexp=-x"], ["a"])


def test_find_takes_values_as_find_does() -> None:
    call = parsed_call("find . sub -name -exec -print")
    assert (call.operands, call.expression) == ([".", "sub"], ["-name", "-exec", "-print"])
    with pytest.raises(NotAllowed, match="-exec"):
        parsed_call("find . -print -exec rm")


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("cat a.txt", "hello\nit's a | b -x bye"),
        ("cat -n sub/b.md", "     1\ttopic"),
        ("grep -n topic sub/b.md", "1:topic"),
        ("grep -n o a.txt sub/b.md", "a.txt:1:hello\nsub/b.md:1:topic"),
        (
            "grep -rn topic .",
            f"./sub/b.md:1:topic\n{LEFT_OUT}",
        ),
        ("grep -rnh topic sub/", "1:topic"),
        ("grep -rc topic sub", "sub/b.md:1\nsub/c.py:0"),
        ("grep -r topic sub/b.md", "sub/b.md:topic"),
        ("grep -r --include=*.py -l . sub", "sub/c.py"),
        ("grep nowhere a.txt", "No matches found."),
        ("wc -l a.txt sub/b.md", " 2 a.txt\n 1 sub/b.md\n 3 total"),
        ("head -n1 a.txt sub/b.md", "==> a.txt <==\nhello\n\n==> sub/b.md <==\ntopic"),
        ("tail -n +2 a.txt", "it's a | b -x bye"),
        ("stat -c '%n %F %s' a.txt sub/b.md", "a.txt regular file 24\nsub/b.md regular file 6"),
        ("ls sub", "b.md\nc.py"),
        ("ls -1 sub/b.md", "sub/b.md"),
        ("ls -R sub", "sub:\nb.md\nc.py"),
        ("find sub -name *.md", "sub/b.md"),
        ("find ./sub/ -path './sub/*.md'", "./sub/b.md"),
        ("find . -wholename ./sub", "./sub"),
        ("find sub -empty", "(no output)"),
        ("cat with\\ space.txt", "space"),
    ],
)
async def test_output_names_files_as_they_were_given(
    command: str, output: str, ground: Ground
) -> None:
    assert await ground.inspect(command) == output


async def test_text_of_a_file_that_looks_like_a_descriptor_stays(ground: Ground) -> None:
    text = "".join(f"see /proc/self/fd/{number}/. and on\n" for number in range(40))
    (ground.project / "fd.txt").write_text(text)
    assert await ground.inspect("cat fd.txt") == text.strip()
    assert await ground.inspect("grep -h see fd.txt a.txt") == text.strip()


async def test_large_output_is_cut_and_the_rest_counted(ground: Ground) -> None:
    (ground.project / "large.txt").write_text("x" * 9 + "\n" + "0123456789abcde\n" * 20_000)
    said = await ground.inspect("cat large.txt")
    kept, note = said.rsplit("\n", 1)
    assert len(kept) <= 30_000
    assert note == f"({320_010 - 30_000} more bytes were left out; ask for less)"


async def test_time_limit_ends_the_command_and_keeps_what_it_said(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    _program(ground, monkeypatch, "echo begun; sleep 60")
    monkeypatch.setattr(inspect, "TIME_LIMIT", 0.5)
    said = await ground.inspect("cat a.txt")
    assert said.startswith("begun\n(stopped after")
    assert _children() == []


async def test_cancelling_ends_all_that_was_started(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    _program(ground, monkeypatch, "trap '' TERM; sleep 60 & sleep 60")
    task = asyncio.create_task(ground.inspect("cat a.txt"))
    await until(lambda: len(_children()) >= 3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert _children() == []


def _children() -> list[psutil.Process]:
    found = psutil.Process().children(recursive=True)
    return [each for each in found if each.status() != psutil.STATUS_ZOMBIE]


async def test_command_gets_neither_environment_nor_input(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    monkeypatch.setenv("GREP_OPTIONS", "-R")
    _program(ground, monkeypatch, "export -p; cat; ps -o sid= -p $$ >/dev/null 2>&1; pwd")
    said = await ground.inspect("cat a.txt")
    assert SECRET not in said
    assert "GREP_OPTIONS" not in said
    assert "C.UTF-8" in said
    assert said.endswith("/")


async def test_name_turned_elsewhere_between_check_and_use(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    readable: Callable[..., Path] = inspect_files.readable

    def swap(text: str, roots: Any) -> Path:
        found = readable(text, roots)
        (ground.project / "sub").rename(ground.project / "gone")
        (ground.project / "sub").symlink_to(ground.outside)
        return found

    (ground.project / "sub" / "o.txt").write_text("plain")
    monkeypatch.setattr(inspect_files, "readable", swap)
    for command in ("cat sub/o.txt", "grep -r hush sub", "ls sub", "find sub"):
        said = await ground.inspect(command)
        assert said.startswith("REFUSED "), command
        (ground.project / "sub").unlink()
        (ground.project / "gone").rename(ground.project / "sub")


async def test_name_turned_elsewhere_after_opening_shows_what_was_checked(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_there: Callable[..., int] = inspect_files.open_there

    def swap(path: Path, text: str, *, folder: bool | None = None) -> int:
        found = open_there(path, text, folder=folder)
        (ground.project / "sub").rename(ground.project / "gone")
        (ground.project / "sub").symlink_to(ground.outside)
        return found

    (ground.project / "sub" / "o.txt").write_text("plain")
    monkeypatch.setattr(inspect_files, "open_there", swap)
    assert await ground.inspect("cat sub/o.txt") == "plain"


def test_walk_meets_no_link_no_pipe_and_no_secret(ground: Ground) -> None:
    walk = Walk(parsed_call("grep -r x ."), ground.roots)
    opened = walk.batch()
    names = sorted(opened.names.values())
    opened.close()
    assert names == [
        "./-dash.txt",
        "./.env.example",
        "./a.txt",
        "./sub/b.md",
        "./sub/c.py",
        "./with space.txt",
    ]
    assert walk.closed > 5
    assert walk.batch().words == []


async def test_search_of_more_files_than_one_run_takes(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspect_files, "BATCH", 7)
    (ground.project / "many").mkdir()
    for number in range(30):
        (ground.project / "many" / f"{number:02}.txt").write_text(f"line {number}\n")
    said = await ground.inspect("grep -r line many")
    assert said == "\n".join(f"many/{n:02}.txt:line {n}" for n in range(30))
    assert await ground.inspect("grep -r nowhere many") == "No matches found."


async def test_search_of_too_much_says_so(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_files, "MOST_ENTRIES", 3)
    assert "too many files" in await ground.inspect("grep -r hello .")


async def test_deep_folders_end_somewhere(ground: Ground) -> None:
    folder = ground.project / "deep"
    folder.mkdir()
    for _ in range(90):
        folder /= "d"
        folder.mkdir()
        (folder / "f").write_text("line\n")
    said = await ground.inspect("grep -rl line deep")
    assert 50 < len(said.split("\n")) < 70
