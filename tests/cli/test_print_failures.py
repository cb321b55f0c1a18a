from __future__ import annotations

import pytest

from tests.cli.runner import CASES, Cli, Done
from tests.fakes.history_rules import history_fault
from tests.fakes.messages_server import MessagesServer
from tests.fakes.script import (
    Cut,
    EarlyEnd,
    RawSse,
    Reply,
    Status,
    refusal,
    text,
    tool_use,
)


def result_of(done: Done) -> dict[str, object]:
    (result,) = [event for event in done.events if event["type"] == "result"]
    return result


def test_without_credentials_the_ways_are_named(offline: Cli) -> None:
    done = offline.ask("hi")
    assert (done.code, done.out) == (1, "")
    (sentence,) = done.told
    for way in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "--model local", "--model rehearsal"):
        assert way in sentence
    assert offline.transcripts == []
    streamed = offline.ask("hi", "--output-format", "json")
    assert (streamed.code, result_of(streamed)["is_error"]) == (1, True)


@pytest.mark.parametrize("name", ["refusal_empty.sse", "refusal_partial.sse"])
def test_a_refusal_is_one_request_and_said(cli: Cli, server: MessagesServer, name: str) -> None:
    server.queue(RawSse((CASES / "B42-refusal-retry-loop" / name).read_bytes()))
    done = cli.ask("hi", "--output-format", "json")
    assert done.code == 1
    assert "model declined" in done.err
    assert result_of(done)["subtype"] == "error_during_execution"
    assert len(server.calls) == 1
    again = cli.ask("something else", "--continue")
    assert (again.code, again.out) == (0, "ok\n")
    assert [m["role"] for m in server.last["messages"]][-1] == "user"


def test_max_turns_stops_the_turn(cli: Cli, server: MessagesServer) -> None:
    call = tool_use("LS", {"path": "."}, "toolu_1")
    server.queue(Reply((call,), stop_reason="tool_use"))
    done = cli.ask("go", "--max-turns", "1", "--output-format", "stream-json")
    assert done.code == 1
    result = result_of(done)
    assert (result["subtype"], result["is_error"]) == ("error_max_turns", True)
    assert result["num_turns"] == 1
    assert len(server.calls) == 1
    assert cli.records[-1]["message"]["content"][0]["tool_use_id"] == "toolu_1"


def test_a_broken_stream_is_repeated(cli: Cli, server: MessagesServer) -> None:
    server.queue(Reply((text("half a text that is cut"),), fault=Cut(4)))
    server.say("whole")
    done = cli.ask("hi", "--verbose")
    assert (done.code, done.out) == (0, "whole\n")
    assert "Attempt 1" in done.err

    server.queue(Reply((text("half a text that ends"),), fault=EarlyEnd(4)), times=2)
    failed = cli.ask("hi")
    assert (failed.code, failed.out) == (1, "")
    assert len(failed.told) == 1
    assert len(server.calls) == 4


def test_the_server_s_refusals_are_one_sentence(cli: Cli, server: MessagesServer) -> None:
    server.queue(Status(401, "authentication_error", "invalid x-api-key"))
    server.queue(Status(400, "invalid_request_error", "something is wrong"))
    for _ in range(2):
        done = cli.ask("hi")
        assert (done.code, done.out) == (1, "")
        (sentence,) = done.told
        assert "Traceback" not in sentence


def test_odd_ends_are_said(cli: Cli, server: MessagesServer) -> None:
    server.queue(Reply((text("so far"),), stop_reason="moon_phase"))
    odd = cli.ask("hi")
    assert (odd.code, odd.out) == (0, "so far\n")
    assert "moon_phase" in odd.err
    server.queue(Reply((text("so far"),), stop_reason="max_tokens"))
    limit = cli.ask("hi")
    assert (limit.code, limit.out) == (0, "so far\n")
    assert "length limit" in limit.err


@pytest.mark.parametrize(
    "name", ["cut.sse", "complete_looking.sse", "max_tokens.sse", "two_tools_second_cut.sse"]
)
def test_a_cut_tool_call_is_never_run(cli: Cli, server: MessagesServer, name: str) -> None:
    data = (CASES / "B40-truncated-tool-call-runs" / name).read_bytes()
    is_cut = name in {"cut.sse", "complete_looking.sse"}
    for folder in ("build", "src"):
        (cli.project / folder).mkdir()
    server.queue(RawSse(data, "cut" if is_cut else "close"), times=2 if is_cut else 1)
    flags = ["--dangerously-skip-permissions", "--output-format", "json"]
    done = cli.ask("go", *flags)
    assert done.code == int(is_cut)
    assert len(server.calls) == 2
    assert sorted(path.name for path in cli.project.iterdir()) == ["build", "src"]
    again = cli.ask("go on", "--continue")
    assert (again.code, again.out) == (0, "ok\n")
    assert history_fault(server.last) is None


def test_bad_usage_is_exit_2(offline: Cli) -> None:
    for words in (
        ["--bogus"],
        ["-p"],
        ["-p", "   "],
        ["-p", "hi", "--output-format", "xml"],
        ["-p", "hi", "--max-turns", "0"],
        ["-p", "hi", "--resume"],
        ["-p", "hi", "--continue", "--session-id", "x"],
        ["--output-format", "json", "hi"],
        ["hi"],
        ["-p", "hi", "--add-dir", "nowhere"],
        ["-p", "hi", "--demo", "--tools", "Bahs"],
    ):
        done = offline.run(*words)
        assert (done.code, done.out, len(done.told)) == (2, "", 1), words


def test_commands_without_a_screen(offline: Cli) -> None:
    shown = offline.ask("/help")
    assert (shown.code, shown.err) == (0, "")
    assert "/cost" in shown.out
    for prompt in ("/bogus", "/quit"):
        refused = offline.ask(prompt)
        assert (refused.code, refused.out) == (1, "")
        assert prompt in refused.err
    assert offline.transcripts == []


def test_a_refusal_with_an_explanation_says_it(cli: Cli, server: MessagesServer) -> None:
    server.queue(refusal(text("I will not")))
    done = cli.ask("hi")
    assert (done.code, done.out) == (1, "")
    assert "declined" in done.err
