"""Real processes writing one document, killed at any moment."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.cli.runner import ROOT
from tests.fakes.writing_memory import END, documents_in


def test_every_acknowledged_write_of_20_processes_is_kept(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.fakes.writing_memory", str(tmp_path), "20", "6"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    acknowledged = done.stdout.splitlines()
    assert len(acknowledged) >= 13 * 6 + 7
    documents = documents_in(tmp_path)
    documents.settle()
    lines = documents.read("MEMORY.md").text.splitlines()
    assert set(acknowledged) <= set(lines)
    assert len(lines) == len(set(lines))
    assert all(line.endswith(f" {END}") for line in lines)
    changes = [*reversed(documents.history("MEMORY.md"))]
    assert {change.author.who for change in changes} == {"assistant"}
    texts = [documents.store.text_of(change.after or "").decode() for change in changes]
    for before, after in zip(["", *texts[:-1]], texts, strict=True):
        assert after.startswith(before)
        assert after.removeprefix(before).count("\n") == 1
    assert texts[-1] == documents.read("MEMORY.md").text
    assert [path.name for path in (tmp_path / "memory").iterdir()] == ["MEMORY.md"]
    assert not (tmp_path / "history" / "pending").exists()
