"""What the answer of a service, or none, makes of a draft."""

from __future__ import annotations

import re
import socket
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from app.background.feedback.payload import build
from app.background.feedback.request import LONGEST_WAIT
from app.background.feedback.sender import Refused
from app.background.feedback.services import GithubSink
from app.background.feedback.sinks import Failed, FileSink, Sent
from tests.fakes.feedback_server import FeedbackServer
from tests.protocol.feedback_wire import SHORT, Desk
from tests.unit.background.feedback.feedback_kit import file_of


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
    ("not ok", {"status": 200, "body": {"ok": False, "id": "A"}}, "an error, which is no", True),
    ("error", {"status": 201, "body": {"error": "quota\x1b", "id": "A"}}, "error.*quota", True),
    ("errors", {"status": 200, "body": {"error": {"x": 1}, "id": "A"}}, "an error, which", True),
    ("unseen id", {"status": 200, "body": {"id": " \u200b\u2060"}}, "no id of the report", True),
    ("true id", {"status": 200, "body": {"id": True}}, "no id of the report", True),
    ("odd id", {"status": 200, "body": {"id": {"a": 1}}}, "no id of the report", True),
    ("deep", {"status": 200, "body": "[" * 60_000}, "no JSON", True),
    ("long", {"status": 200, "body": "x" * 70_000}, "longer than 65536 bytes", True),
    ("nowhere", {"status": 302}, "points elsewhere without saying where", False),
    ("202", {"status": 202, "body": {"id": "FB-1"}}, "said 202. That is no receipt", True),
    ("204", {"status": 204, "body": ""}, "said 204. That is no receipt.*may have arrived", True),
    ("303", {"status": 303, "headers": {"Location": "/done"}}, "/done.*may have arrived", True),
    ("408", {"status": 408}, "said 408.*may have arrived", True),
    ("507", {"status": 507}, "said 507.*may have arrived", True),
    ("409", {"status": 409}, "said 409", False),
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


@pytest.mark.parametrize("drains", [True, False])
async def test_a_no_before_all_has_left_is_heard_unless_the_connection_is_reset(
    desk: Desk, drains: bool
) -> None:
    # More than the buffers of a connection hold.
    payload = replace(build(desk.draft), data=b"x" * (16 << 20))
    told: list[int] = []
    with FeedbackServer([{"status": 413, "early": True, "drain": drains}]) as server:
        outcome = await desk.http(server.url).send(payload, lambda n, _: told.append(n), "fb-1")
    assert isinstance(outcome, Failed)
    if drains:
        assert (outcome.status, outcome.is_unclear) == (413, False)
    else:
        assert told[-1] < len(payload.data)
        assert (outcome.status, outcome.is_unclear) == (None, True)
        assert "connection broke" in outcome.reason


async def test_what_stays_on_this_machine_passes_no_proxy(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FeedbackServer() as proxy, FeedbackServer() as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        assert await desk.send(desk.http(server.url)) == Sent("FB-OK")
        assert (proxy.connections, server.connections) == (0, 1)
    assert server.requests[0].headers["accept-encoding"] == "identity"


async def test_github_is_asked_for_nothing_without_a_token(desk: Desk) -> None:
    sink = GithubSink("shop/shop", "", desk.clock)
    assert await desk.send(sink) == Refused("GitHub needs a token. Set feedback.token.")


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


@pytest.mark.parametrize(("status", "timeout"), [(403, SHORT), (429, 5.0)])
async def test_a_no_is_a_no_however_slow_its_words_are(
    desk: Desk, status: int, timeout: float
) -> None:
    line = {"status": status, "drip": True, "headers": {"Retry-After": "90"}}
    with FeedbackServer([line]) as server:
        start = time.monotonic()
        outcome = await desk.send(desk.github(server.url, timeout))
        assert time.monotonic() - start < 4
    assert isinstance(outcome, Failed)
    assert (outcome.status, outcome.is_unclear) == (status, False)
    assert outcome.reason.startswith(f"The service said {status}.")
    assert outcome.retry_after == (90.0 if status == 429 else None)
    assert (desk.draft.status, desk.draft.may_have_arrived) == ("failed", False)


async def test_a_no_is_a_no_where_the_connection_breaks_behind_it(desk: Desk) -> None:
    line = {"status": 403, "headers": {"Content-Length": "99"}, "body": "half"}
    with FeedbackServer([line]) as server:
        outcome = await desk.send(desk.github(server.url))
    assert isinstance(outcome, Failed)
    assert (outcome.status, outcome.is_unclear) == (403, False)


async def test_a_wait_that_makes_no_sense_is_none(desk: Desk) -> None:
    odd = {"Retry-After": "Mon, 01 Jan 2024 00:00:00 +99999999999999"}
    with FeedbackServer([{"status": 429, "headers": odd}]) as server:
        outcome = await desk.send(desk.http(server.url))
    assert isinstance(outcome, Failed)
    assert (outcome.status, outcome.retry_after, desk.draft.retry_after) == (429, None, "")


async def test_a_wait_of_years_is_believed_for_a_day(desk: Desk) -> None:
    with FeedbackServer([{"status": 429, "headers": {"Retry-After": "99999999"}}]) as server:
        outcome = await desk.send(desk.http(server.url))
    assert isinstance(outcome, Failed)
    assert outcome.retry_after == LONGEST_WAIT == 86_400


async def test_a_wait_holds_for_the_service_that_asked_for_it_alone(desk: Desk) -> None:
    busy = {"status": 429, "headers": {"Retry-After": "90"}}
    with FeedbackServer([busy]) as first, FeedbackServer([{"status": 401}]) as second:
        await desk.send(desk.http(first.url))
        assert isinstance(await desk.send(desk.http(second.url)), Failed)
        assert desk.draft.retry_after == ""
    assert second.connections == 1


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (7, "7"),
        ("a\x1b[31mb\r\nc", "ab c"),
        ("a\u200bb\u202e", "ab<202e>"),
        (" FB-1 ", "FB-1"),
        ("x" * 5000, "x" * 199 + "…"),
        (10**4000, "1" + "0" * 198 + "…"),
    ],
)
async def test_an_id_is_shown_as_one_short_line(desk: Desk, given: object, shown: str) -> None:
    with FeedbackServer([{"status": 200, "body": {"id": given}}]) as server:
        assert await desk.send(desk.http(server.url)) == Sent(shown)
    assert [report.remote_id for report in desk.box.sent_reports()] == [shown]


