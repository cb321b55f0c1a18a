from __future__ import annotations

from pathlib import Path
from time import perf_counter

import msgspec
import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from app.state import facts as f
from app.state.feedback import Sending
from tests.fakes.sessions import Made
from tests.pilot.feedback_stage import MAIL, a_session, box_of, draft, review, set_sink
from tests.pilot.picker import keep
from widgets.screens.chat import ChatScreen
from widgets.screens.dialogs.help import HelpScreen

LATER = "2026-11-02T10:00:00.000Z"
KEY = "sk-ant-" + "api03-" + "FAKE" * 12
HOSTILE = "[b]x[/b] \x1b[31mred \x1b]0;t\x07 \u202e \x9b1m 日本語👍🏽"


async def test_the_list_is_walked_and_tells_how_each_draft_stands(tmp_path: Path) -> None:
    failed = draft(2, status="failed", reason="The service said 503.", at=LATER, retry_after=LATER)
    unclear = draft(1, status="unclear", reason="It may have arrived.", may_have_arrived=True)
    async with review(tmp_path, unclear, failed, draft(3), size=(100, 24)) as seen:
        assert "3 drafts" in seen.shown()
        for key, words in (("down", "Fault 2"), ("j", "Fault 1"), ("down", "Fault 1"),
                           ("home", "Fault 3"), ("end", "Fault 1"), ("up", "Fault 2"),
                           ("pageup", "Fault 3"), ("G", "Fault 1"), ("k", "Fault 2"),
                           ("g", "Fault 3"), ("pagedown", "Fault 1")):  # fmt: skip
            await seen.keys(key)
            assert words in seen.at(), key
        assert seen.at().endswith("queued, unclear")
        assert "queued; not sent: It may have arrived." in seen.shown()
        await seen.keys("up")
        assert seen.at().endswith("queued, failed")
        about = " ".join(seen.shown().split())
        assert "queued; not sent at" in about and "The service said 503. Not before" in about
        await seen.keys("up")
        assert seen.at().endswith("queued") and "The list was empty." in seen.shown()


async def test_a_draft_that_is_on_its_way_says_how_far_it_is(tmp_path: Path) -> None:
    async with review(tmp_path, draft()) as seen:
        sending = Sending("fb-1", "feedback_1", 45, 100)
        seen.seen.controller.emit(f.FeedbackSeen(replace(seen.state, sending=sending)))
        await seen.settled()
        assert seen.at().endswith("sending 45 %") and "c Stop sending" in seen.shown()


async def test_where_there_is_no_draft_the_next_key_is_told(tmp_path: Path) -> None:
    async with review(tmp_path) as seen:
        assert "No report waits." in seen.shown() and "n writes one of your own." in seen.shown()
        for key in ("p", "e", "t", "s", "space", "o", "ctrl+s", "c", "d", "x", "y", "enter",
                    "1", "up", "pagedown", "end"):  # fmt: skip
            await seen.keys(key)
        assert not seen.said()
        await seen.keys("escape")
        assert isinstance(seen.seen.app.screen, ChatScreen)


async def test_damaged_files_are_named_and_a_folder_in_the_way_is_told(tmp_path: Path) -> None:
    box = box_of(tmp_path)
    box.add(draft())
    (box.folder / "fb-2[b].json").write_text("{")
    async with review(tmp_path) as seen:
        assert "damaged: fb-2[b].json.damaged" in seen.shown().splitlines()[0]
        assert "kept as fb-2[b].json.damaged" in seen.said()
        (box.folder / ".lock").unlink()
        (box.folder / ".lock").mkdir()
        await seen.keys("escape", "escape", "f5")
        assert "cannot be written: Is a directory" in " ".join(seen.shown().split())
        assert "Fault 1" in seen.at()


