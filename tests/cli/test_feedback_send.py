"""`reverie feedback send` and `serve`: what leaves, how it ends, what is received."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.feedback_kit import B58, LEAKY, Inside, inside_of
from tests.cli.runner import TRANSCRIPTS, Cli
from tests.fakes.feedback_server import FeedbackServer
from tests.protocol.feedback_wire import TOKEN, receiver

ISSUE = {"status": 201, "body": {"number": 7, "html_url": "https://git.invalid/7"}}


@pytest.fixture
def inside(
    offline: Cli, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Inside:
    return inside_of(offline, monkeypatch, capfdbinary)


# what would leave


def test_the_preview_is_what_is_sent_whatever_is_chosen(inside: Inside) -> None:
    session = (
        inside.cli.data
        / "projects"
        / "p"
        / LEAKY.name.replace("transcript", "262a1bab-e289-57c5-8f53-c83654701573")
    )
    session.parent.mkdir(parents=True)
    session.write_bytes(LEAKY.read_bytes())
    chosen = ["--attach-transcript", session.stem, "--up-to", "4", "--without", "1,2"]
    with receiver(inside.folder / "in") as service:
        inside.sink("http", service.url)
        draft_id = inside.draft("mail me@example.com\n", "--session", session.stem)
        key = inside.json("show", draft_id)["findings"][0]["key"]
        for words in ([], ["--restore", key], chosen, [*chosen, "--restore", key]):
            draft_id = inside.draft("mail me@example.com\n", "--session", session.stem)
            code, raw = inside.code("preview", draft_id, "--raw", *words)
            assert (code, inside.code("preview", draft_id, *words)[1]) == (0, raw)
            sent = inside.json("send", draft_id, *words)
            assert (sent["status"], sent["bytes"], sent["reason"]) == ("sent", len(raw), "")
            assert sent["remote_id"].startswith("FB-")
            file = inside.folder / "in" / f"{draft_id}.json"
            assert file.read_bytes() == raw
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            # A part of a key with nothing secret around it is for the person to see.
            assert raw.count(b"FAKESECRET") == raw.count(b"The key ends with FAKESECRET")
            assert (b"me@example.com" in raw) == (key in words)
            report = json.loads(raw)
            assert ("transcript" in report) == ("--up-to" in words) == sent["has_transcript"]
            if "transcript" in report:
                messages = report["transcript"]["messages"]
                assert [message["number"] for message in messages] == [3, 4]
    assert len(inside.json("list")["sent"]) == 4


@pytest.mark.parametrize("kind", ["other", "foreign"])
def test_a_transcript_that_may_not_go_is_left_out_and_the_report_is_sent(
    inside: Inside, kind: str
) -> None:
    foreign = next((TRANSCRIPTS.parent / "foreign").glob("codex*.jsonl"))
    about, attached = (foreign, foreign) if kind == "foreign" else (foreign, LEAKY)
    draft_id = inside.draft("It broke.\n", "--session", str(about))
    with FeedbackServer() as server:
        inside.sink("http", server.url)
        sent = inside.json("send", draft_id, "--attach-transcript", str(attached))
    assert (sent["status"], sent["has_transcript"]) == ("sent", False)
    assert sent["withheld"] == ("third_party" if kind == "foreign" else "other_session")
    (said,) = sent["notes"]
    assert said in inside.err
    assert "transcript" not in json.loads(server.requests[0].body)


def test_messages_beyond_the_budget_are_told(inside: Inside, tmp_path: Path) -> None:
    inside.sink("file", str(tmp_path / "report.json"), budget_bytes=65_536)
    record = json.loads(LEAKY.read_text().splitlines()[0])
    lines: list[str] = []
    for number in range(9):
        record |= {"uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None}
        record["message"] = {"role": "user", "content": f"{number} " + "word " * 3000}
        lines.append(json.dumps(record))
    (tmp_path / "long.jsonl").write_text("\n".join(lines) + "\n")
    long = str(tmp_path / "long.jsonl")
    draft_id = inside.draft("It broke.\n", "--session", long)
    shown = inside.json("preview", draft_id, "--attach-transcript", long)
    assert (shown["dropped_messages"], shown["bytes"] <= 65_536) == (5, True)
    assert "5 messages are left out" in inside.err
    assert inside.code("send", draft_id, "--attach-transcript", long)[0] == 0
    assert (tmp_path / "report.json").read_text() == shown["data"]


def test_a_session_or_message_that_is_not_there_sends_nothing(inside: Inside) -> None:
    draft_id = inside.draft("It broke.\n", "--session", str(LEAKY))
    none = "5e551011-0000-4000-8000-00000000dead"
    assert "No conversation found" in inside.fails("new", "--session", none, stdin=b"x")
    with FeedbackServer() as server:
        inside.sink("http", server.url)
        for words, said in (
            (["--attach-transcript", none], "No conversation found"),
            (["--attach-transcript", str(B58 / "draft.txt")], "is not a transcript"),
            (["--attach-transcript", str(LEAKY), "--without", "2,99"], "--without 99"),
        ):
            ended = inside.json("send", draft_id, *words, code=1)
            assert (ended["status"], ended["remote_id"]) == ("refused", None)
            assert said in ended["reason"]
            assert said in inside.err
            assert said in inside.fails("preview", draft_id, *words)
        assert server.connections == 0
    assert inside.drafts()[0]["status"] == "queued"


def test_without_a_sink_sending_explains_how_and_offers_the_export(inside: Inside) -> None:
    draft_id = inside.draft()
    ended = inside.json("send", draft_id, code=1)
    assert ended["status"] == "refused"
    assert "feedback.sink" in ended["reason"]
    said = inside.fails("send", draft_id)
    assert f"`reverie feedback export {draft_id}`" in said


# sending


def test_b58_every_failure_keeps_every_word_until_one_yes(inside: Inside) -> None:
    text = (B58 / "draft.txt").read_text()
    script = [json.loads(line) for line in (B58 / "server.jsonl").read_text().splitlines()]
    draft_id = inside.draft(text, "It failed")
    with FeedbackServer(script) as server:
        inside.sink("http", server.url)
        for line in script[:-1]:
            if "read_body_then" in line:
                _killed_while_sending(inside, server, draft_id)
                reason = "ended while this was being sent"
            else:
                ended = inside.json("send", draft_id, code=1)
                assert (ended["status"], ended["remote_id"]) == ("failed", None)
                reason = ended["reason"]
                assert reason in inside.err
            (kept,) = inside.drafts()
            assert (kept["id"], kept["status"], inside.body(draft_id)) == (draft_id, "failed", text)
            assert reason in kept["reason"]
            said = {403: "Ask whoever runs", 413: "without the transcript"}
            assert said.get(line.get("status", 0), "") in kept["reason"]
        code, out = inside.code("send", draft_id)
    assert (code, out) == (0, b"Sent as FB-DEMO-1.\n")
    assert {request.headers["idempotency-key"] for request in server.requests} == {draft_id}
    assert len({request.body for request in server.requests}) == 1
    assert (len(server.requests), server.connections) == (len(script), len(script))
    listed = inside.json("list")
    assert (listed["drafts"], listed["sent"][0]["remote_id"]) == ([], "FB-DEMO-1")


def _killed_while_sending(inside: Inside, server: FeedbackServer, draft_id: str) -> None:
    server.arrived.clear()
    process = inside.cli.start("feedback", "send", draft_id)
    assert server.arrived.wait(30)
    (sending,) = inside.drafts()
    assert sending["status"] == "sending"
    assert "being sent by another process" in inside.json("send", draft_id, code=1)["reason"]
    process.kill()
    inside.cli.wait(process)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_send_that_is_stopped_says_so(inside: Inside, number: int, code: int) -> None:
    draft_id = inside.draft()
    with FeedbackServer([{"hang": True}]) as server:
        inside.sink("github", f"{server.url.removesuffix('/reports')}/shop/till")
        process = inside.cli.start("feedback", "send", draft_id, "--json")
        assert server.arrived.wait(30)
        process.send_signal(number)
        done = inside.cli.wait(process)
    assert (done.code, done.json["status"], len(done.told)) == (code, "aborted", 1)
    assert "--again" in done.json["todo"]
    (kept,) = inside.drafts()
    assert (kept["status"], kept["reason"]) == ("unclear", done.json["reason"])
    assert "cancelled" in kept["reason"]


def test_a_service_that_knows_no_key_is_sent_to_again_on_the_persons_word(inside: Inside) -> None:
    draft_id = inside.draft()
    with FeedbackServer([{"cut": True}, ISSUE]) as server:
        inside.sink("github", f"{server.url.removesuffix('/reports')}/shop/till")
        raw = inside.code("preview", draft_id, "--raw")[1]
        ended = inside.json("send", draft_id, code=1)
        assert (ended["status"], ended["may_have_arrived"]) == ("unclear", True)
        refused = inside.json("send", draft_id, code=1)
        assert (refused["status"], server.connections) == ("refused", 1)
        assert "--again" in refused["todo"]
        assert "--again" in inside.fails("send", draft_id)
        sent = inside.json("send", draft_id, "--again")
        assert (sent["status"], sent["remote_id"]) == ("sent", "https://git.invalid/7")
    assert [request.body for request in server.requests] == [raw, raw]
    assert server.requests[0].head == "POST /repos/shop/till/issues HTTP/1.1"


def test_no_request_is_made_before_retry_after(inside: Inside) -> None:
    draft_id = inside.draft()
    with FeedbackServer([{"status": 429, "headers": {"Retry-After": "90"}}]) as server:
        inside.sink("http", server.url)
        first = inside.json("send", draft_id, code=1)
        assert (first["status"], first["retry_after_seconds"]) == ("failed", 90.0)
        assert inside.drafts()[0]["retry_after"] == "2026-11-02T09:01:30.000Z"
        for words in ([], ["--again"]):
            ended = inside.json("send", draft_id, *words, code=1)
            assert (ended["status"], server.connections) == ("refused", 1)
        assert "asked to wait" in ended["reason"]
        inside.clock.advance(91)
        assert inside.json("send", draft_id)["status"] == "sent"


def test_a_redirect_is_not_followed(inside: Inside) -> None:
    draft_id = inside.draft()
    with FeedbackServer() as other:
        hop = {"status": 307, "headers": {"Location": other.url}}
        with FeedbackServer([hop]) as server:
            inside.sink("http", server.url)
            ended = inside.json("send", draft_id, code=1)
        assert (ended["status"], other.connections) == ("failed", 0)
    assert "not followed" in ended["reason"]


def test_a_413_names_the_report_without_the_transcript(inside: Inside) -> None:
    draft_id = inside.draft("It broke.\n", "--session", str(LEAKY))
    with FeedbackServer([{"status": 413}, {"status": 200, "body": {"ok": True}}]) as server:
        inside.sink("http", server.url)
        ended = inside.json("send", draft_id, "--attach-transcript", str(LEAKY), code=1)
        assert (
            ended["todo"] == f"`reverie feedback send {draft_id}` without the transcript may work."
        )
        without_id = inside.json("send", draft_id, code=1)
    assert (without_id["status"], without_id["may_have_arrived"]) == ("failed", True)
    assert "no id" in without_id["reason"]
    assert b"transcript" not in server.requests[1].body


# nothing but `send` opens a connection

WITHOUT_A_NETWORK = """
import sys
from app.cli.run import run

