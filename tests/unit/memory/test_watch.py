"""Waking up when memory may have changed, where the system cannot say so."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
import watchfiles
from watchfiles._rust_notify import WatchfilesRustInternalError

from app.memory.watch import UNWATCHED, changes_of
from tests.fakes.clock import FakeClock


@pytest.mark.parametrize(
    "error", [OSError(28, "OS file watch limit reached"), WatchfilesRustInternalError("too many")]
)
async def test_without_watches_one_looks_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    async def none_to_spare(*_: Any, **__: Any) -> AsyncGenerator[Any, None]:
        raise error
        yield  # makes it a generator

    monkeypatch.setattr(watchfiles, "awatch", none_to_spare)
    clock = FakeClock()
    seen = 0
    async with aclosing(changes_of(tmp_path, clock)) as changes:
        async for _ in changes:
            seen += 1
            if seen == 3:
                break
    assert clock.slept == [UNWATCHED] * 2
