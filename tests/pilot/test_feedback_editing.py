from __future__ import annotations

import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from textual import events

from app.background.feedback.drafts import MOST_BYTES, Draft
from app.background.feedback.outbox import Outbox
from tests.fakes.clock import ManualClock
from tests.fakes.feedback_server import FeedbackServer
from tests.pilot.feedback_stage import MAIL, Review, draft, review, set_sink
from widgets.screens.chat import ChatScreen
from widgets.screens.dialogs.help import HelpScreen
from widgets.screens.feedback_editing import PAUSE

LONG = "line of the report\n" * 2_000


async def paste(seen: Review, text: str) -> None:
    seen.seen.app.post_message(events.Paste(text))
    await seen.settled()


async def test_what_is_typed_is_on_disk_when_the_editor_is_left(tmp_path: Path) -> None:
    async with review(tmp_path, draft(evidence="the log, line 3")) as seen:
        await seen.keys("e", *"Big ")
        assert "line 1, column 5" in seen.shown() and "the first line is the title" in seen.shown()
        assert "ctrl+e $EDITOR" in seen.shown() and "esc Done" in seen.shown()
        await seen.keys("down", "down", "end", "!", "escape")
        found = seen.disk()
        assert (found.title, found.body) == ("Big Fault 1", "The list was empty.!")
        assert found.evidence == "the log, line 3" and "Big Fault 1" in seen.at()
        assert seen.report["title"] == "Big Fault 1"
        await seen.keys("enter", "ctrl+end", "enter", "x", "ctrl+s")
        assert seen.disk().evidence == "the log, line 3\nx"


async def test_ctrl_s_in_the_editor_only_leaves_it(tmp_path: Path) -> None:
    with FeedbackServer() as server:
        set_sink(tmp_path, "http", server.url)
        async with review(tmp_path, draft()) as seen:
            await seen.keys("e", "x", "ctrl+s")
            assert seen.disk().title == "xFault 1" and not seen.screen._is_editing
            assert seen.state.sending is None and server.connections == 0


async def test_what_is_typed_is_kept_in_a_moment_however_fast_it_goes_on(tmp_path: Path) -> None:
    async with review(tmp_path, draft()) as seen:
        clock = ManualClock()
        seen.screen._clock = clock
        await seen.seen.pilot.press("e", "x")
        await clock.pass_time(PAUSE - 0.1)
        await seen.seen.pilot.press("y")
        assert seen.disk().title == "Fault 1" and seen.screen._prepared is None
        await clock.pass_time(0.1)
        await seen.settled()
        assert seen.disk().title == "xyFault 1" and seen.screen._is_editing
        await seen.seen.pilot.press("z")
        await clock.pass_time(PAUSE)
        await seen.settled()
        assert seen.disk().title == "xyzFault 1"
        assert "xyzFault 1" in seen.at()


async def test_an_older_text_never_overtakes_a_newer_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, may_go, real = threading.Event(), threading.Event(), Outbox.change

    def change(box: Outbox, *args: Any) -> Draft:
        if not began.is_set():
            began.set()
            may_go.wait(10)
        return real(box, *args)

    monkeypatch.setattr(Outbox, "change", change)
    async with review(tmp_path, draft()) as seen:
        await seen.seen.pilot.press("e", "x")
        while not began.is_set():
            await seen.seen.pilot.pause()
        for key in ("y", "escape"):
            seen.seen.app.post_message(events.Key(key, key))
        await seen.seen.pilot.pause()
        may_go.set()
        await seen.settled()
        assert seen.disk().title == "xyFault 1" and "xyFault 1" in seen.at()


async def test_keys_typed_at_once_go_to_the_editor_in_their_order(tmp_path: Path) -> None:
    async with review(tmp_path, draft(), draft(2)) as seen:
        await seen.seen.pilot.press("e", "x", "y")
        await seen.burst("d", "p", "escape", "down", "e", *"npd", "escape", "up")
        assert seen.disk(2).title == "xydpFault 2" and seen.disk(1).title == "npdFault 1"
        assert "xydpFault 2" in seen.at()


async def test_a_report_of_ones_own_is_begun_and_typed_at_once(tmp_path: Path) -> None:
    async with review(tmp_path, draft()) as seen:
        await seen.burst("n", *"new one", "enter", "enter", *"body", "escape", "down", "up")
        (found,) = (each for each in seen.box.listing().drafts if each.id != "fb-1")
        assert (found.title, found.body) == ("new one", "body")
        assert found.session_id == seen.seen.state.session.session_id
        assert "“new one”" in seen.at()


async def test_a_report_into_which_nothing_was_typed_leaves_no_draft(tmp_path: Path) -> None:
    async with review(tmp_path, draft()) as seen:
        await seen.burst("n", "escape")
        assert seen.ids() == ["fb-1"] and "Fault 1" in seen.screen.editor.text
        await seen.keys("n", "x", "backspace", "escape")
        assert len(seen.ids()) == 2 and "“no title yet”" in seen.at()


async def test_a_new_report_pushes_no_other_out(tmp_path: Path) -> None:
    async with review(tmp_path, *(draft(number) for number in range(1, 11))) as seen:
        await seen.keys("n")
        assert "10 reports are kept. Send or discard one first." in seen.said()
        assert len(seen.ids()) == 10 and seen.disk()


async def test_hidden_characters_and_line_ends_outlive_an_edit(tmp_path: Path) -> None:
    body = "a\r\nb \x1b[31m\r\n\u202ec\u2028d\x85"
    async with review(tmp_path, draft(body=body, evidence="e\r\nf")) as seen:
        await seen.keys("e")
        assert "␛[31m" in seen.shown() and not {"\x1b", "\u202e", "\r"} & set(seen.shown())
        await seen.keys("x", "escape")
        found = seen.disk()
        assert (found.title, found.body, found.evidence) == ("xFault 1", body, "e\r\nf")


