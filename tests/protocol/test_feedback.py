"""Reports over real connections: what arrives is what was shown, and nothing else ever does."""

from __future__ import annotations

import asyncio
import json
import socket
import stat
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from app.background.feedback.outbox import Outbox
from app.background.feedback.payload import Choice, build
from app.background.feedback.sender import Refused, send
from app.background.feedback.sinks import Failed, FileSink, Sent, export
from app.errors import StorageError
from tests.fakes.feedback_server import FeedbackServer
from tests.protocol.feedback_wire import ISSUE, SHORT, TOKEN, Desk, receiver
from tests.unit.background.feedback.feedback_kit import CASES, file_of, said, spoken, talk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def no_connections(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    tried: list[object] = []

    def refuse(_socket: socket.socket, address: object) -> None:
        tried.append(address)
        raise OSError("no connections here")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    return tried


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
        async def send(self, payload: Any, progress: Any, key: str) -> Any:
            states.append(desk.draft.status)
            states.append(desk.draft.retry_after + desk.draft.reason)
            states.append(oct(stat.S_IMODE(file_of(desk.box, "fb-1").stat().st_mode)))
            return Failed("No.")

    desk.box.change("fb-1", lambda d: replace(d, retry_after=desk.draft.created, reason="Old."))
    await desk.send(Watching(desk.box.folder / "x"))
    assert states == ["sending", "", "0o600"]
    assert (desk.draft.status, desk.draft.reason) == ("failed", "No.")


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


async def test_an_export_follows_no_link(desk: Desk, tmp_path: Path) -> None:
    payload = build(desk.draft)
    (tmp_path / "elsewhere").write_bytes(payload.data)
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match="exists already"):
        export(tmp_path / "link", "fb-1", payload.data)


async def test_the_title_of_an_issue_is_one_plain_line(tmp_path: Path) -> None:
    desk = Desk(tmp_path, title="a\x1b[31m\nb\u202e" + "x" * 300)
    with FeedbackServer([ISSUE]) as server:
        await desk.send(desk.github(server.url))
    title = said(server.requests[0].body)["title"]
    assert title == "a b<202e>" + "x" * 246 + "…"


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
