from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from app.installation import Options
from app.models.errors import LocalModelMissing
from app.models.local import LocalProvider, find_weights
from app.models.retry import RetryPolicy, stream_with_retry
from tests.fakes.background import background
from tests.fakes.clock import FakeClock
from tests.fakes.stage import until
from tests.protocol.asking import collect, request

try:
    find_weights()
    MISSING = ""
except LocalModelMissing as error:
    MISSING = str(error)

pytestmark = [pytest.mark.skipif(bool(MISSING), reason=MISSING), pytest.mark.slow]


@pytest_asyncio.fixture
async def local(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LocalProvider]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-must-not-be-inherited")
    made = LocalProvider(FakeClock(), threads=1)
    yield made
    await made.close()


def children() -> list[psutil.Process]:
    found: list[psutil.Process] = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if "app.models.local_server" in process.cmdline():
                found.append(process)
    return found


async def test_the_small_model_chats_and_leaves_nothing_behind(local: LocalProvider) -> None:
    history = (
        {"role": "user", "content": [{"type": "text", "text": "List the files."}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "tool_use", "id": "t1", "name": "LS", "input": {"path": "."}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "README.md"},
                {"type": "text", "text": "Say hello."},
            ],
        },
    )
    outcome = await collect(
        local.stream(request(model="local", messages=history, max_tokens=16, thinking="adaptive"))
    )
    assert outcome.error is None
    assert outcome.text.strip()
    assert outcome.end.stop_reason in {"end_turn", "max_tokens"}
    assert 0 < outcome.end.usage.output <= 16
    assert not (await local.count_tokens(request("hi"))).estimated
    (child,) = children()
    assert "ANTHROPIC_API_KEY" not in child.environ()
    await local.close()
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE
    assert children() == []


async def test_a_dead_server_is_started_again(local: LocalProvider) -> None:
    await local.warm()
    (child,) = children()
    child.kill()
    hello = request("hi", model="local", max_tokens=4)
    again = stream_with_retry(local, hello, RetryPolicy(), FakeClock(), lambda: False)
    outcome = await collect(again)
    assert outcome.error is None
    assert child not in children()


def test_the_server_ends_with_its_input() -> None:
    command = [sys.executable, "-m", "app.models.local_server", str(find_weights()), "512", "1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        assert json.loads(child.stdout.readline())["url"].startswith("http://127.0.0.1:")
        child.stdin.close()
        assert child.wait(5) == 0


def test_the_server_reports_why_it_cannot_start() -> None:
    command = [sys.executable, "-m", "app.models.local_server", "/nowhere.gguf", "512", "1"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 1
    assert "error" in json.loads(done.stdout)


async def test_a_call_beside_the_conversation_reads_its_cache(
    local: LocalProvider, tmp_path: Path
) -> None:
    provider = await local._served()
    options = Options(tools=("Read",))
    async with background(tmp_path, provider=provider, options=options) as desk:
        loop = desk.background._scene.loop()
        loop.caller.max_tokens = 12
        await desk.controller.submit("Name a fruit.")
        await until(desk.controller.store, lambda s: s.live.turn_id is None and s.live.last)
        prefix = desk.state.limits.usage.whole_input
        assert prefix > 300
        await desk.background.recap()
        (spend,) = desk.state.background.spend
        assert spend.usage.cache_read >= 0.9 * prefix
        assert spend.usage.cache_write == 0
