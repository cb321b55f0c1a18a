"""Reports that are not sent: exported, discarded, or without a service."""

from __future__ import annotations

import socket
import stat
from asyncio.selector_events import BaseSelectorEventLoop
from pathlib import Path

import pytest
from msgspec.structs import replace

from app.state.facts import FeedbackSeen
from app.state.feedback import Attempt
from tests.fakes.feedback_server import FeedbackServer
from tests.pilot.feedback_stage import MAIL, a_session, draft, review, set_sink


async def test_with_no_service_it_is_told_how_and_the_export_is_offered(tmp_path: Path) -> None:
    async with review(tmp_path, draft()) as seen:
        assert "leaves this machine: nothing, since no service is set" in seen.shown()
        await seen.keys("ctrl+s")
        shown = " ".join(seen.shown().split())
        assert "No service for reports is set" in shown and "Set feedback.sink to http" in shown
        await seen.keys("2", "ctrl+s", "escape", "ctrl+s", "1")
        assert "Export to:" in seen.shown()
        await seen.keys("enter")
        file = tmp_path / "work" / "fb-1.json"
        assert file.read_bytes() == seen.prepared.data
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert "the draft stays" in seen.said() and seen.ids() == ["fb-1"]


async def test_an_export_asks_where_and_overwrites_nothing(tmp_path: Path) -> None:
    work, name = tmp_path / "work", "[b]r \x1b.json"
    async with review(tmp_path, draft()) as seen:
        await seen.keys("x", "escape", "x", "ctrl+u", *"no")
        (work / "no").write_text("mine")
        await seen.keys("enter")
        assert "no exists already." in seen.said() and "Export to:" in seen.shown()
        await seen.keys("ctrl+u", *"~nobody-of-this-name/x", "enter")
        assert "names no folder" in seen.said()
        await seen.keys("ctrl+u")
        seen.screen.line.value = name
        await seen.keys("enter")
        assert (work / "no").read_text() == "mine"
        assert sorted(each.name for each in work.iterdir()) == [name, "no"]
        assert (work / name).read_bytes() == seen.prepared.data
        assert "[b]r ␛.json" in seen.said() and "Export to:" not in seen.shown()


async def test_a_discarded_draft_comes_back_as_it_was(tmp_path: Path) -> None:
    old = draft(2, status="failed", reason="Why.", evidence="e", may_have_arrived=True)
    async with review(tmp_path, draft(1), old, draft(3)) as seen:
        await seen.keys("down", "d")
        assert seen.ids() == ["fb-1", "fb-3"] and "u puts it back" in seen.said()
        assert "Fault 1" in seen.at()
        await seen.keys("u")
        assert seen.disk(2) == old and "Fault 2" in seen.at()
        await seen.keys("u")
        assert len(seen.ids()) == 3


async def test_an_end_that_comes_while_a_file_is_named_asks_nothing(tmp_path: Path) -> None:
    made = a_session(tmp_path)
    async with review(tmp_path, draft(session_id=made.id)) as seen:
        await seen.keys("t", "x")
        attempt = Attempt("fb-1", "failed", "No.", 1, is_too_large=True)
        seen.seen.controller.emit(FeedbackSeen(replace(seen.state, attempt=attempt)))
        await seen.settled()
        await seen.keys("ctrl+u", *"out", "enter")
        assert (tmp_path / "work" / "out").exists()


async def test_a_report_without_a_title_is_not_sent(tmp_path: Path) -> None:
    with FeedbackServer() as server:
        set_sink(tmp_path, "http", server.url)
        async with review(tmp_path, draft(title=" ")) as seen:
            assert "“no title yet”" in seen.at()
            await seen.keys("ctrl+s")
            assert "needs a title" in seen.said() and server.connections == 0


async def test_without_send_no_connection_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[object] = []

    def connect(*args: object) -> None:
        opened.append(args)
        raise OSError("no connection here")

    async def sock_connect(*args: object) -> None:
        connect(*args)

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(BaseSelectorEventLoop, "sock_connect", sock_connect)
    made = a_session(tmp_path)
    set_sink(tmp_path, "http", "http://127.0.0.1:9/in")
    async with review(tmp_path, draft(body=MAIL, session_id=made.id), draft(2)) as seen:
        await seen.keys("down", "p", "p", "p", "s", "space", "escape", "t", "space", "o", "escape")
        await seen.keys("e", "x", "escape", "n", "y", "escape", "x", "enter", "y", "d", "u")
        await seen.keys("f1", "escape", "escape", "f5", "c")
        assert opened == [] and len(seen.ids()) == 3
        await seen.keys("ctrl+s")
        assert await seen.ended() == "failed"
        assert opened and "It could not be reached" in seen.said()


async def test_several_discarded_drafts_come_back_one_after_the_other(tmp_path: Path) -> None:
    async with review(tmp_path, draft(1), draft(2), draft(3)) as seen:
        await seen.keys("d", "d", "u", "u", "u")
        assert seen.ids() == ["fb-1", "fb-2", "fb-3"]
        assert "Nothing was discarded here." in seen.said()


async def test_what_is_put_back_sends_no_other_draft_away(tmp_path: Path) -> None:
    async with review(tmp_path, *(draft(number) for number in range(1, 11))) as seen:
        await seen.keys("d")
        seen.box.add(draft(11))
        await seen.keys("u")
        assert len(seen.ids()) == 10 and "fb-1" in seen.ids()
        assert "10 reports are kept" in seen.said()
        await seen.keys("end", "d", "u", "d", "u")
        assert "fb-1" in seen.ids()


async def test_a_change_from_outside_is_seen_whatever_its_size(tmp_path: Path) -> None:
    async with review(tmp_path, draft(body="1234")) as seen:
        seen.box.change("fb-1", lambda found: replace(found, body="9876"))
        await seen.desk.look()
        await seen.settled()
        assert "9876" in seen.shown() and seen.report["body"] == "9876"


async def test_a_send_key_never_sends_a_draft_that_has_slid_under_the_cursor(
    tmp_path: Path,
) -> None:
    with FeedbackServer() as server:
        set_sink(tmp_path, "http", server.url)
        async with review(tmp_path, draft(1), draft(2)) as seen:
            await seen.keys("ctrl+s")
            assert await seen.ended() == "sent"
            await seen.keys("ctrl+s")
            assert "Another draft is under the cursor now" in seen.said()
            assert (seen.ids(), len(server.requests)) == (["fb-1"], 1)
            await seen.keys("ctrl+s")
            assert await seen.ended(2) == "sent"