async def test_p_shows_the_text_and_then_the_very_bytes(tmp_path: Path) -> None:
    set_sink(tmp_path, "http", "https://feedback.example/in")
    body = "Plain. \x1b[31m \u202e 日本語👍🏽 " + "word " * 60 + f"\n\t{MAIL}"
    async with review(tmp_path, draft(body=body)) as seen:
        size = f"{len(seen.prepared.data):,} bytes".replace(",", " ")
        await seen.keys("p")
        assert f"{size} to https://feedback.example/in, as text" in seen.shown()
        assert "The list" not in seen.shown() and "[redacted: e-mail address]" in seen.shown()
        assert "␛[31m <202e> 日本語👍🏽" in seen.shown()
        await seen.keys("p")
        assert f"{size} to https://feedback.example/in, byte for byte" in seen.shown()
        assert f"leaves this machine: {size} to https://feedback.example/in" in seen.shown()
        raw = seen.rows()
        assert raw.replace("<202e>", "\u202e").encode() == seen.prepared.data
        same = await seen.desk.prepare(seen.disk())
        assert same.data == seen.prepared.data
        await seen.keys("end", "home", "pagedown", "up", "y")
        assert seen.seen.app.clipboard.encode() == seen.prepared.data
        await seen.keys("p")
        assert "The list" not in seen.shown() and "byte for byte" not in seen.shown()


async def test_the_preview_of_an_issue_is_the_issue(tmp_path: Path) -> None:
    set_sink(tmp_path, "github", "shop/shop")
    async with review(tmp_path, draft(evidence="it is seen")) as seen:
        await seen.keys("p", "p")
        issue = msgspec.json.decode(seen.rows())
        assert issue["title"] == "Fault 1" and "### Evidence\n\nit is seen" in issue["body"]
        assert "bytes to shop/shop, byte for byte" in seen.shown()


async def test_a_large_preview_is_laid_out_beside_the_keys(tmp_path: Path) -> None:
    talk = Made(1)
    for number in range(40):
        talk.talk(f"prompt {number}", "a long answer " * 400)
    keep(tmp_path, talk)
    async with review(tmp_path, draft(session_id=talk.id)) as seen:
        await seen.keys("t", "p")
        assert "prompt 0" in "".join(text for row in seen.screen._rows for text, _ in row)
        await seen.keys("p")
        assert len(seen.prepared.data) > 200_000
        assert seen.rows().encode() == seen.prepared.data


async def test_secrets_are_struck_out_until_they_are_restored_one_by_one(tmp_path: Path) -> None:
    async with review(tmp_path, draft(body=f"Ask {MAIL}, the key is {KEY}.")) as seen:
        found = seen.prepared.payload.findings
        assert len(found) == 2 and MAIL not in str(seen.report) and KEY not in str(seen.report)
        assert "(struck out)" in seen.shown()
        await seen.keys("s")
        assert "[x] body" in seen.at() and MAIL in seen.at()
        await seen.keys("space")
        assert "[ ] body" in seen.at() and "left in: 1 e-mail address" in seen.shown()
        assert MAIL in seen.report["body"] and KEY not in seen.report["body"]
        await seen.keys("down", "enter")
        assert "[ ] body" in seen.at() and KEY in seen.report["body"]
        await seen.keys("up", "space")
        assert MAIL not in seen.report["body"] and KEY in seen.report["body"]
        await seen.keys("s")
        assert "Ask" in seen.screen.editor.text


async def test_where_no_secret_is_that_is_said(tmp_path: Path) -> None:
    async with review(tmp_path, draft()) as seen:
        assert "found: no secret" in seen.shown()
        await seen.keys("s")
        assert "No secret was found." in seen.shown()
        await seen.keys("space", "enter", "o", "down", "escape")
        assert "Fault 1" in seen.screen.editor.text


