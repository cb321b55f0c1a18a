from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.runner import Cli
from tests.fakes.messages_server import MessagesServer


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with MessagesServer() as running:
        yield running


@pytest.fixture
def cli(tmp_path: Path, server: MessagesServer) -> Cli:
    return Cli(tmp_path, server.base_url)


@pytest.fixture
def offline(tmp_path: Path) -> Cli:
    """Without a server and without a key."""
    return Cli(tmp_path, None)
