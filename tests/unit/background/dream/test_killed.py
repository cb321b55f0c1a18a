"""A dream that is killed at any step leaves all of it or nothing, and the next one works."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.background.dream.lock import lock_words
from app.background.dream.publish import settled
from app.background.dream.record import DreamLog
from app.clock import SystemClock
from tests.cli.runner import ROOT
from tests.fakes.dying_dream import (
    AFTER,
    BEFORE,
    documents_in,
    dreamer_in,
    place_in,
    prepare,
    texts,
)

KILLS = int(os.environ.get("REVERIE_KILLS", "16"))
"""How many moments; 100 by hand."""


def dream_in(folder: Path, fatal: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.fakes.dying_dream", str(folder), str(fatal)]
    return subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )


@pytest.mark.slow
async def test_all_or_nothing_at_any_step(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    prepare(whole)
    done = dream_in(whole, 0)
    assert done.returncode == 0, done.stderr
    assert texts(whole) == AFTER
    steps = int(done.stdout)
    outcomes: set[bool] = set()
    for number in range(KILLS):
        fatal = 1 + number * (steps - 1) // max(KILLS - 1, 1)
        folder = tmp_path / f"killed-{fatal}"
        folder.mkdir()
        prepare(folder)
        killed = dream_in(folder, fatal)
        assert killed.returncode == -9, (fatal, killed.stderr)
        documents = documents_in(folder)
        documents.settle()
        now = texts(folder)
        assert now in (BEFORE, AFTER), fatal
        outcomes.add(now == AFTER)
        log = DreamLog(place_in(folder).dreams)
        states = [settled(each, documents).status for each in log.all()]
        assert states in ([], ["completed"], ["held"]), (fatal, states)
        assert ("completed" in states) is (now == AFTER) or now == AFTER
        assert lock_words(folder / "memory", SystemClock()) == ""
        documents.store.close()
        if now == BEFORE:
            made = await dreamer_in(folder).dream(["s1"])
            assert made.status == "completed" and texts(folder) == AFTER
        left = [path.name for path in (folder / "memory").rglob(".reverie-*")]
        assert left == [] or now == AFTER
        await asyncio.sleep(0)
    assert outcomes == {True, False}
