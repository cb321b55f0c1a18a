from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from app.git import git_branch, git_root, tracked_files


def run_git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def test_outside_of_git_there_is_nothing(tmp_path: Path) -> None:
    assert git_root(tmp_path / "missing") is None
    assert git_branch(tmp_path) == ""


def test_the_branch_is_read_from_the_files(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    (repo / "deep").mkdir(parents=True)
    run_git(repo, "init", "-b", "main")
    assert git_root(repo / "deep") == repo
    assert git_branch(repo / "deep") == "main"
    run_git(repo, "commit", "--allow-empty", "-m", "one")
    run_git(repo, "worktree", "add", "-b", "feature/x", str(tmp_path / "tree"))
    assert git_branch(tmp_path / "tree") == "feature/x"
    run_git(repo, "checkout", "--detach")
    assert git_branch(repo) == "HEAD"


def test_a_damaged_repository_has_no_branch(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert git_branch(tmp_path) == ""
    other = tmp_path / "other"
    other.mkdir()
    (other / ".git").write_text("gitdir: ../nowhere\n")
    assert git_branch(other) == ""


def test_a_pipe_in_place_of_head_holds_nothing_up(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".git" / "HEAD")
    assert git_branch(tmp_path) == ""


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_the_files_that_git_tracks_are_read_from_its_index(tmp_path: Path, version: str) -> None:
    run_git(tmp_path, "init")
    run_git(tmp_path, "config", "index.version", version)
    names = {"a.txt", "deep/er/long name \u00e9", "deep/er/long name \u00e9 2", "kept.log"}
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "link").symlink_to("a.txt")
    run_git(tmp_path, "add", "-f", *names, "link")
    (tmp_path / "other.log").write_text("ignored")
    if version == "3":
        (tmp_path / "later").write_text("x")
        run_git(tmp_path, "add", "-N", "later")
        names.add("later")
    assert tracked_files(tmp_path) == {os.fsencode(name) for name in names}
    run_git(tmp_path, "rm", "-f", "a.txt")
    assert b"a.txt" not in tracked_files(tmp_path)


def test_an_index_of_somebody_else_names_nothing_outside(tmp_path: Path) -> None:
    run_git(tmp_path, "init")
    (tmp_path / "abcdefgh").write_text("x")
    (tmp_path / "b").write_text("x")
    run_git(tmp_path, "add", ".")
    index = tmp_path / ".git" / "index"
    index.write_bytes(index.read_bytes().replace(b"abcdefgh", b"../../ab"))
    assert tracked_files(tmp_path) == {b"b"}
    whole = index.read_bytes()
    for length in range(0, len(whole), 7):
        index.write_bytes(whole[:length])
        assert tracked_files(tmp_path) <= {b"b"}
    assert tracked_files(tmp_path / "none") == frozenset()
