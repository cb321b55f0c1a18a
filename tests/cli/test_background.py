"""What print mode does beside its turns, and what `reverie ledger` says of it."""

from __future__ import annotations

import json
import subprocess
import time

import pytest

from app.models.rehearsal.markers import RECAP_MARKER, SUGGESTION_MARKER
from tests.cli.runner import Cli
from tests.fakes.messages_server import MessagesServer
from tests.fakes.script import Body, Reply, Stall, text

TWO = b"""{"type":"user","message":{"role":"user","content":"look at the cart"}}
{"type":"user","message":{"role":"user","content":"and mend it"}}
"""
STREAM = ("--output-format", "stream-json", "--input-format", "stream-json", "--verbose")
ON = {"REVERIE_ENABLE_PROMPT_SUGGESTION": "true"}


def test_a_recap_as_a_prompt(cli: Cli, server: MessagesServer) -> None:
    server.say("I looked at the cart.")
    first = cli.ask("look at the cart", "--output-format", "json").json
    server.queue(
        Reply((text("The cart was read. Next is its clock."),), usage={"input_tokens": 40})
    )
    done = cli.ask("/recap", "--resume", first["session_id"])
    assert (done.code, done.out) == (0, "The cart was read. Next is its clock.\n")
    before, asked = (call.body for call in server.calls)
    assert asked["tool_choice"] == {"type": "none"}
    assert RECAP_MARKER in json.dumps(asked["messages"][-1])
    assert (asked["system"], asked["tools"]) == (before["system"], before["tools"])
    shown = cli.run("sessions", "show", first["session_id"], "--json").json
    assert shown["messages"] == 2
    ledger = cli.run("ledger", "--json").json
    (entry,) = ledger["days"]
    assert entry.keys() == {
        "day", "mechanism", "calls", "input", "output", "cache_read", "cache_write", "cost_usd"
    }  # fmt: skip
    assert (entry["mechanism"], entry["calls"], entry["input"]) == ("recap", 1, 40)
    assert entry["cost_usd"] > 0
    table = cli.run("ledger").out.splitlines()
    assert table[0].split()[:3] == ["day", "mechanism", "calls"] and "recap" in table[1]


def test_a_recap_of_nothing_is_a_failure_in_words(cli: Cli, server: MessagesServer) -> None:
    done = cli.ask("/recap")
    assert done.code == 1 and "nothing to recap yet" in done.err
    assert not server.calls


def test_an_empty_ledger(offline: Cli) -> None:
    assert offline.run("ledger", "--json").json == {"days": []}
    assert offline.run("ledger").out == "No background call was made yet.\n"
    assert offline.run("ledger", "nonsense").code == 2


@pytest.mark.parametrize("is_on", [True, False])
def test_a_suggestion_comes_behind_the_result_where_it_is_wanted(
    cli: Cli, server: MessagesServer, is_on: bool
) -> None:
    cli.environment |= ON if is_on else {}
    server.say("I looked.", "Mended.")
    server.queue(*[Reply((text("run the tests again"),))] * is_on)
    done = cli.run("-p", *STREAM, stdin=TWO)
    kinds = [event["type"] for event in done.events]
    assert kinds[:5] == ["system", "assistant", "post_turn_summary", "result", "assistant"]
    assert kinds[5:] == [
        "post_turn_summary", "post_turn_summary", "result", *["prompt_suggestion"] * is_on
    ]  # fmt: skip
    cleared, summary = done.events[5], done.events[6]
    assert cleared["status_category"] is None and summary["status_category"] == "completed"
    if is_on:
        assert done.events[-1]["suggestion"] == "run the tests again"
        assert SUGGESTION_MARKER in json.dumps(server.calls[-1].body["messages"][-1])
        spent = cli.run("ledger", "--json").json["days"]
        assert [each["mechanism"] for each in spent] == ["suggestion"]
    assert len(server.calls) == 2 + is_on


def test_a_suggestion_that_is_refused_is_no_event(cli: Cli, server: MessagesServer) -> None:
    cli.environment |= ON
    server.say("I looked.", "Mended.", "Let me run the tests for you.")
    done = cli.run("-p", *STREAM, stdin=TWO)
    assert done.code == 0
    assert done.events[-1]["type"] == "result" and len(server.calls) == 3


def test_a_spent_budget_counts_in_print_mode_too(cli: Cli, server: MessagesServer) -> None:
    cli.environment |= ON
    cli.run("config", "set", "background.daily_budget_usd", "0.0000001")
    server.say("I looked.", "Mended.", "run the tests again", "And again.")
    third = b'{"type":"user","message":{"role":"user","content":"and again"}}\n'
    done = cli.run("-p", *STREAM, stdin=TWO + third)
    assert done.code == 0
    suggestions = [call for call in server.calls if SUGGESTION_MARKER in json.dumps(call.body)]
    assert len(suggestions) <= 1


def test_the_next_prompt_does_not_wait_for_a_suggestion(cli: Cli, server: MessagesServer) -> None:
    cli.environment |= ON

    def suggests(body: Body) -> bool:
        return SUGGESTION_MARKER in json.dumps(body)

    server.queue(Reply((text("never"),), fault=Stall(1)), when=suggests)
    server.say("I looked.", "Mended.", "And again.", "no")
    process = cli.start("-p", *STREAM, stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(TWO)
    process.stdin.flush()
    while not any(suggests(call.body) for call in server.calls):
        time.sleep(0.01)
    process.stdin.write(b'{"type":"user","message":{"role":"user","content":"and again"}}\n')
    process.stdin.close()
    process.stdin = None
    done = cli.wait(process)
    results = [event["result"] for event in done.events if event["type"] == "result"]
    assert results == ["I looked.", "Mended.", "And again."]
