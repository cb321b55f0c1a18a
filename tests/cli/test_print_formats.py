from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import uuid

from tests.cli.runner import SECRET, Cli
from tests.fakes.messages_server import MessagesServer
from tests.fakes.script import RawSse, Reply, text, tool_use, wire_events

RESULT_KEYS = {
    "subtype",
    "is_error",
    "result",
    "usage",
    "total_cost_usd",
    "session_id",
    "duration_ms",
    "num_turns",
    "permission_denials",
}


def test_text_is_the_reply_and_nothing_else(cli: Cli, server: MessagesServer) -> None:
    server.say("grüße \u2028東京")
    done = cli.ask("say hello", stdin=b"and this was piped in")
    assert (done.code, done.out, done.err) == (0, "grüße \u2028東京\n", "")
    sent = server.last["messages"]
    assert sent[0]["content"][0]["text"] == "say hello\n\nand this was piped in"
    assert [record["type"] for record in cli.records] == ["user", "assistant"]
    assert SECRET not in cli.transcripts[0].read_text()


def test_json_is_one_document(cli: Cli, server: MessagesServer) -> None:
    usage = {"input_tokens": 7, "output_tokens": 40, "cache_read_input_tokens": 5}
    server.queue(Reply((text("hello"),), usage=usage))
    session_id = str(uuid.uuid4())
    done = cli.ask("hi", "--output-format", "json", "--session-id", session_id)
    result = done.json
    assert done.code == 0
    assert result.keys() >= RESULT_KEYS
    assert (result["type"], result["subtype"], result["is_error"]) == ("result", "success", False)
    assert (result["result"], result["session_id"]) == ("hello", session_id)
    assert (result["num_turns"], result["permission_denials"]) == (1, [])
    assert result["usage"]["output_tokens"] == 40
    assert result["usage"]["cache_read_input_tokens"] == 5
    assert 0 < result["total_cost_usd"] < 0.01
    assert cli.transcripts[0].stem == session_id

    taken = cli.ask("hi", "--session-id", session_id)
    assert (taken.code, taken.out) == (1, "")
    assert session_id in taken.err
    assert len(server.calls) == 1


def test_stream_json_tells_what_happens(cli: Cli, server: MessagesServer) -> None:
    call = tool_use("Bash", {"command": "echo one"}, "toolu_1")
    refused = tool_use("Write", {"file_path": "x.txt", "content": "x"}, "toolu_2")
    server.queue(Reply((text("I look."), call, refused), stop_reason="tool_use"))
    server.say("done")
    done = cli.ask("go", "--output-format", "stream-json", "--verbose")
    assert done.code == 0
    kinds = [(event["type"], event.get("subtype")) for event in done.events]
    assert kinds == [
        ("system", "init"),
        ("assistant", None),
        ("assistant", None),
        ("assistant", None),
        ("user", None),
        ("user", None),
        ("assistant", None),
        ("post_turn_summary", None),
        ("result", "success"),
    ]
    init, result = done.events[0], done.events[-1]
    assert init["cwd"] == str(cli.project)
    assert init["model"] == "claude-opus-5-5"
    assert init["permissionMode"] == "default"
    assert init["apiKeySource"] == "ANTHROPIC_API_KEY"
    assert {"Bash", "Read", "Write"} <= set(init["tools"])
    assert len({event["session_id"] for event in done.events}) == 1
    summary = done.events[-2]
    assert (summary["status_category"], summary["needs_action"]) == ("blocked", False)
    assert isinstance(summary["status_detail"], str)
    for event in done.events[1:-2]:
        assert event.keys() >= {"message", "session_id", "parent_tool_use_id", "uuid"}
    answers = [event["message"]["content"][0] for event in done.events if event["type"] == "user"]
    assert [answer["tool_use_id"] for answer in answers] == ["toolu_1", "toolu_2"]
    assert "one" in answers[0]["content"]
    assert answers[1]["is_error"]
    assert result["permission_denials"][0]["tool_name"] == "Write"
    assert result["num_turns"] == 2
    assert not (cli.project / "x.txt").exists()


def test_json_with_verbose_is_all_events(cli: Cli, server: MessagesServer) -> None:
    server.say("hello")
    events = cli.ask("hi", "--output-format", "json", "--verbose").json
    assert [event["type"] for event in events] == ["system", "assistant", "result"]


def test_user_lines_are_turns_of_one_session(cli: Cli, server: MessagesServer) -> None:
    server.say("first", "second")
    blocks = [{"type": "text", "text": "two"}]
    lines = [
        {"type": "user", "message": {"role": "user", "content": "one"}},
        {"type": "user", "message": {"role": "user", "content": blocks}, "session_id": ""},
        {"type": "user", "message": {"role": "user", "content": "/cost"}},
    ]
    form = ["--input-format", "stream-json", "--output-format", "stream-json"]
    done = cli.ask(*form, stdin="\n".join(map(json.dumps, lines)).encode())
    results = [event["result"] for event in done.events if event["type"] == "result"]
    assert done.code == 0
    assert results[:2] == ["first", "second"]
    assert "Output: 2 tokens" in results[2]
    sent = server.last["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    assert len([event for event in done.events if event.get("subtype") == "init"]) == 1


def test_a_malformed_user_line_ends_the_run(cli: Cli, server: MessagesServer) -> None:
    good = b'{"type":"user","message":{"role":"user","content":"one"}}\n\n'
    form = ["--input-format", "stream-json", "--output-format", "stream-json"]
    done = cli.ask(*form, stdin=good + b'{"type":"user"\n')
    assert done.code == 1
    assert "Line 3 of stdin" in done.err
    results = [event for event in done.events if event["type"] == "result"]
    assert [result["is_error"] for result in results] == [False, True]
    assert len(server.calls) == 1


def test_odd_characters_are_safe_for_pipes_and_terminals(cli: Cli, server: MessagesServer) -> None:
    odd = "half \ud83d \x1b]0;title\x07 \u202eend"
    events = wire_events(Reply((text(odd),), piece=100), "msg_1", "claude-opus-5-5")
    wire = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)
    server.queue(RawSse(wire.encode()), times=3)
    assert cli.ask("hi").out == odd.replace("\ud83d", "?") + "\n"
    assert cli.ask("hi", "--output-format", "json").json["result"] == odd
    terminal, side = pty.openpty()
    process = cli.start("-p", "hi", stdout=side)
    process.communicate(timeout=60)
    os.close(side)
    shown = os.read(terminal, 10_000).decode()
    os.close(terminal)
    assert shown == "half \ufffd ␛]0;title␇ <202e>end\r\n"


def test_textual_is_not_imported_by_a_print_run(cli: Cli) -> None:
    program = (
        "import sys; from app.cli.run import run; code = run(['-p', '--demo', 'hi']);"
        "assert code == 0, code; print(sorted({'textual', 'rich'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=cli.project,
        env=cli.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"
