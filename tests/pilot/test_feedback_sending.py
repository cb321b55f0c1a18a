from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from app.background.feedback import serve
from app.feedback_desk import FeedbackDesk, Prepared
from tests.fakes.feedback_server import FeedbackServer
from tests.pilot.feedback_stage import MAIL, a_session, draft, review, set_sink
from tests.protocol.feedback_wire import receiver
from widgets.screens.chat import ChatScreen

BUSY = {"status": 429, "headers": {"retry-after": "60"}}
HANGS = {"hang": True}


async def test_what_is_sent_is_what_was_previewed_and_the_draft_is_gone(tmp_path: Path) -> None:
    made = a_session(tmp_path)
    body = f"日本語 \x1b[2J {MAIL} " + "word " * 90
    with receiver(tmp_path / "in") as service:
        set_sink(tmp_path, "http", service.url)
        async with review(tmp_path, draft(body=body, session_id=made.id), draft(2)) as seen:
            await seen.keys("down", "s", "space", "t", "down", "o", "p", "p")
            raw, prepared = seen.rows(), seen.prepared.data
            same = await seen.desk.prepare(
                seen.disk(), seen.screen.messages, seen.screen.choice, seen.screen.restored
            )
            await seen.keys("ctrl+s")
            assert await seen.ended() == "sent"
            received = (tmp_path / "in" / "fb-1.json").read_bytes()
            assert received == raw.encode() == prepared == same.data
            assert MAIL in raw and json.loads(received)["transcript"]["messages"][1]["number"] == 2
            remote = seen.box.sent_reports()[0].remote_id
            assert remote.startswith("FB-") and f"Sent: {remote}." in seen.said()
            assert seen.ids() == ["fb-2"] and "Fault 2" in seen.at()
            assert seen.screen._part == "draft"


async def test_without_t_no_word_of_the_session_leaves(tmp_path: Path) -> None:
    made = a_session(tmp_path)
    with FeedbackServer() as server:
        set_sink(tmp_path, "http", server.url)
        async with review(tmp_path, draft(session_id=made.id)) as seen:
            await seen.keys("t", "t", "ctrl+s")
            assert await seen.ended() == "sent"
        (request,) = server.requests
        assert b"first prompt" not in request.body and "transcript" not in json.loads(request.body)
        assert request.headers["idempotency-key"] == "fb-1"


@pytest.mark.parametrize(
    "status,words",
    [
        (500, "The service said 500."),
        (403, "The token may not send reports there."),
        (413, "The report is too large for it."),
    ],
)
async def test_a_no_keeps_the_draft_and_says_why(tmp_path: Path, status: int, words: str) -> None:
    script = [{"status": status, "body": {"error": "[b]no\x1b[2J\u202e[/b]"}}]
    with FeedbackServer(script) as server:
        set_sink(tmp_path, "http", server.url)
        async with review(tmp_path, draft()) as seen:
            await seen.keys("ctrl+s")
            assert await seen.ended() == "failed"
            assert seen.screen._question is None
            assert words in seen.said() and seen.disk().status == "failed"
            assert seen.at().endswith("queued, failed")
            shown = " ".join(seen.shown().split())
            assert "queued; not sent at" in shown and words in shown
            assert "Its words: [b]no" in shown and not {"\x1b", "\u202e"} & set(shown)
            await seen.keys("escape", "ctrl+s")
            assert await seen.ended(2) == "sent" and seen.ids() == []
        first, second = server.requests
        assert first.body == second.body
        assert first.headers["idempotency-key"] == second.headers["idempotency-key"]


async def test_what_is_too_large_can_go_without_its_transcript(tmp_path: Path) -> None:
    made = a_session(tmp_path)
    with FeedbackServer([{"status": 413}, {"status": 413}]) as server:
        set_sink(tmp_path, "http", server.url)
        async with review(tmp_path, draft(session_id=made.id)) as seen:
            await seen.keys("t", "ctrl+s")
            await seen.ended()
            assert "1 Send without transcript" in seen.shown()
            await seen.keys("2")
            assert seen.screen._question is None and len(server.requests) == 1
            await seen.keys("ctrl+s")
            await seen.ended(2)
            await seen.burst("down", "up", "1")
            assert await seen.ended(3) == "sent"
        bodies = [json.loads(request.body) for request in server.requests]
        assert ["transcript" in body for body in bodies] == [True, True, False]


