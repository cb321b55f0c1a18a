"""Files that broke other programs, through the command line (tests/data/cases)."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path

import pytest

from app.paths import Places
from tests.cli.runner import CASES, TRANSCRIPTS, Cli
from tests.fakes.messages_server import MessagesServer


def put(cli: Cli, case: str) -> Path:
    """A case's file as a session of the project."""
    places = Places(cli.config, cli.data, cli.data / "logs")
    (source,) = next(CASES.glob(f"{case}-*")).glob("*.jsonl")
    name = source.stem if case != "B02" else str(uuid.uuid4())
    file = places.transcript(cli.project, name)
    file.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, file)
    return file


@pytest.mark.parametrize("case", ["B01", "B02", "B05", "B07", "B41"])
def test_a_damaged_session_goes_on(cli: Cli, server: MessagesServer, case: str) -> None:
    file = put(cli, case)
    before = file.read_bytes()
    shown = cli.run("sessions", "show", file.stem, "--json")
    assert (shown.code, shown.err) == (0, "")
    assert file.read_bytes() == before
    done = cli.ask("go on", "--resume", file.stem)
    assert (done.code, done.out) == (0, "ok\n")
    assert bool(done.err) == bool(shown.json["warnings"])
    assert "go on" in server.last["messages"][-1]["content"][-1]["text"]
    assert file.read_bytes().startswith(before)
    request = cli.run("sessions", "request", file.stem, "--json").json["messages"]
    assert request[-1] == {"role": "assistant", "content": [{"type": "text", "text": "ok"}]}


def test_b16_made_results_are_written_once(cli: Cli, server: MessagesServer) -> None:
    file = put(cli, "B16")
    before = file.read_bytes()
    for prompt in ("go on", "and on"):
        assert cli.ask(prompt, "--resume", file.stem).code == 0
    content = file.read_bytes()
    assert content.startswith(before)
    messages = server.last["messages"]
    results = [b for m in messages for b in m["content"] if b["type"] == "tool_result"]
    assert [result.get("is_error", False) for result in results] == [False, True, True]
    assert content.count(b'"type":"tool_result"') == before.count(b'"type":"tool_result"') + 2


def test_a_file_of_any_origin_is_shown(offline: Cli) -> None:
    shown = offline.run("sessions", "show", str(TRANSCRIPTS / "54-made-odd-lines.jsonl"), "--json")
    facts = shown.json
    assert facts["session_id"] == "26b1cffc-070d-4109-a085-9634fe3c9c8f"
    assert (facts["records"], facts["messages"]) == (12, 12)
    assert (facts["branch_points"], facts["leaves"]) == (1, 2)
    assert facts["leaf"] == "7eb86c57-a811-40a1-aea3-30a1a66d58b5"
    assert facts["compact_boundaries"] == 0
    assert {"kind", "count", "detail"} == facts["warnings"][0].keys()
    refused = offline.run("sessions", "show", str(TRANSCRIPTS / "56-made-stream-json.jsonl"))
    assert (refused.code, refused.out, len(refused.told)) == (1, "", 1)
    unknown = offline.run("sessions", "show", "0" * 8)
    assert (unknown.code, unknown.err) == (1, "reverie: Invalid session ID: 00000000\n")
