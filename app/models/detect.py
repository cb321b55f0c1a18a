"""Model servers that run on this machine, found by asking the usual loopback ports."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

HOST: Final = "127.0.0.1"

USUAL_PORTS: Final[Mapping[str, int]] = {
    "Ollama": 11434,
    "llama.cpp": 8080,
    "LM Studio": 1234,
    "vLLM": 8000,
}
"""Program to its default port; another program behind such a port is told by its answer."""

_LARGEST_ANSWER = 256 * 1024
_MOST_MODELS = 200
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A server that listed its models; `name` is the usual owner of the port."""

    name: str
    base_url: str
    models: tuple[str, ...]


async def detect_servers(
    timeout: float = 0.3, ports: Mapping[str, int] = USUAL_PORTS
) -> tuple[FoundServer, ...]:
    """The servers that answer `GET /v1/models` within `timeout` seconds, asked all at once.

    What does not listen, does not answer in time or answers something else is left out.
    """
    tasks = [asyncio.create_task(_ask(name, port)) for name, port in ports.items()]
    try:
        done, _ = await asyncio.wait(tasks, timeout=timeout)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    answers = (task.result() for task in tasks if task in done)
    return tuple(server for server in answers if server is not None)


async def _ask(name: str, port: int) -> FoundServer | None:
    try:
        reader, writer = await asyncio.open_connection(HOST, port)
    except OSError:
        return None
    try:
        # HTTP/1.0, so that the answer is not chunked and the server closes behind it.
        writer.write(f"GET /v1/models HTTP/1.0\r\nHost: {HOST}:{port}\r\n\r\n".encode())
        await writer.drain()
        models = _models(await _answer(reader))
    except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
        return None
    finally:
        writer.close()
    return None if models is None else FoundServer(name, f"http://{HOST}:{port}", models)


async def _answer(reader: asyncio.StreamReader) -> bytes:
    """The body of a 200. Raises ValueError for any other answer or one that is too large."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
    if head[0].split(" ")[1:2] != ["200"]:
        raise ValueError(head[0])
    lengths = [line.partition(":")[2] for line in head if line.startswith("content-length:")]
    if lengths:
        length = int(lengths[0])
        if not 0 <= length <= _LARGEST_ANSWER:
            raise ValueError(length)
        return await reader.readexactly(length)
    body = b""
    while chunk := await reader.read(65_536):
        body += chunk
        if len(body) > _LARGEST_ANSWER:
            raise ValueError(len(body))
    return body


def _models(body: bytes) -> tuple[str, ...] | None:
    """Ids of a model list; None when the answer is none."""
    content: Any = json.loads(body)
    entries: Any = None
    if isinstance(content, dict):
        entries = cast("dict[str, Any]", content).get("data")
    if not isinstance(entries, list):
        return None
    names: list[str] = []
    for entry in cast("list[Any]", entries)[:_MOST_MODELS]:
        name = cast("dict[str, Any]", entry).get("id") if isinstance(entry, dict) else None
        if isinstance(name, str) and name.isprintable() and 0 < len(name) <= _LONGEST_NAME:
            names.append(name)
    return tuple(names)