async def test_a_service_that_asks_to_wait_is_not_asked_before(tmp_path: Path) -> None:
    with FeedbackServer([BUSY]) as server:
        set_sink(tmp_path, "http", server.url)
        async with review(tmp_path, draft()) as seen:
            await seen.keys("ctrl+s")
            assert await seen.ended() == "failed"
            assert "Not before" in " ".join(seen.shown().split())
            seen.seen.pass_time(59)
            await seen.keys("ctrl+s")
            assert await seen.ended(2) == "refused"
            assert "The service asked to wait" in seen.said() and len(server.requests) == 1
            assert seen.disk().status == "failed"
            seen.seen.pass_time(2)
            await seen.keys("ctrl+s")
            assert await seen.ended(3) == "sent"


async def test_what_may_have_arrived_goes_again_only_by_a_word(tmp_path: Path) -> None:
    made = {"status": 201, "body": {"number": 7, "html_url": "https://git.invalid/7"}}
    with FeedbackServer([{"cut": True}, made]) as server:
        set_sink(tmp_path, "github", f"http://127.0.0.1:{server.port}/shop/shop")
        async with review(tmp_path, draft()) as seen:
            await seen.keys("ctrl+s")
            assert await seen.ended() == "unclear"
            assert seen.at().endswith("queued, unclear")
            assert "It may have arrived all the same." in seen.said()
            await seen.keys("ctrl+s")
            assert await seen.ended(2) == "refused"
            assert "1 Send again" in seen.shown() and "2 Leave it" in seen.shown()
            await seen.keys("x", "d", "2")
            assert len(server.requests) == 1 and seen.ids() == ["fb-1"]
            await seen.keys("ctrl+s")
            await seen.ended(3)
            await seen.keys("enter")
            assert await seen.ended(4) == "sent"
            assert "Sent: https://git.invalid/7." in seen.said()
        assert len(server.requests) == 2


async def test_a_cut_connection_to_a_service_that_knows_the_report_needs_no_word(
    tmp_path: Path,
) -> None:
    with FeedbackServer([{"cut": True}]) as server:
        set_sink(tmp_path, "http", server.url)
        async with review(tmp_path, draft()) as seen:
            await seen.keys("ctrl+s")
            assert await seen.ended() == "failed"
            assert "It may have arrived all the same." in seen.disk().reason
            await seen.keys("ctrl+s")
            assert await seen.ended(2) == "sent"


async def test_keys_that_come_at_once_act_on_the_draft_under_the_cursor(tmp_path: Path) -> None:
    with FeedbackServer() as server:
        set_sink(tmp_path, "http", server.url)
        async with review(tmp_path, *(draft(number) for number in range(1, 6))) as seen:
            await seen.burst("down", "d", "d", "u", "down", "ctrl+s", "ctrl+s")
            assert await seen.ended() == "sent"
            assert seen.ids() == ["fb-1", "fb-3", "fb-5"]
        assert [request.headers["idempotency-key"] for request in server.requests] == ["fb-2"]


