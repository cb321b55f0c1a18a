"""What may have arrived: what a crash leaves, and when a report goes out once more."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from app.background.feedback.drafts import DraftNotFound
from app.background.feedback.payload import build
from app.background.feedback.sender import Refused, Result, send
from app.background.feedback.sinks import Failed, FileSink, Sent, Sink
from tests.fakes.clock import FakeClock
from tests.fakes.dying_sender import box_of, draft_of, sink_of
from tests.fakes.feedback_server import FeedbackServer
from tests.protocol.feedback_wire import ISSUE, SHORT, Desk, receiver
from tests.unit.background.feedback.feedback_kit import draft, said


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.parametrize("line", [{"cut": True}, {"hang": True}, {"status": 500}])
async def test_an_issue_that_may_be_there_already_is_sent_again_on_the_persons_word_alone(
    desk: Desk, line: dict[str, Any]
) -> None:
    with FeedbackServer([line, ISSUE]) as server:
        sink = desk.github(server.url, SHORT)
        assert isinstance(await desk.send(sink), Failed)
        assert desk.draft.status == "unclear"
        refused = await desk.send(sink)
        assert isinstance(refused, Refused)
        assert refused.is_unclear
        assert server.connections == 1
        assert await desk.send(sink, again=True) == Sent("https://git.invalid/7")


def die_everywhere(kind: str, url: str, base: Path) -> list[int]:
    """A send killed at each of its moments; returns the moments."""

    def run(*moments: int) -> None:
        words = [sys.executable, "-m", "tests.fakes.dying_sender", kind, url, str(base)]
        done = subprocess.run([*words, *map(str, moments)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    run(0)
    moments = list(range(1, int((base / "0" / "moments").read_text()) + 1))
    run(*moments)
    return moments


async def resent(folder: Path, sink: Sink, moment: int) -> Result | None:
    """What another attempt after the crash says; None when the draft is gone."""
    try:
        return await send(box_of(folder), build(draft_of(moment)), sink, FakeClock())
    except DraftNotFound:
        return None


async def test_a_kill_at_any_moment_loses_nothing_and_makes_one_report(tmp_path: Path) -> None:
    with receiver(tmp_path / "in") as service:
        moments = die_everywhere("http", service.url, tmp_path)
        assert len(moments) > 15
        states: Counter[str] = Counter()
        for moment in moments:
            folder = tmp_path / str(moment)
            drafts = box_of(folder).listing().drafts
            arrived = (tmp_path / "in" / f"fb-{moment}.json").exists()
            states[drafts[0].status if drafts else "gone"] += 1
            assert arrived or drafts
            assert all(d.body == draft_of(moment).body for d in drafts)
            if drafts:
                assert isinstance(await resent(folder, sink_of("http", service.url), moment), Sent)
            assert box_of(folder).listing().drafts == ()
            assert [r.id for r in box_of(folder).sent_reports()] == [f"fb-{moment}"]
        files = sorted((tmp_path / "in").iterdir())
        assert len(files) == len(moments) + 1
        assert all(said(f.read_bytes())["body"] == draft_of(0).body for f in files)
        assert states.keys() == {"queued", "failed", "gone"}


async def test_a_kill_at_any_moment_sends_an_issue_at_most_once(tmp_path: Path) -> None:
    with FeedbackServer([ISSUE] * 999) as server:
        moments = die_everywhere("github", server.url.removesuffix("/reports"), tmp_path)
        unclear = 0
        for moment in moments:
            folder = tmp_path / str(moment)
            drafts = box_of(folder).listing().drafts
            mine = [r for r in server.requests if f'fb-{moment}\\"' in r.body.decode()]
            assert len(mine) <= 1
            assert drafts or mine
            if mine and drafts:
                assert drafts[0].status == "unclear"
            if drafts and drafts[0].status == "unclear":
                unclear += 1
                sink = sink_of("github", server.url.removesuffix("/reports"))
                refused = await resent(folder, sink, moment)
                assert isinstance(refused, Refused)
                assert refused.is_unclear
        assert unclear > 2


async def test_what_may_have_arrived_at_one_service_goes_to_no_other_unasked(desk: Desk) -> None:
    with FeedbackServer([{"cut": True}]) as first, FeedbackServer() as second:
        await desk.send(desk.http(first.url))
        refused = await desk.send(desk.http(second.url))
        assert isinstance(refused, Refused)
        assert refused.is_unclear
        assert first.url in refused.reason
        assert second.connections == 0
        assert await desk.send(desk.http(first.url)) == Sent("FB-OK")


async def test_a_yes_that_cannot_be_logged_is_a_yes_and_is_not_sent_again(desk: Desk) -> None:
    (desk.box.folder / "sent.jsonl").mkdir()
    with FeedbackServer() as server:
        outcome = await desk.send(desk.http(server.url))
    assert isinstance(outcome, Sent)
    assert outcome.remote_id == "FB-OK"
    assert "could not be noted" in outcome.note
    assert desk.box.listing().drafts == ()


async def test_a_failure_that_cannot_be_noted_is_told_and_settled_later(desk: Desk) -> None:
    aside = desk.box.folder.with_name("aside")

    class Breaking(FileSink):
        async def send(self, payload: Any, progress: Any, key: str) -> Any:
            desk.box.folder.rename(aside)
            desk.box.folder.write_text("in the way")
            return Failed("No.", is_unclear=True)

    outcome = await desk.send(Breaking(aside / "x"))
    assert isinstance(outcome, Failed)
    assert outcome.reason.startswith("No. The folder")
    desk.box.folder.unlink()
    aside.rename(desk.box.folder)
    (kept,) = desk.box.listing().drafts
    assert (kept.status, kept.body) == ("failed", "The list was empty.")


async def test_words_added_after_a_send_without_an_answer_are_never_lost(desk: Desk) -> None:
    cut, ok = {"cut": True}, {"body": {"id": "FB-2"}, "status": 201}
    with FeedbackServer([cut, ok]) as server:
        sink = desk.http(server.url)
        await desk.send(sink)
        desk.box.change("fb-1", lambda d: replace(d, body="The list was empty. And it was red."))
        refused = await desk.send(sink)
        assert isinstance(refused, Refused)
        assert refused.is_unclear
        assert "earlier text of it may have arrived" in refused.reason
        assert "second report" in refused.reason
        assert server.connections == 1
        assert await desk.send(sink, again=True) == Sent("FB-2")
    first, second = server.requests
    digest = hashlib.sha256(second.body).hexdigest()
    assert first.headers["idempotency-key"] == "fb-1"
    assert second.headers["idempotency-key"] == f"fb-1-{digest[:12]}"
    assert said(second.body)["body"].endswith("red.")
    assert desk.box.listing().drafts == ()


async def test_the_same_words_need_no_leave_and_keep_their_key(desk: Desk) -> None:
    cut = {"cut": True}
    duplicate = {"status": 200, "body": {"id": "FB-1", "duplicate": True}}
    with FeedbackServer([cut, {"status": 401}, cut, duplicate]) as server:
        sink = desk.http(server.url)
        for _ in range(3):
            assert isinstance(await desk.send(sink), Failed)
            assert desk.draft.may_have_arrived
        assert await desk.send(sink) == Sent("FB-1", is_duplicate=True)
    assert {r.headers["idempotency-key"] for r in server.requests} == {"fb-1"}
    assert desk.box.listing().drafts == ()


async def test_a_second_report_that_may_have_arrived_is_repeated_under_its_own_key(
    desk: Desk,
) -> None:
    cut = {"cut": True}
    duplicate = {"status": 200, "body": {"id": "FB-2", "duplicate": True}}
    with FeedbackServer([cut, {"status": 401}, cut, duplicate]) as server:
        sink = desk.http(server.url)
        await desk.send(sink)
        known = desk.draft.attempted
        desk.box.change("fb-1", lambda d: replace(d, body="Other words."))
        await desk.send(sink, again=True)
        assert (desk.draft.attempted, desk.draft.attempted_key) == (known, "fb-1")
        assert isinstance(await desk.send(sink), Refused)
        await desk.send(sink, again=True)
        assert await desk.send(sink) == Sent("FB-2", is_duplicate=True)
    keys = [r.headers["idempotency-key"] for r in server.requests]
    assert keys[0] == "fb-1"
    assert len(set(keys[1:])) == 1
    assert keys[1].startswith("fb-1-")


@pytest.mark.parametrize(
    "line",
    [
        {"status": 200, "body": {"id": "FB-1", "duplicate": True}},
        {"status": 409, "body": {"error": "Another one is there."}},
    ],
)
async def test_a_report_that_is_under_this_id_already_takes_the_draft_for_no_yes(
    desk: Desk, line: dict[str, Any]
) -> None:
    with FeedbackServer([line]) as server:
        sink = desk.http(server.url)
        outcome = await desk.send(sink)
        assert isinstance(outcome, Failed)
        assert "second report, or discarded" in outcome.reason
        assert (desk.draft.status, desk.draft.reason) == ("failed", outcome.reason)
        refused = await desk.send(sink)
        assert isinstance(refused, Refused)
        assert refused.is_unclear
        assert await desk.send(sink, again=True) == Sent("FB-OK")
    assert server.requests[-1].headers["idempotency-key"].startswith("fb-1-")


async def test_the_place_where_it_may_be_is_named_whatever_another_place_said(desk: Desk) -> None:
    with (
        FeedbackServer([{"cut": True}, {"status": 401}]) as first,
        FeedbackServer([{"status": 401}]) as second,
    ):
        await desk.send(desk.http(first.url))
        await desk.send(desk.github(second.url), again=True)
        kept = desk.draft
        assert (kept.sink, kept.target) == ("github", f"127.0.0.1:{second.port}/shop/shop")
        assert (kept.attempted_sink, kept.attempted_target) == ("http", first.url)
        refused = await desk.send(desk.github(second.url))
        assert isinstance(refused, Refused)
        assert first.url in refused.reason
        # Where it may be, the same words are safe.
        assert isinstance(await desk.send(desk.http(first.url)), Failed)
        assert desk.draft.may_have_arrived


async def test_an_issue_that_may_be_there_stays_unclear_after_a_no_from_elsewhere(
    desk: Desk,
) -> None:
    with FeedbackServer([{"cut": True}]) as first, FeedbackServer([{"status": 401}]) as second:
        await desk.send(desk.github(first.url))
        await desk.send(desk.http(second.url), again=True)
        assert (desk.draft.status, desk.draft.may_have_arrived) == ("unclear", True)


async def test_what_may_have_arrived_stays_so_after_a_clear_no(desk: Desk) -> None:
    with FeedbackServer([{"cut": True}, {"status": 401}, {"status": 401}]) as server:
        sink = desk.github(server.url)
        await desk.send(sink)
        for _ in range(2):
            assert isinstance(await desk.send(sink, again=True), Failed)
            assert (desk.draft.status, desk.draft.may_have_arrived) == ("unclear", True)
            refused = await desk.send(sink)
            assert isinstance(refused, Refused)
            assert refused.is_unclear
    assert server.connections == 3


async def test_a_clear_no_leaves_nothing_that_was_attempted(desk: Desk) -> None:
    with FeedbackServer([{"status": 401}]) as server:
        await desk.send(desk.http(server.url))
        assert (desk.draft.attempted, desk.draft.attempted_target) == ("", "")
        desk.box.change("fb-1", lambda d: replace(d, body="Other words."))
        assert await desk.send(desk.http(server.url)) == Sent("FB-OK")
    assert {r.headers["idempotency-key"] for r in server.requests} == {"fb-1"}


async def test_the_same_repository_of_another_host_is_another_place(desk: Desk) -> None:
    busy = {"status": 429, "headers": {"Retry-After": "90"}}
    with FeedbackServer([busy]) as first, FeedbackServer([ISSUE]) as second:
        await desk.send(desk.github(first.url))
        assert isinstance(await desk.send(desk.github(first.url)), Refused)
        assert desk.draft.target.startswith(f"127.0.0.1:{first.port}/")
        assert await desk.send(desk.github(second.url)) == Sent("https://git.invalid/7")


async def test_the_receiver_keeps_both_texts_of_a_draft(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    with receiver(tmp_path / "in") as service:
        sink = desk.http(service.url)
        assert isinstance(await desk.send(sink), Sent)
        desk.box.add(draft(body="edited since"))
        assert isinstance(await desk.send(sink), Failed)
        assert isinstance(await desk.send(sink, again=True), Sent)
    bodies = sorted(said(f.read_bytes())["body"] for f in (tmp_path / "in").iterdir())
    assert bodies == ["The list was empty.", "edited since"]


async def test_a_draft_of_before_whose_bytes_are_not_known_is_asked_about(tmp_path: Path) -> None:
    with FeedbackServer() as server:
        desk = Desk(
            tmp_path, status="failed", may_have_arrived=True, sink="http", target=server.url
        )
        sink = desk.http(server.url)
        refused = await desk.send(sink)
        assert isinstance(refused, Refused)
        assert (refused.is_unclear, server.connections) == (True, 0)
        assert server.url in refused.reason
