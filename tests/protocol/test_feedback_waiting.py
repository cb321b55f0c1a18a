"""A send beside everything else: it blocks nothing, and a cancel finds it at any point."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.background.feedback.sinks import Failed, FileSink, Sent
from app.storage.file_lock import locked
from tests.fakes.feedback_server import FeedbackServer
from tests.protocol.feedback_wire import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def longest_stall(until: asyncio.Task[Any]) -> float:
    longest = 0.0
    while not until.done():
        start = time.monotonic()
        await asyncio.sleep(0.01)
        longest = max(longest, time.monotonic() - start)
    return longest


async def test_a_lock_that_another_process_holds_stops_no_other_work(desk: Desk) -> None:
    with FeedbackServer([{"status": 500}]) as server:
        with locked(desk.box.folder / ".lock"):
            sending = asyncio.create_task(desk.send(desk.http(server.url)))
            stall = asyncio.create_task(longest_stall(sending))
            await asyncio.sleep(1.0)
            assert server.connections == 0
        assert isinstance(await sending, Failed)
    assert await stall < 0.5


async def test_a_cancel_while_it_waits_for_the_lock_is_heard_at_once(desk: Desk) -> None:
    before = desk.draft
    with FeedbackServer() as server:
        with locked(desk.box.folder / ".lock"):
            sending = asyncio.create_task(desk.send(desk.http(server.url)))
            await asyncio.sleep(0.3)
            sending.cancel()
            start = time.monotonic()
            with pytest.raises(asyncio.CancelledError):
                await sending
            assert time.monotonic() - start < 1
        await asyncio.sleep(0.3)  # the thread gets its lock now
        assert (desk.draft, server.connections) == (before, 0)
        assert await desk.send(desk.http(server.url)) == Sent("FB-OK")


class Gate:
    """Holds a call of the outbox up until it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, desk: Desk, name: str) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()
        real: Callable[..., Any] = getattr(desk.box, name)

        def slow(*arguments: Any) -> Any:
            self.reached.set()
            self.opened.wait(10)
            return real(*arguments)

        monkeypatch.setattr(desk.box, name, slow)


async def test_a_cancel_while_it_is_marked_takes_the_mark_back(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = desk.draft
    gate = Gate(monkeypatch, desk, "_write")
    with FeedbackServer() as server:
        sending = asyncio.create_task(desk.send(desk.http(server.url)))
        assert await asyncio.to_thread(gate.reached.wait, 5)
        sending.cancel()
        await asyncio.sleep(0.05)
        sending.cancel()
        gate.opened.set()
        with pytest.raises(asyncio.CancelledError):
            await sending
        assert (desk.draft, server.connections) == (before, 0)
        assert await desk.send(desk.http(server.url)) == Sent("FB-OK")


async def test_a_cancel_after_the_answer_is_too_late(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(monkeypatch, desk, "sent")
    with FeedbackServer() as server:
        sending = asyncio.create_task(desk.send(desk.http(server.url)))
        assert await asyncio.to_thread(gate.reached.wait, 5)
        sending.cancel()
        await asyncio.sleep(0.05)
        gate.opened.set()
        assert await sending == Sent("FB-OK")
    assert desk.box.listing().drafts == ()
    assert [report.id for report in desk.box.sent_reports()] == ["fb-1"]


@pytest.mark.parametrize("has_begun", [True, False])
async def test_a_cancel_says_whether_a_byte_may_have_left(desk: Desk, has_begun: bool) -> None:
    is_there = asyncio.Event()

    class Slow(FileSink):
        async def send(self, payload: Any, progress: Any, key: str) -> Any:
            if has_begun:
                progress(0, 1)
            is_there.set()
            await asyncio.sleep(10)

    sending = asyncio.create_task(desk.send(Slow(desk.box.folder / "x")))
    await is_there.wait()
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending
    assert desk.draft.may_have_arrived is has_begun
    words = "may have arrived" if has_begun else "Nothing left this machine"
    assert desk.draft.reason.startswith("The attempt was cancelled.")
    assert words in desk.draft.reason


async def test_a_cancel_that_cannot_be_noted_is_still_a_cancel(desk: Desk) -> None:
    aside = desk.box.folder.with_name("aside")

    class Breaking(FileSink):
        async def send(self, payload: Any, progress: Any, key: str) -> Any:
            progress(0, 1)
            desk.box.folder.rename(aside)
            desk.box.folder.write_text("in the way")
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await desk.send(Breaking(aside / "x"))
    desk.box.folder.unlink()
    aside.rename(desk.box.folder)
    (kept,) = desk.box.listing().drafts
    assert (kept.status, kept.may_have_arrived) == ("failed", True)


async def test_a_cancel_in_the_handshake_leaves_no_doubt(desk: Desk) -> None:
    with FeedbackServer([{"early": True, "hang": True}]) as server:
        sink = desk.github(server.url.replace("http:", "https:").removesuffix("/reports"))
        sending = asyncio.create_task(desk.send(sink))
        assert await asyncio.to_thread(server.connected.wait, 5)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
    assert (desk.draft.status, desk.draft.may_have_arrived) == ("failed", False)
