from __future__ import annotations

import os
import subprocess
from pathlib import Path

from app.git import git_branch, git_root


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