async def test_of_a_transcript_goes_what_is_taken(tmp_path: Path) -> None:
    talk = a_session(tmp_path)
    async with review(tmp_path, draft(session_id=talk.id)) as seen:
        assert "[ ] off" in seen.shown() and "transcript" not in seen.report
        await seen.keys("t")
        assert "[x] on" in seen.shown() and "4 of 4 messages go along" in seen.shown()

        def sent() -> list[int]:
            return [each["number"] for each in seen.report["transcript"]["messages"]]

        assert sent() == [1, 2, 3, 4] and "first prompt" in seen.at()
        await seen.keys("down", "space")
        assert sent() == [1, 3, 4] and "[ ]" in seen.at()
        await seen.keys("down", "o")
        assert sent() == [1, 3] and "2 of 4 messages go along" in seen.shown()
        await seen.keys("down", "space")
        assert sent() == [1, 3, 4]
        await seen.keys("o", "o", "home", "enter", "enter")
        assert sent() == [1, 3, 4]
        await seen.keys("p")
        assert "second answer" in seen.rows() and "first answer" not in seen.rows()
        await seen.keys("escape")
        assert "[x] on" in seen.shown()
        await seen.keys("t", "t")
        assert "[ ] off" in seen.shown() and "transcript" not in seen.report


async def test_the_open_sessions_own_branch_is_attached(tmp_path: Path) -> None:
    async with review(tmp_path, opened=False) as seen:
        await seen.seen.send("!echo hello")
        await seen.seen.until(lambda state: state.session.view and state.live.turn_id is None)
        await seen.seen.send("/feedback It broke")
        await seen.settled()
        await seen.keys("t")
        assert seen.messages and "echo hello" in str(seen.report["transcript"])


async def test_where_there_is_no_session_that_is_said(tmp_path: Path) -> None:
    gone = "5e551011-0000-4000-8000-00000000dead"
    async with review(tmp_path, draft(), draft(2, session_id=gone)) as seen:
        await seen.keys("t")
        assert "No transcript can be attached." in seen.said() and gone in seen.said()
        await seen.keys("escape", "down", "t")
        assert "is about no session" in seen.said() and "[ ] off" in seen.shown()


@pytest.mark.parametrize("kind", ["third party", "other session"])
async def test_a_transcript_that_may_not_go_is_withheld(tmp_path: Path, kind: str) -> None:
    talk = Made(1).talk("mine", "yes")
    if kind == "third party":
        talk.calls("t1", "mcp__[b]wiki__search", q="x")
    else:
        talk.raw(**{**msgspec.json.decode(talk.lines[-1]), "uuid": "u9", "sessionId": "other",
                    "parentUuid": talk.leaf})  # fmt: skip
    keep(tmp_path, talk)
    async with review(tmp_path, draft(session_id=talk.id)) as seen:
        await seen.keys("t")
        words = "outside tool mcp__[b]wiki" if kind == "third party" else "is left out: it is not"
        assert words in seen.shown()
        await seen.keys("p")
        assert "transcript" not in seen.report and words in seen.shown()


async def test_what_the_budget_has_no_room_for_is_told_and_marked(tmp_path: Path) -> None:
    set_sink(tmp_path, "file", str(tmp_path / "out") + "/", budget_bytes=65_536)
    talk = Made(1)
    for number in range(8):
        talk.talk(f"prompt {number}", "word " * 3000)
    keep(tmp_path, talk)
    async with review(tmp_path, draft(session_id=talk.id)) as seen:
        await seen.keys("t")
        dropped = seen.prepared.payload.dropped_messages
        assert dropped > 2 and f"The oldest {dropped} messages are left out" in seen.shown()
        assert "no room" in seen.at()
        await seen.keys(*["down"] * (dropped - 1))
        assert "no room" in seen.at()
        await seen.keys("down")
        assert "no room" not in seen.at()
        await seen.keys(*["up"] * 2, "space")
        assert "no room" not in seen.at() and "[ ]" in seen.at()


