from __future__ import annotations

import os
import uuid
from pathlib import Path

from app.sessions.cleanup import remove_old_sessions
from app.sessions.ownership import Ownership, own

NOW = 1_800_000_000.0
DAY = 86_400


def session(projects: Path, days: float) -> Path:
    file = projects / "p" / f"{uuid.uuid4()}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("{}\n")
    (file.with_suffix("") / "tool-results").mkdir(parents=True)
    os.utime(file, (NOW - days * DAY, NOW - days * DAY))
    return file


def test_only_old_sessions_that_nobody_uses_go(tmp_path: Path) -> None:
    old, young, kept, held = (session(tmp_path, days) for days in (31, 29, 90, 90))
    notes = tmp_path / "p" / "notes.jsonl"
    notes.write_text("mine")
    os.utime(notes, (0, 0))
    owner = own(held)
    assert isinstance(owner, Ownership)
    assert remove_old_sessions(tmp_path, 30, {kept.stem}, NOW) == 1
    assert not old.exists() and not old.with_suffix("").exists()
    assert all(file.exists() for file in (young, kept, held, notes))
    owner.release()
    assert not list(tmp_path.glob("p/*.lock"))


def test_zero_days_keep_everything(tmp_path: Path) -> None:
    file = session(tmp_path, 900)
    assert remove_old_sessions(tmp_path, 0, (), NOW) == 0
    assert file.exists()


def test_the_copy_of_a_projects_files_goes_with_its_last_session(tmp_path: Path) -> None:
    old, young = session(tmp_path, 31), session(tmp_path, 1)
    baseline = tmp_path / "p" / "baseline"
    baseline.mkdir()
    remove_old_sessions(tmp_path, 30, (), NOW)
    assert baseline.exists() and not old.exists()
    os.utime(young, (0, 0))
    owner = own(tmp_path / "p" / "new.jsonl")
    assert isinstance(owner, Ownership)
    remove_old_sessions(tmp_path, 30, (), NOW)
    assert baseline.exists(), "a session that has no transcript yet is open"
    owner.release()
    remove_old_sessions(tmp_path, 30, (), NOW)
    assert not baseline.exists()
