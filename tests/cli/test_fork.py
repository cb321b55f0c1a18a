from __future__ import annotations

import json
import subprocess

from app.sessions.codec import parse_transcript
from app.sessions.graph import open_view
from app.sessions.view import request_view
from tests.cli.runner import Cli
from tests.fakes.messages_server import MessagesServer
from tests.fakes.script import Gate, Reply, Stall, text


def test_a_fork_goes_on_in_a_file_of_its_own(cli: Cli, server: MessagesServer) -> None:
    server.say("one", "two", "three")
    first = cli.run("-p", "remember the moon", "--output-format", "json").json
    (source,) = cli.transcripts
    before = source.read_bytes()
    forked = cli.run(
        "-p", "go on", "--resume", first["session_id"], "--fork-session", "--output-format", "json"
    ).json
    assert forked["session_id"] != first["session_id"]
    assert source.read_bytes() == before
    other = next(file for file in cli.transcripts if file != source)
    records = parse_transcript(other.read_bytes()).records
    assert {record.session_id for record in records} == {forked["session_id"]}
    assert [m["role"] for m in server.last["messages"]] == ["user", "assistant", "user"]
    assert "remember the moon" in json.dumps(server.last["messages"][0])
    origin = [r.data.get("forkedFrom", {}).get("sessionId") for r in records[:2]]
    assert origin == [first["session_id"]] * 2


def test_a_fork_needs_something_to_branch_off(cli: Cli) -> None:
    done = cli.run("-p", "x", "--fork-session")
    assert done.code == 2 and "--fork-session" in done.err


def test_two_processes_never_write_one_transcript(cli: Cli, server: MessagesServer) -> None:
    gate = Gate()
    server.say("hello")
    session = cli.run("-p", "first", "--output-format", "json").json["session_id"]
    server.queue(Reply((text("slowly"),), fault=Stall(2, gate)))
    words = ("-p", "second", "--resume", session, "--output-format", "json")
    owner = cli.start(*words, stdin=subprocess.DEVNULL)
    assert gate.reached.wait(20)
    server.say("in a branch")
    other = cli.run("-p", "third", "--resume", session, "--output-format", "json")
    assert other.json["session_id"] != session
    assert "open in another process" in other.err
    gate.release()
    assert json.loads(cli.wait(owner).out)["session_id"] == session
    for file in cli.transcripts:
        parsed = parse_transcript(file.read_bytes())
        assert not parsed.flaws
        assert {record.session_id for record in parsed.records} == {file.stem}
        view = open_view(parsed.records)
        prompts = json.dumps(request_view(view.graph, view.leaf).messages)
        assert ("third" in prompts) is (file.stem != session)
        assert ("slowly" in prompts) is (file.stem == session)