async def test_what_was_chosen_stays_with_its_draft(tmp_path: Path) -> None:
    talk = a_session(tmp_path)
    drafts = [draft(number, session_id=talk.id, body=f"Ask {MAIL}") for number in (1, 2)]
    async with review(tmp_path, *drafts) as seen:
        await seen.keys("t", "space", "escape", "s", "space", "escape", "down")
        assert "transcript" not in seen.report and MAIL not in str(seen.report)
        await seen.keys("up")
        assert len(seen.report["transcript"]["messages"]) == 3 and MAIL in str(seen.report)


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 12), (20, 5), (300, 100)])
async def test_any_text_is_shown_as_data_at_any_size(tmp_path: Path, size: tuple[int, int]) -> None:
    talk = Made(1).talk(HOSTILE, HOSTILE).calls("t1", f"mcp__{HOSTILE}", **{HOSTILE: HOSTILE})
    keep(tmp_path, talk)
    hostile = draft(title=HOSTILE, body=f"{HOSTILE}\r\n{HOSTILE} {MAIL}", category=HOSTILE,
                    evidence=HOSTILE * 20, session_id=talk.id, status="failed",
                    reason=HOSTILE * 9, at="soon", retry_after="later")  # fmt: skip
    async with review(tmp_path, hostile, draft(2), size=size) as seen:
        for key in ("down", "p", "p", "p", "t", "down", "escape", "s", "escape", "e", "escape",
                    "x", "escape", "f1", "escape", "ctrl+s"):  # fmt: skip
            await seen.keys(key)
            if key != "f1":
                text = seen.shown()
                assert not {"\x1b", "\x07", "\x9b", "\u202e", "\r"} & set(text), key
        assert seen.screen._question is not None
        await seen.keys("escape")
        for key in ("p", "p"):
            await seen.keys(key)
            width = seen.screen.pane.scrollable_content_region.width
            for row in seen.screen._rows if width > 4 else ():
                assert sum(cell_len(text) for text, _ in row) < width
        await seen.keys("escape", "d")
        assert "[b]x[/b]" in seen.said() and "\x1b" not in seen.said()
        await seen.keys("u", "escape")
        assert isinstance(seen.seen.app.screen, ChatScreen)
        assert seen.disk() == hostile


async def test_a_long_session_stays_quick(tmp_path: Path) -> None:
    talk = Made(1)
    for number in range(2_000):
        talk.talk(f"prompt {number}", "a line of an answer " * 12)
    keep(tmp_path, talk)
    async with review(tmp_path, draft(session_id=talk.id)) as seen:
        began = perf_counter()
        await seen.burst("t", *["space", "down"] * 20, "end", "up", "o", "p", "p", "end")
        assert perf_counter() - began < 8
        numbers = [each["number"] for each in seen.report["transcript"]["messages"]]
        assert numbers == list(range(21, 4_000))
        assert seen.rows().encode() == seen.prepared.data


async def test_the_mouse_chooses_edits_and_marks(tmp_path: Path) -> None:
    async with review(tmp_path, draft(body=f"Ask {MAIL}"), draft(2)) as seen:
        await seen.seen.pilot.click("#feedback-list", offset=(5, 1))
        await seen.settled()
        assert "Fault 1" in seen.at()
        await seen.keys("s")
        await seen.seen.pilot.click("#feedback-pane", offset=(5, 0), times=2)
        await seen.settled()
        assert MAIL in seen.report["body"]
        await seen.keys("escape")
        await seen.seen.pilot.click("ReportEditor", offset=(0, 0))
        await seen.keys("x")
        await seen.seen.pilot.click("#feedback-list", offset=(5, 0))
        await seen.settled()
        assert seen.disk().title.count("x") == 1 and "Fault 2" in seen.at()


async def test_a_change_of_size_shows_the_same_at_another_width(tmp_path: Path) -> None:
    async with review(tmp_path, draft(body="word " * 200)) as seen:
        await seen.keys("p", "p")
        for size in ((60, 20), (30, 8), (140, 50)):
            await seen.seen.pilot.resize_terminal(*size)
            await seen.settled()
            assert seen.rows().encode() == seen.prepared.data
            width = seen.screen.pane.scrollable_content_region.width
            assert all(sum(cell_len(text) for text, _ in row) < width for row in seen.screen._rows)


async def test_the_help_lists_the_keys_in_force(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    settings = tmp_path / "config" / "settings.toml"
    settings.write_text('[keys]\n"feedback.discard" = "z"\n')
    async with review(tmp_path, draft(), draft(2)) as seen:
        assert "z Discard" in seen.shown()
        await seen.keys("f1")
        assert isinstance(seen.seen.app.screen, HelpScreen)
        await seen.keys("escape", "d", "z")
        assert seen.ids() == ["fb-1"]
