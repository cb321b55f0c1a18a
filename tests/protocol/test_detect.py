from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from app.models.detect import FoundServer, detect_servers
from tests.fakes.messages_server import MessagesServer


@asynccontextmanager
async def answering(answer: bytes | None) -> AsyncIterator[int]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        if answer is None:
            await asyncio.Event().wait()
        else:
            writer.write(answer)
        writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield listener.sockets[0].getsockname()[1]
    finally:
        listener.close()


def ok(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\n\r\n" + body


async def test_servers_are_found_with_their_models(server: MessagesServer) -> None:
    port = int(server.base_url.rpartition(":")[2])
    async with answering(
        ok(b'{"data": [{"id": "qwen3"}, {"id": 5}, {"id": "a\\u001bb"}]}')
    ) as other:
        found = await detect_servers(2, {"one": port, "closed": 9, "two": other})
    assert found == (
        FoundServer("one", server.base_url, ("claude-opus-5-5", "claude-haiku-5-5")),
        FoundServer("two", f"http://127.0.0.1:{other}", ("qwen3",)),
    )
    assert server.requests[0].headers.keys() == {"host"}


@pytest.mark.parametrize(
    "answer",
    [
        ok(b"<html>"),
        ok(b"[]"),
        ok(b'{"data": 3}'),
        b"HTTP/1.1 404 Not Found\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n{}",
        ok(b'{"data": [' + b" " * 300_000),
        b"SSH-2.0-OpenSSH_9\r\n",
        b"",
    ],
)
async def test_other_programs_are_left_out(answer: bytes) -> None:
    async with answering(answer) as port:
        assert await detect_servers(2, {"it": port}) == ()


async def test_a_silent_program_costs_only_the_time_limit() -> None:
    async with answering(None) as port:
        started = time.monotonic()
        assert await detect_servers(0.05, {"it": port}) == ()
        assert time.monotonic() - started < 1