def forbid(event, _arguments):
    # The import of a package that looks for IPv6 makes a socket; it connects to nothing.
    if event.startswith("socket.") and event not in {"socket.__new__", "socket.bind"}:
        raise SystemExit(f"a socket: {event}")

sys.addaudithook(forbid)
for words in sys.argv[1:]:
    sys.stdin.seek(0)
    assert run(["feedback", *words.split()]) == 0, words
"""


def test_only_a_send_needs_a_network(inside: Inside) -> None:
    inside.sink("http", "https://feedback.invalid/")
    draft_id = inside.draft("It broke.\n", "--session", str(LEAKY))
    text = inside.cli.project / "text"
    text.write_text("Other words.\n")
    attached = f"--attach-transcript {LEAKY}"
    calls = ["list", "new", f"show {draft_id}", f"edit {draft_id}", f"preview {draft_id}"]
    calls += [f"preview {draft_id} {attached} --text", f"export {draft_id} {attached}"]
    calls += [f"discard {draft_id}", "list --json"]
    with text.open() as stdin:
        done = subprocess.run(
            [sys.executable, "-c", WITHOUT_A_NETWORK, *calls],
            cwd=inside.cli.project,
            env=inside.cli.environment,
            stdin=stdin,
            capture_output=True,
            text=True,
        )
    assert (done.returncode, "socket" in done.stderr) == (0, False), done.stderr
    assert "Other words." in done.stdout


# receiving


def test_a_receiver_says_its_address_and_ends_quietly(offline: Cli, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(f"{TOKEN}\n")
    token.chmod(0o600)
    words = ["serve", "--port", "0", "--folder", "in", "--token-file", str(token)]
    process = offline.start("feedback", *words)
    assert process.stdout
    url = process.stdout.readline().decode().strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", url)
    offline.config.mkdir()
    settings = f'[feedback]\nsink = "http"\nendpoint = "{url}"\ntoken = "{TOKEN}"\n'
    (offline.config / "settings.toml").write_text(settings)
    made = offline.run("feedback", "new", "--json", stdin=b"It broke.\n").json
    sent = offline.run("feedback", "send", made["id"], "--json")
    assert (sent.code, sent.json["status"]) == (0, "sent"), sent.err
    process.send_signal(signal.SIGINT)
    done = offline.wait(process)
    assert (done.code, done.out, TOKEN in done.err) == (130, "", False)
    (file,) = (offline.project / "in").iterdir()
    assert (file.name, stat.S_IMODE(file.stat().st_mode)) == (f"{made['id']}.json", 0o600)
    assert json.loads(file.read_bytes())["body"] == "It broke.\n"


def test_a_receiver_takes_its_token_from_the_environment_and_warns(offline: Cli) -> None:
    offline.environment["REVERIE_FEEDBACK_TOKEN"] = TOKEN
    everywhere = "0.0.0.0"  # noqa: S104 - that is what is tested
    process = offline.start("feedback", "serve", "--port", "0", "--host", everywhere, "--json")
    assert process.stdout
    lines = b""
    while not lines.endswith(b"}\n"):
        lines += process.stdout.readline()
    told = json.loads(lines)
    assert told["folder"] == str(offline.data / "feedback" / "received")
    process.terminate()
    done = offline.wait(process)
    assert (done.code, done.out, "plain HTTP" in done.err) == (143, "", True)


def test_a_receiver_needs_a_token_that_can_be_read(inside: Inside) -> None:
    assert "needs a token" in inside.fails("serve", code=2)
    file = inside.cli.project / "token"
    assert "cannot be read" in inside.fails("serve", "--token-file", "token")
    file.write_bytes(b"\xff")
    assert "cannot be read" in inside.fails("serve", "--token-file", "token")
    file.write_text("\n")
    file.chmod(0o600)
    assert "token" in inside.fails("serve", "--token-file", "token", code=2)


def test_a_receiver_that_cannot_listen_leaves_signals_as_they_are(inside: Inside) -> None:
    (inside.cli.project / "token").write_text(TOKEN)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    with FeedbackServer() as other:
        words = ["serve", "--token-file", "token", "--port", str(other.port)]
        ended, _ = inside.code(*words)
    assert (ended, "listened on" in inside.err) == (1, True)
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before


def test_only_the_bytes_that_were_looked_at_leave_where_they_are_named(inside: Inside) -> None:
    draft_id = inside.draft("one\n")
    with FeedbackServer() as server:
        inside.sink("http", server.url)
        seen = inside.json("preview", draft_id)["sha256"]
        inside.code("edit", draft_id, stdin=b"two\n")
        ended = inside.json("send", draft_id, "--expect", seen, code=1)
        assert (ended["status"], server.connections) == ("refused", 0)
        assert "other bytes" in ended["reason"]
        seen = inside.json("preview", draft_id)["sha256"]
        assert inside.json("send", draft_id, "--expect", seen)["status"] == "sent"


def test_a_draft_that_is_too_old_can_still_be_sent_by_its_id(inside: Inside) -> None:
    draft_id = inside.draft("one\n")
    old = inside.clock.now().timestamp()
    os.utime(inside.folder / f"{draft_id}.json", (old, old))
    inside.clock.advance(31 * 86_400)
    with FeedbackServer() as server:
        inside.sink("http", server.url)
        assert "one" in inside.json("show", draft_id)["body"]
        assert inside.json("send", draft_id)["status"] == "sent"
