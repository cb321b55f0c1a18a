"""kill -9 at 50 moments of a turn: at most the block that was arriving is lost."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from app.installation import Options
from app.paths import Places
from app.sessions.codec import parse_transcript
from app.sessions.graph import open_view
from app.sessions.summary import warnings_of
from tests.fakes.history_rules import history_fault
from tests.fakes.provider import reply
from tests.fakes.stage import SESSION, stage

ROOT = Path(__file__).parents[3]
MOMENTS = 72
"""Events, facts and writes of the whole turn."""
CHOSEN = sorted(random.Random(20261129).sample(range(1, MOMENTS + 1), 50))


def run(folder: Path, *moments: int) -> None:
    words = [sys.executable, "-m", "tests.fakes.killed", str(folder), *map(str, moments)]
    subprocess.run(words, cwd=ROOT, check=True, timeout=100)


def transcript(folder: Path) -> Path:
    return Places(folder / "config", folder / "data", folder / "logs").transcript(
        folder / "work", SESSION
    )


def test_an_undisturbed_turn_has_so_many_moments(tmp_path: Path) -> None:
    run(tmp_path, 0)
    assert int((tmp_path / "0" / "moments").read_text()) == MOMENTS


@pytest.mark.slow
async def test_a_killed_turn_is_gone_on_with(tmp_path: Path) -> None:
    run(tmp_path, *CHOSEN)
    lengths: set[int] = set()
    for moment in CHOSEN:
        folder = tmp_path / str(moment)
        assert not (folder / "moments").exists(), "it was killed"
        file = transcript(folder)
        old = file.read_bytes() if file.exists() else b""
        parsed = parse_transcript(old)
        view = open_view(parsed.records)
        assert warnings_of(parsed, view.graph) == ()
        written = sum(1 for record in parsed.records if record.type == "assistant")
        notes = folder / "notes"
        whole = notes.read_text().count("whole") if notes.exists() else 0
        assert written >= whole - 1, f"moment {moment}"
        lengths.add(len(parsed.records))

        options = Options(resume=file) if old else Options()
        play = await stage(folder, reply("On.", 900), options=options)
        await play.turn("go on")
        assert file.read_bytes().startswith(old)
        messages = play.messages()
        assert history_fault({"messages": messages}) is None
        assert messages[-1]["content"][-1]["text"] == "On."
        if old:
            assert "Look at everything." in str(messages[0])
        results = [tool for record in play.records() for tool in record.tool_results]
        assert len(results) == len(set(results)), "each call has one result"
        await play.runtime.close()
    assert lengths == {0, *range(2, 12)}, "every length but the whole was met"
