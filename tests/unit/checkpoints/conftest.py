from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.going_back import GoingBack


@pytest.fixture
def session(tmp_path: Path) -> Iterator[GoingBack]:
    (tmp_path / "project").mkdir()
    made = GoingBack(tmp_path / "project", tmp_path / "data")
    yield made
    made.close()