class Slow:
    """The desk prepares nothing until it is let."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.may_go = asyncio.Event()
        real = FeedbackDesk.prepare

        async def prepare(desk: FeedbackDesk, *args: Any) -> Prepared:
            await self.may_go.wait()
            return await real(desk, *args)

        monkeypatch.setattr(FeedbackDesk, "prepare", prepare)


@pytest.mark.parametrize("key", ["", "z", "p", "down", "e", "click", "ctrl+s"])
async def test_what_is_still_being_prepared_is_sent_then_unless_another_key_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    slow = Slow(monkeypatch)
    with FeedbackServer() as server:
        set_sink(tmp_path, "http", server.url)
        async with review(tmp_path, draft(1), draft(2), opened=False) as seen:
            await seen.seen.pilot.press("f5")
            while seen.screen._draft is None:
                await seen.seen.pilot.pause()
            await seen.seen.pilot.press("ctrl+s")
            if key == "click":
                await seen.seen.pilot.click("#feedback-list", offset=(5, 1))
            elif key:
                await seen.seen.pilot.press(key)
            assert "preparing" in seen.shown() or key == "e"
            slow.may_go.set()
            await seen.settled()
            if key in {"", "ctrl+s"}:
                assert await seen.ended() == "sent"
            assert seen.state.sending is None
        assert len(server.requests) == (key in {"", "ctrl+s"})


async def test_a_hanging_send_is_stopped_by_c_and_only_one_goes_at_a_time(tmp_path: Path) -> None:
    with FeedbackServer([HANGS]) as server:
        set_sink(tmp_path, "http", server.url)
        async with review(tmp_path, draft(1), draft(2)) as seen:
            await seen.keys("ctrl+s")
            await asyncio.to_thread(server.arrived.wait, 10)
            await seen.settled()
            assert "sending 100 %" in seen.at() and "c Stop sending" in seen.shown()
            await seen.keys("e", "d")
            assert not seen.screen._is_editing and "It is being sent right now" in seen.said()
            assert "is being sent by another process" in seen.said()
            await seen.keys("down", "ctrl+s")
            assert "Another report is being sent" in seen.said()
            await seen.keys("c")
            assert await seen.ended() == "aborted"
            assert seen.disk(2).status == "failed" and seen.disk(2).may_have_arrived
            assert "The attempt was cancelled." in seen.said() and len(server.requests) == 1
            await seen.keys("c", "ctrl+s")
            assert await seen.ended(2) == "sent" and seen.ids() == ["fb-2"]


async def test_stopping_before_a_byte_has_left_stops_it(tmp_path: Path) -> None:
    with FeedbackServer() as server:
        set_sink(tmp_path, "http", server.url)
        async with review(tmp_path, draft()) as seen:
            seen.desk.send(seen.prepared)
            seen.desk.stop()
            await seen.until(lambda feedback: feedback.sending is None)
            assert seen.disk().status == "queued" and server.requests == []
            await seen.keys("ctrl+s")
            assert await seen.ended() == "sent"


async def test_closing_the_screen_stops_no_send(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_go, real = threading.Event(), serve.create_private

    def create(file: Path, data: bytes) -> None:
        may_go.wait(10)
        real(file, data)

    monkeypatch.setattr(serve, "create_private", create)
    with receiver(tmp_path / "in") as service:
        set_sink(tmp_path, "http", service.url)
        async with review(tmp_path, draft()) as seen:
            await seen.keys("ctrl+s", "escape")
            assert isinstance(seen.seen.app.screen, ChatScreen) and seen.state.sending is not None
            may_go.set()
            await seen.until(lambda feedback: feedback.sending is None and feedback.attempt)
            assert "Sent: FB-" in seen.said() and seen.ids() == []
            await seen.keys("f5")
            assert "No report waits." in seen.shown()


async def test_leaving_the_app_keeps_what_was_on_its_way(tmp_path: Path) -> None:
    with FeedbackServer([HANGS]) as server:
        set_sink(tmp_path, "http", server.url)
        async with review(tmp_path, draft()) as seen:
            await seen.keys("ctrl+s")
            await asyncio.to_thread(server.arrived.wait, 10)
            await seen.seen.pilot.press("ctrl+q")
        assert seen.disk().status == "failed" and seen.disk().may_have_arrived


async def test_a_draft_that_is_gone_is_neither_shown_nor_sent(tmp_path: Path) -> None:
    with FeedbackServer() as server:
        set_sink(tmp_path, "http", server.url)
        async with review(tmp_path, draft(1), draft(2), draft(3)) as seen:
            seen.box.discard("fb-2")
            await seen.burst("down", "ctrl+s")
            assert "There is no draft fb-2." in seen.said()
            assert seen.state.sending is None and server.requests == []
            assert "Fault 1" in seen.at() and len(seen.state.drafts) == 2


async def test_a_draft_that_was_changed_elsewhere_is_not_sent_as_it_was(tmp_path: Path) -> None:
    with FeedbackServer() as server:
        set_sink(tmp_path, "http", server.url)
        async with review(tmp_path, draft()) as seen:
            seen.box.change("fb-1", lambda found: replace(found, body="Other words."))
            await seen.keys("ctrl+s")
            assert await seen.ended() == "refused"
            assert "was changed since it was shown" in seen.said() and server.requests == []
            assert "Other words." in seen.screen.editor.text
            await seen.keys("ctrl+s")
            assert await seen.ended(2) == "sent"
        assert b"Other words." in server.requests[0].body