async def test_looking_into_the_editor_changes_nothing(tmp_path: Path) -> None:
    async with review(tmp_path, draft(title="two\nlines", body="\x1b\r\n", evidence="\n")) as seen:
        before = seen.disk()
        await seen.keys("e", "down", "end", "escape")
        assert seen.disk() == before


async def test_a_secret_that_was_typed_after_the_preview_does_not_leave(tmp_path: Path) -> None:
    with FeedbackServer() as server:
        set_sink(tmp_path, "http", server.url)
        async with review(tmp_path, draft()) as seen:
            await seen.keys("p", "escape", "e", "down")
            await paste(seen, f"{MAIL} ")
            await seen.burst("escape", "ctrl+s")
            assert await seen.ended() == "sent"
        assert MAIL.encode() not in server.requests[0].body
        assert b"[redacted: e-mail address]" in server.requests[0].body


@pytest.mark.parametrize("answer", ["1", "escape", "2", "3"])
async def test_a_report_that_got_too_large_cannot_be_left_but_is_not_lost(
    tmp_path: Path, answer: str
) -> None:
    async with review(tmp_path, draft()) as seen:
        await seen.keys("e", "down")
        await paste(seen, LONG)
        assert f"the limit is {MOST_BYTES}" in seen.shown() and "not kept" in seen.shown()
        await seen.keys("escape")
        assert all(words in seen.shown() for words in ("1 Go on editing", "2 Put aside", "3 Drop"))
        await seen.keys("x", "d", "ctrl+s", answer)
        assert seen.disk() == draft() and seen.screen._question is None
        if answer in {"1", "escape"}:
            assert seen.screen._is_editing
            await seen.keys("ctrl+z", "z", "escape")
            assert seen.disk().title == "Fault 1" and seen.disk().body.startswith("z")
            return
        assert not seen.screen._is_editing and "The list was empty." in seen.shown()
        asides = list(seen.box.folder.glob("*.txt"))
        assert len(asides) == (answer == "2")
        for file in asides:
            assert LONG in file.read_text() and stat.S_IMODE(file.stat().st_mode) == 0o600
            assert file.name in seen.said()


async def test_a_draft_that_another_process_has_discarded_can_be_put_aside(tmp_path: Path) -> None:
    async with review(tmp_path, draft(), draft(2)) as seen:
        await seen.keys("e")
        seen.box.discard("fb-2")
        await seen.keys("x", "escape")
        assert "There is no draft fb-2." in seen.shown()
        await seen.keys("2")
        (file,) = seen.box.folder.glob("fb-2*.txt")
        assert file.read_text().startswith("xFault 2")
        assert "Fault 1" in seen.screen.editor.text and seen.ids() == ["fb-1"]


async def test_a_draft_that_another_process_sends_waits_for_its_end(tmp_path: Path) -> None:
    async with review(tmp_path, draft()) as seen:
        await seen.keys("e")
        with seen.box.sending("fb-1", found_sending):
            await seen.keys("x", "escape")
            assert "is being sent by another process" in seen.shown()
            await seen.keys("ctrl+q", "1")
            assert seen.screen._is_editing
        await seen.keys("escape")
        assert seen.disk().title == "xFault 1" and not seen.screen._is_editing


def found_sending(found: Draft) -> Draft:
    return Draft(**{**{name: getattr(found, name) for name in found.__struct_fields__},
                    "status": "sending"})  # fmt: skip


async def test_where_nothing_can_be_written_the_editor_is_no_trap(tmp_path: Path) -> None:
    async with review(tmp_path, draft()) as seen:
        (seen.box.folder / ".lock").unlink()
        (seen.box.folder / ".lock").mkdir()
        await seen.keys("e", "x")
        assert "not kept" in seen.shown() and seen.screen._unkept.endswith("free space.")
        await seen.keys("escape", "3", "escape", "escape")
        assert isinstance(seen.seen.app.screen, ChatScreen) and seen.disk() == draft()


async def test_the_screen_and_the_app_are_left_with_what_was_typed(tmp_path: Path) -> None:
    async with review(tmp_path, draft()) as seen:
        await seen.keys("e", "x", "f1")
        assert isinstance(seen.seen.app.screen, HelpScreen)
        await seen.keys("escape", "y")
        await seen.seen.pilot.press("ctrl+q")
    assert seen.disk().title == "xyFault 1"


async def test_the_persons_own_editor_changes_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def edited(text: str) -> str:
        return text.replace("Fault", "Flaw\x1b[2J")

    async with review(tmp_path, draft()) as seen:
        monkeypatch.setattr(seen.seen.screen, "edit_in_editor", edited)
        await seen.keys("e", "ctrl+e", "escape")
        assert seen.disk().title == "Flaw␛[2J 1"
        monkeypatch.setattr(seen.seen.screen, "edit_in_editor", nothing)
        await seen.keys("e", "ctrl+e", "escape")
        assert seen.disk().title == "Flaw␛[2J 1"


async def nothing(_text: str) -> None:
    return None


async def test_what_another_program_has_written_meanwhile_is_not_overwritten(
    tmp_path: Path,
) -> None:
    async with review(tmp_path, draft()) as seen:
        await seen.keys("e", "x")
        seen.box.change("fb-1", lambda found: replace(found, body="theirs"))
        await seen.keys("y", "escape")
        assert "Another program has changed this draft" in seen.shown()
        assert seen.disk().body == "theirs"
        await seen.keys("2")
        (aside,) = seen.box.folder.glob("*.txt")
        assert "xyFault 1" in aside.read_text()
        assert seen.disk().body == "theirs" and "theirs" in seen.shown()
