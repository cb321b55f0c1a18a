"""Resumed sessions that broke other programs (cases B11, B12, B13), through the command line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.cli.runner import Cli
from tests.cli.test_cases import put
from tests.fakes.history_rules import history_fault
from tests.fakes.messages_server import MessagesServer, Status

THINKING = {"thinking", "redacted_thinking"}


def kinds(messages: Iterable[dict[str, Any]]) -> list[str]:
    return [block["type"] for message in messages for block in message["content"]]


def test_orphan_results_are_left_out_and_told(cli: Cli, server: MessagesServer) -> None:
    """cases/B12."""
    file = put(cli, "B12")
    before = file.read_bytes()
    done = cli.ask("go on", "--resume", file.stem)
    assert done.code == 0
    assert "results whose call was compacted away or lost are not sent" in done.err
    assert history_fault(server.last) is None
    sent = json.dumps(server.last["messages"])
    assert "toolu_gone_1" not in sent
    assert "srvtoolu_gone" not in sent
    assert "srvtoolu_1" in sent
    assert file.read_bytes().startswith(before)
    assert cli.ask("/compact", "--resume", file.stem).code == 0


def test_foreign_thinking_is_never_sent(cli: Cli, server: MessagesServer) -> None:
    """cases/B13."""
    file = put(cli, "B13")
    before = file.read_bytes()
    done = cli.ask("hi", "--resume", file.stem, "--model", "claude-opus-5-5")
    assert done.code == 0
    assert THINKING.isdisjoint(kinds(server.last["messages"]))
    assert history_fault(server.last) is None
    assert "short thought" not in json.dumps(server.last["messages"])
    same = cli.ask("hi", "--resume", file.stem, "--model", "claude-model-x")
    assert same.code == 0
    signed = [b for m in server.last["messages"] for b in m["content"] if b["type"] in THINKING]
    assert [block.get("signature") for block in signed] == ["ZmFrZS1zaWctWA==", None]
    assert Path(file).read_bytes().startswith(before)
    assert cli.ask("/compact", "--resume", file.stem).code == 0
    assert cli.ask("again", "--resume", file.stem).code == 0
    assert history_fault(server.last) is None


def test_refused_thinking_is_left_out_once_and_told(cli: Cli, server: MessagesServer) -> None:
    file = put(cli, "B13")
    words = "messages.1.content.0: Invalid `signature` in `thinking` block"
    server.queue(Status(400, "invalid_request_error", words))
    server.say("On we go.")
    done = cli.ask("hi", "--resume", file.stem, "--model", "claude-model-x")
    assert (done.code, done.out) == (0, "On we go.\n")
    assert "did not accept the thinking of earlier replies" in done.err
    assert len(server.calls) == 2
    assert THINKING.isdisjoint(kinds(server.last["messages"]))
