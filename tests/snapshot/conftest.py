from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
import pytest_textual_snapshot
from syrupy.location import PyTestLocation

TOP = Path(__file__).parents[2] / "snapshots"


class TopLevelImages(pytest_textual_snapshot.SVGImageExtension):
    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        return str(TOP / Path(test_location.filepath).stem)


@pytest.fixture(autouse=True)
def pinned_world(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pytest_textual_snapshot, "SVGImageExtension", TopLevelImages)
    for name in ("NO_COLOR", "COLORTERM", "TEXTUAL_THEME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TZ": "UTC", "HOME": "/home/you", "TERM": "xterm-256color"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setitem(os.environ, "TEXTUAL_ANIMATIONS", "none")
    time.tzset()
