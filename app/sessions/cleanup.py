"""Removes sessions that are older than the person wants to keep (`cleanup_period_days`)."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Collection
from pathlib import Path

from app.sessions.catalogue import is_session_id
from app.sessions.ownership import Holder, own
from app.sessions.trash import empty_trash

_DAY = 86_400
_CUT_OFF = "rewind.json"
"""Beside a session in which a rewind was cut off: files of the project may still be aside."""
BASELINE = "baseline"
"""The folder in a project's data that holds a copy of its files, for what commands change."""


def remove_old_sessions(projects: Path, days: int, keep: Collection[str], now: float) -> int:
    """Remove transcripts last written over `days` days ago, with what lies beside them.

    `keep` names sessions that are in use, `now` is in seconds since the epoch; 0 days = never.
    Only files named by a session id are touched. What lies in the trash goes for good as long
    after it was thrown away. Returns how many sessions were removed.
    """
    if days <= 0:
        return 0
    empty_trash(projects, days, now)
    removed = 0
    for file in projects.glob("*/*.jsonl"):
        if not is_session_id(file.stem) or file.stem in keep or file.is_symlink():
            continue
        with contextlib.suppress(OSError):  # one that cannot be removed stays for the next time
            is_old = now - file.stat().st_mtime > days * _DAY
            if is_old and not (file.with_suffix("") / _CUT_OFF).exists():
                removed += _remove(file)
    for project in projects.glob("*"):
        _remove_baseline(project)
    return removed


def _remove_baseline(project: Path) -> None:
    """Remove the copy of a project's files when no session is left that could need it."""
    with contextlib.suppress(OSError):
        in_use = any(file.suffix in {".jsonl", ".lock"} for file in project.iterdir())
        if not in_use:
            shutil.rmtree(project / BASELINE, ignore_errors=True)


def _remove(file: Path) -> int:
    """Remove one session unless a living process has it open; returns how many went."""
    owner = own(file)
    if isinstance(owner, Holder):
        return 0
    try:
        file.unlink()
        shutil.rmtree(file.with_suffix(""), ignore_errors=True)
    finally:
        owner.release()
    return 1