async def test_an_issue_without_an_address_is_named_by_its_number(desk: Desk) -> None:
    body = {"number": 10**4000, "html_url": "\u200b"}
    with FeedbackServer([{"status": 201, "body": body}]) as server:
        assert await desk.send(desk.github(server.url)) == Sent(f"shop/shop#1{'0' * 198}…")


@pytest.mark.parametrize("number", [True, None, "7", 7.0])
async def test_an_issue_without_a_number_is_no_receipt(desk: Desk, number: object) -> None:
    body = {"number": number, "html_url": "https://git.invalid/7"}
    with FeedbackServer([{"status": 201, "body": body}]) as server:
        outcome = await desk.send(desk.github(server.url))
    assert isinstance(outcome, Failed)
    assert outcome.is_unclear


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
    before = desk.draft
    for sink in (desk.http(url, token=token), GithubSink("a/b", token, desk.clock, base_url=url)):
        outcome = await desk.send(sink)
        assert isinstance(outcome, Refused)
        assert words in outcome.reason
        assert not outcome.is_unclear
        direct = await sink.send(build(before), lambda *_: None, "fb-1")
        assert direct == Failed(outcome.reason)
    assert no_connections == []
    assert desk.draft == before


@pytest.mark.parametrize(
    ("endpoint", "target"),
    [
        ("https://u:SECRET@h.example:8/x?token=SECRET#SECRET", "https://h.example:8/x"),
        ("https://h.invalid?token=SECRET", "https://h.invalid"),
        ("https://[SECRET/", "(unreadable address)"),
        ("u:SECRET", "(no address)"),
        ("", "(no address)"),
    ],
)
async def test_no_password_of_an_address_is_shown_or_stored(
    desk: Desk, endpoint: str, target: str
) -> None:
    sink = desk.http(endpoint, 0.5)
    assert sink.target == target
    outcome = await desk.send(sink)
    assert "SECRET" not in repr(outcome)
    assert "SECRET" not in file_of(desk.box, "fb-1").read_text()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:1"),
        ("HTTPS_PROXY", "ftp://127.0.0.1:1"),
        ("SSL_CERT_FILE", "/nowhere/at/all"),
        ("SSL_CERT_FILE", __file__),
    ],
)
async def test_an_environment_that_allows_no_connection_is_a_clear_no(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    for sink in (desk.http("https://service.invalid/"), desk.github("https://service.invalid")):
        outcome = await desk.send(sink)
        assert isinstance(outcome, Failed)
        assert not outcome.is_unclear
        assert "Nothing left this machine. Check the proxies" in outcome.reason
        assert (desk.draft.status, desk.draft.may_have_arrived) == ("failed", False)


@pytest.mark.parametrize("has_begun", [True, False])
async def test_a_sink_that_breaks_leaves_an_end_on_disk(desk: Desk, has_begun: bool) -> None:
    class Broken(FileSink):
        async def send(self, payload: Any, progress: Any, key: str) -> Any:
            if has_begun:
                progress(0, 1)
            raise RuntimeError("oops")

    with pytest.raises(RuntimeError, match="oops"):
        await desk.send(Broken(desk.box.folder / "x"))
    kept = desk.draft
    assert (kept.status, kept.may_have_arrived) == ("failed", has_begun)
    words = "may have arrived" if has_begun else "Nothing left this machine"
    assert "fault of this program (RuntimeError)" in kept.reason
    assert words in kept.reason
