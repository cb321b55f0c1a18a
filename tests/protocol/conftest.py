from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from app.credentials import Credentials
from app.models.client import AnthropicProvider
from tests.fakes.clock import FakeClock
from tests.fakes.messages_server import MessagesServer

SECRET = "sk-ant-test-0123456789abcdef"
KEY = Credentials("api_key", SECRET, "test")


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with MessagesServer() as running:
        yield running


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest_asyncio.fixture
async def provider(server: MessagesServer, clock: FakeClock) -> AsyncIterator[AnthropicProvider]:
    made = AnthropicProvider(KEY, clock, server.base_url)
    yield made
    await made.close()
