"""Reports over real connections: what arrives, what an answer means, what a crash leaves."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import stat
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from app.background.feedback.drafts import Draft, DraftNotFound
from app.background.feedback.outbox import Outbox
from app.background.feedback.payload import Choice, build
from app.background.feedback.sender import Refused, Result, send
from app.background.feedback.services import GithubSink, HttpSink
from app.background.feedback.sinks import Failed, FileSink, Sent, Sink, export
from app.errors import StorageError
from tests.fakes.clock import FakeClock
from tests.fakes.dying_sender import box_of, draft_of, sink_of
from tests.fakes.feedback_server import FeedbackServer
from tests.protocol.feedback_wire import TOKEN, receiver
from tests.unit.background.feedback.feedback_kit import CASES, draft, file_of, said, spoken, talk

SHORT = 2.0
"""Seconds: as few as a busy machine needs for an answer that does come."""
ISSUE = {"status": 201, "body": {"number": 7, "html_url": "https://git.invalid/7"}}


class Desk:
    """One outbox with one draft, and a clock."""

    def __init__(self, folder: Path, **fields: Any) -> None:
        self.clock = FakeClock()
        self.box = Outbox(folder / "feedback", self.clock)
        self.box.add(draft(**fields))

    @property
    def draft(self) -> Draft:
        return self.box.get("fb-1")

    def http(self, url: str, timeout: float = 5.0, token: str = TOKEN) -> HttpSink:
        return HttpSink(url, token, self.clock, timeout=timeout)

    def github(self, url: str, timeout: float = 5.0) -> GithubSink:
        return GithubSink("shop/shop", TOKEN, self.clock, base_url=url, timeout=timeout)

    async def send(self, sink: Sink, **more: Any) -> Result:
        return await send(self.box, build(self.draft), sink, self.clock, **more)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def test_the_bytes_that_arrive_are_the_bytes_that_were_previewed(tmp_path: Path) -> None:
    desk = Desk(tmp_path, body="é😀 [b] \u202e password: hunter22\n" * 900)
    talked = talk(*(spoken(n, "user", f"{n} é " * 20_000) for n in range(1, 30)))
    payload = build(desk.draft, talked, Choice(up_to=25, without=frozenset({24})))
    seen: list[tuple[int, int]] = []
    with receiver(tmp_path / "in") as service:
        sink = desk.http(service.url)
        outcome = await send(
            desk.box, payload, sink, desk.clock, progress=lambda *how_far: seen.append(how_far)
        )
    (file,) = (tmp_path / "in").iterdir()
    assert isinstance(outcome, Sent)
    assert file.read_bytes() == payload.data == sink.encoded(payload)
    assert (file.name, stat.S_IMODE(file.stat().st_mode)) == ("fb-1.json", 0o600)
    assert seen[-1] == (len(payload.data), len(payload.data))
    assert len(seen) > 10
    assert b"hunter22" not in payload.data


async def test_after_the_yes_the_draft_is_gone_and_its_id_is_in_the_log(desk: Desk) -> None:
    with FeedbackServer() as server:
        assert await desk.send(desk.http(server.url)) == Sent("FB-OK")
    assert desk.box.listing().drafts == ()
    assert [(r.id, r.remote_id) for r in desk.box.sent_reports()] == [("fb-1", "FB-OK")]
    (request,) = server.requests
    assert request.head == "POST /reports HTTP/1.1"
    assert request.headers["idempotency-key"] == "fb-1"
    assert request.headers["authorization"] == f"Bearer {TOKEN}"


async def test_the_draft_is_on_disk_as_sending_before_the_first_byte(desk: Desk) -> None:
    states: list[str] = []

    class Watching(FileSink):
        async def send(self, payload: Any, progress: Any) -> Any:
            states.append(desk.draft.status)
            states.append(oct(stat.S_IMODE(file_of(desk.box, "fb-1").stat().st_mode)))
            return Failed("No.")

    await desk.send(Watching(desk.box.folder / "x"))
    assert states == ["sending", "0o600"]
    assert (desk.draft.status, desk.draft.reason) == ("failed", "No.")


SCRIPTS: list[tuple[str, dict[str, Any], str, bool]] = [
    ("redirect", {"status": 307, "headers": {"Location": "https://evil.invalid/x"}},
     "evil.invalid/x, which was not followed", False),
    ("401", {"status": 401}, "Check feedback.token", False),
    ("403", {"status": 403, "body": {"error": "forbidden"}}, "Ask whoever runs.*forbidden", False),
    ("404", {"status": 404}, "nothing at this address", False),
    ("413", {"status": 413}, "without the transcript", False),
    ("422", {"status": 422, "body": {"message": "No\x1b[31m."}}, "said 422. Its words: No", False),
    ("500", {"status": 500}, "said 500.*may have arrived", True),
    ("502", {"status": 502}, "said 502.*may have arrived", True),
    ("junk", {"status": 200, "body": "<html>login</html>"}, "no JSON.*sign-in page", True),
    ("list", {"status": 200, "body": []}, "no JSON object", True),
    ("no id", {"status": 200, "body": {"ok": True}}, "no id of the report", True),
    ("odd id", {"status": 200, "body": {"id": {"a": 1}}}, "no id of the report", True),
    ("deep", {"status": 200, "body": "[" * 60_000}, "no JSON", True),
    ("long", {"status": 200, "body": "x" * 70_000}, "longer than 65536 bytes", True),
    ("202", {"status": 202, "body": {"id": "FB-1"}}, "said 202", False),
    ("cut", {"cut": True}, "connection broke.*may have arrived", True),
    ("hang", {"hang": True}, "did not answer within 2 s.*may have arrived", True),
    ("no http", {"status": "\r\nhello"}, "connection broke", True),
]  # fmt: skip


@pytest.mark.parametrize(("line", "words", "unclear"), [row[1:] for row in SCRIPTS])
async def test_whatever_is_no_yes_keeps_the_draft_with_its_reason(
    desk: Desk, line: dict[str, Any], words: str, unclear: bool
) -> None:
    with FeedbackServer([line]) as server:
        outcome = await desk.send(desk.http(server.url, SHORT))
    assert isinstance(outcome, Failed)
    assert outcome.is_unclear is unclear
    assert server.connections == 1
    kept = desk.draft
    assert (kept.status, kept.reason) == ("failed", outcome.reason)
    assert re.search(words, kept.reason), kept.reason
    assert "\x1b" not in kept.reason
    assert (kept.body, kept.at) == ("The list was empty.", "2026-11-02T09:00:00.000Z")
    assert desk.box.sent_reports() == ()


@pytest.mark.parametrize("line", [row[1] for row in SCRIPTS if row[3]])
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


async def test_a_413_in_the_middle_of_the_upload_is_a_413(tmp_path: Path) -> None:
    desk = Desk(tmp_path, body="x" * 32_000)
    with FeedbackServer([{"status": 413, "early": True}]) as server:
        outcome = await desk.send(desk.http(server.url))
    assert isinstance(outcome, Failed)
    assert outcome.status == 413 or outcome.is_unclear
    assert desk.draft.status == "failed"


@pytest.mark.parametrize("status", [429, 503])
async def test_no_request_is_made_before_retry_after_is_over(desk: Desk, status: int) -> None:
    busy = {"status": status, "headers": {"Retry-After": "90"}}
    with FeedbackServer([busy]) as server:
        first = await desk.send(desk.http(server.url))
        assert isinstance(first, Failed)
        assert (first.retry_after, first.is_unclear) == (90.0, False)
        desk.clock.advance(60)
        refused = await desk.send(desk.http(server.url))
        assert refused == Refused("The service asked to wait; 30 s are left. Send it then.")
        assert server.connections == 1
        assert "wait 90 s" in desk.draft.reason
        desk.clock.advance(31)
        assert await desk.send(desk.http(server.url)) == Sent("FB-OK")


async def test_a_redirect_leads_to_no_second_server(desk: Desk) -> None:
    with FeedbackServer() as other:
        hop = {"status": 308, "headers": {"Location": other.url}}
        with FeedbackServer([hop]) as server:
            await desk.send(desk.http(server.url))
        assert other.connections == 0


async def test_nobody_there_is_told_and_nothing_left(desk: Desk) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    outcome = await desk.send(desk.http(f"http://127.0.0.1:{port}/"))
    assert isinstance(outcome, Failed)
    assert "Nothing left this machine" in outcome.reason
    assert not outcome.is_unclear


@pytest.mark.parametrize(
    ("url", "token", "words"),
    [
        ("http://example.invalid/x", "t", "unencrypted"),
        ("ftp://example.invalid", "t", "https://"),
        ("", "t", "https://"),
        ("https://u:p@example.invalid/", "t", "holds a password"),
        ("https://example.invalid:99999/", "t", "not readable"),
        ("https://example.invalid/", "t\r\nX: y", "no token has"),
    ],
)
async def test_a_setting_that_would_leak_is_refused_without_a_connection(
    desk: Desk, url: str, token: str, words: str, no_connections: list[object]
) -> None:
    outcome = await desk.send(desk.http(url, token=token))
    assert isinstance(outcome, Failed)
    assert words in outcome.reason
    assert no_connections == []
    assert desk.draft.status == "failed"


@pytest.fixture
def no_connections(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    tried: list[object] = []

    def refuse(_socket: socket.socket, address: object) -> None:
        tried.append(address)
        raise OSError("no connections here")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    return tried


def test_without_a_send_there_is_no_connection(
    tmp_path: Path, no_connections: list[object]
) -> None:
    desk = Desk(tmp_path)
    for sink in (desk.http("https://example.invalid/"), desk.github("https://example.invalid")):
        payload = build(desk.draft, talk(spoken(1, "user", "Hi")), Choice(), budget=sink.budget)
        assert sink.encoded(payload)
        export(tmp_path / f"{sink.name}.json", "fb-1", sink.encoded(payload))
    desk.box.change("fb-1", lambda d: replace(d, body="edited"))
    desk.box.listing()
    desk.box.discard("fb-1")
    assert no_connections == []


async def test_an_edited_draft_is_not_sent_as_it_was_shown(desk: Desk) -> None:
    payload = build(desk.draft)
    desk.box.change("fb-1", lambda d: replace(d, body="edited"))
    with FeedbackServer() as server:
        outcome = await send(desk.box, payload, desk.http(server.url), desk.clock)
    assert isinstance(outcome, Refused)
    assert "changed since it was shown" in outcome.reason
    assert (server.connections, desk.draft.status) == (0, "queued")


async def test_a_payload_with_a_secret_that_nobody_restored_is_not_sent(desk: Desk) -> None:
    payload = build(desk.draft)
    leaking = replace(payload, data=payload.data.replace(b"empty", b"password=hunter22"))
    with FeedbackServer() as server:
        outcome = await send(desk.box, leaking, desk.http(server.url), desk.clock)
    assert isinstance(outcome, Refused)
    assert server.connections == 0


async def test_one_draft_is_sent_by_one_process_at_a_time(desk: Desk) -> None:
    with FeedbackServer([{"hang": True}]) as server:
        first = asyncio.create_task(desk.send(desk.http(server.url)))
        assert await asyncio.to_thread(server.arrived.wait, 5)
        assert desk.box.listing().drafts[0].status == "sending"
        with pytest.raises(StorageError, match="being sent by another process"):
            await desk.send(desk.http(server.url))
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert server.connections == 1
    assert (desk.draft.status, desk.draft.may_have_arrived) == ("failed", True)
    assert "cancelled" in desk.draft.reason


async def test_an_export_is_private_and_never_over_another_file(desk: Desk) -> None:
    folder = desk.box.folder.parent / "out"
    folder.mkdir()
    file = folder / "fb-1.json"
    file.write_text("mine")
    outcome = await desk.send(FileSink(folder))
    assert isinstance(outcome, Failed)
    assert "exists already" in outcome.reason
    assert (file.read_text(), desk.draft.status) == ("mine", "failed")
    file.unlink()
    payload = build(desk.draft)
    assert export(folder, "fb-1", payload.data) == file
    assert await desk.send(FileSink(folder)) == Sent(str(file))
    assert file.read_bytes() == payload.data
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_b58_every_failure_keeps_every_word_until_one_yes(tmp_path: Path) -> None:
    (folder,) = CASES.glob("B58-*")
    text = (folder / "draft.txt").read_text()
    script = [json.loads(line) for line in (folder / "server.jsonl").read_text().splitlines()]
    desk = Desk(tmp_path, body=text)
    reasons: list[str] = []
    with FeedbackServer(script) as server:
        for _ in script[:-1]:
            outcome = await desk.send(desk.http(server.url, SHORT))
            assert isinstance(outcome, Failed)
            # Another process, as after a kill, finds all of it.
            kept = Outbox(desk.box.folder, desk.clock).listing().drafts[0]
            assert (kept.body, kept.status, kept.reason) == (text, "failed", outcome.reason)
            reasons.append(outcome.reason)
        assert await desk.send(desk.http(server.url, SHORT)) == Sent("FB-DEMO-1")
    assert desk.box.listing().drafts == ()
    assert [r.remote_id for r in desk.box.sent_reports()] == ["FB-DEMO-1"]
    assert len(server.requests) == len(script)
    assert {r.headers["idempotency-key"] for r in server.requests} == {"fb-1"}
    assert len({r.body for r in server.requests}) == 1
    assert said(server.requests[0].body)["body"] == text
    assert "without the transcript" in reasons[3]
    assert "Ask whoever runs the service" in reasons[2]


async def test_b60_the_report_that_arrives_holds_no_secret(tmp_path: Path) -> None:
    (folder,) = CASES.glob("B60-*")
    given = json.loads((folder / "draft.json").read_text())
    desk = Desk(tmp_path, title=given["title"], body=given["text"])
    with FeedbackServer() as server:
        await desk.send(desk.http(server.url))
    assert b"FAKESECRET" not in server.requests[0].body
    assert "transcript" not in said(server.requests[0].body)
    for file in desk.box.folder.iterdir():
        assert "FAKESECRET" not in file.read_text()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


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
        async def send(self, payload: Any, progress: Any) -> Any:
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


async def test_a_service_that_kept_an_earlier_version_is_told(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    with receiver(tmp_path / "in") as service:
        sink = desk.http(service.url)
        assert isinstance(await desk.send(sink), Sent)
        desk.box.add(draft(body="edited since"))
        again = await desk.send(sink)
    assert isinstance(again, Sent)
    assert "kept that one" in again.note
    assert len(list((tmp_path / "in").iterdir())) == 1
