from __future__ import annotations

import os
from pathlib import Path

import pytest

from app import ripgrep
from app.ripgrep import list_files


def test_files_that_are_not_ignored_are_listed(tmp_path: Path) -> None:
    for folder in (".git", "sub", "built"):
        (tmp_path / folder).mkdir()
    for name in (".git/config", "sub/a.txt", "sub/two\nlines", "built/b", ".hidden"):
        (tmp_path / name).write_text("x")
    (tmp_path / ".gitignore").write_text("built\n")
    (tmp_path / "link").symlink_to("sub/a.txt")
    (tmp_path / "folder-link").symlink_to("sub")
    os.mkfifo(tmp_path / "pipe")
    assert set(list_files(tmp_path, 100) or []) == {
        b".gitignore",
        b".hidden",
        b"sub/a.txt",
        b"sub/two\nlines",
    }


def test_an_empty_folder_has_no_files(tmp_path: Path) -> None:
    assert list_files(tmp_path, 100) == []


def test_a_folder_that_is_gone_cannot_be_listed(tmp_path: Path) -> None:
    assert list_files(tmp_path / "gone", 100) is None


def test_a_long_list_is_cut_short(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / f"{number:03}{'x' * 200}").touch()
    listed = list_files(tmp_path, 10)
    assert listed is not None
    assert len(listed) > 10
    assert all(len(name) == 203 for name in listed)
    assert len(list_files(tmp_path, 50) or []) == 50


def test_without_ripgrep_nothing_can_be_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ripgrep, "find_ripgrep", lambda: None)
    assert list_files(tmp_path, 100) is None


def test_a_list_that_takes_too_long_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nprintf 'a\\0'\nexec sleep 60\n")
    slow.chmod(0o700)
    monkeypatch.setattr(ripgrep, "find_ripgrep", lambda: str(slow))
    monkeypatch.setattr(ripgrep, "TIME_LIMIT", 0.05)
    assert list_files(tmp_path, 100) is None


@pytest.mark.parametrize(
    ("script", "listed"),
    [
        ("printf 'a\\0'; exit 2", [b"a"]),
        ("exit 2", None),
        ("printf 'a\\0b'", [b"a"]),
    ],
)
def test_a_folder_that_may_not_be_read_leaves_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, listed: list[bytes] | None
) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    monkeypatch.setattr(ripgrep, "find_ripgrep", lambda: str(program))
    assert list_files(tmp_path, 100) == listed
