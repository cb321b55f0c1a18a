"""Compaction from the command line (spec/sessions.md, Compact; spec/cli.md)."""

from __future__ import annotations

import json
import shutil
from typing import Any

from app.paths import Places
from tests.cli.runner import CASES, Cli
from tests.fakes.history_rules import history_fault
from tests.fakes.messages_server import MessagesServer, Reply, Status, text

OWN = "11111111-2222-4333-8444-555555555555"
B09 = "8d6acb1d-bf9b-579a-95f7-d322d1dd6208"


def said(messages: list[dict[str, Any]]) -> str:
    return json.dumps(messages, ensure_ascii=False)


def session(cli: Cli, *words: str) -> str:
    """A session of these prompts on disk; returns its id."""
    lines: list[dict[str, Any]] = []
    for number, each in enumerate(words):
        asked = {"role": "user", "content": each}
        answer = [{"type": "text", "text": f"Answer to {each}."}]
        usage = {"input_tokens": 10, "output_tokens": 5}
        said = {"id": f"m{number}", "role": "assistant", "model": "claude-opus-5-5", "usage": usage}
        before = lines[-1]["uuid"] if lines else None
        lines.append({"type": "user", "uuid": f"p{number}", "parentUuid": before, "message": asked})
        message = {**said, "content": answer, "stop_reason": "end_turn"}
        reply = {"type": "assistant", "uuid": f"a{number}", "parentUuid": f"p{number}"}
        lines.append({**reply, "message": message})
    places = Places(cli.config, cli.data, cli.data / "logs")
    file = places.transcript(cli.project, OWN)
    file.parent.mkdir(parents=True)
    stamp = {"sessionId": OWN, "timestamp": "2026-11-02T09:00:00.000Z"}
    file.write_text("".join(json.dumps({**line, **stamp}) + "\n" for line in lines))
    return OWN


def test_a_compacted_session_goes_on_with_its_summary(cli: Cli, server: MessagesServer) -> None:
    session_id = session(cli, "first", "second")
    old = cli.transcripts[0].read_bytes()
    server.say("THE SUMMARY", "Answer to third.")
    done = cli.ask("/compact keep names", "--resume", session_id)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Compacted: 4 messages summed up")
    assert "keep names" in said(server.last["messages"][-1:])
    assert cli.transcripts[0].read_bytes().startswith(old)

    cli.ask("third", "--resume", session_id)
    sent = said(server.last["messages"])
    assert "THE SUMMARY" in sent
    assert "Answer to first." not in sent
    assert "second" in sent, "the last request stays"
    assert history_fault(server.last) is None


def test_the_boundary_is_told_as_an_event(cli: Cli, server: MessagesServer) -> None:
    session_id = session(cli, "first")
    server.say("THE SUMMARY")
    done = cli.ask(
        "/compact", "--resume", session_id, "--output-format", "stream-json", "--verbose"
    )
    events = done.events
    boundary = next(e for e in events if e.get("subtype") == "compact_boundary")
    assert boundary["session_id"] == session_id
    assert boundary["compact_metadata"]["trigger"] == "manual"
    assert events[-1]["subtype"] == "success"
    assert events[-1]["usage"]["output_tokens"] > 0, "the summary's own call is counted"


def test_a_fork_of_a_compacted_session_carries_the_summary_alone(
    cli: Cli, server: MessagesServer
) -> None:
    session_id = session(cli, "first", "second")
    server.say("THE SUMMARY", "Answer in the fork.")
    cli.ask("/compact", "--resume", session_id)
    forked = cli.ask("new way", "--resume", session_id, "--fork-session", "--output-format", "json")
    assert forked.json["session_id"] != session_id
    sent = said(server.last["messages"])
    assert "THE SUMMARY" in sent
    assert "new way" in sent
    assert "first" not in sent
    assert "Answer to" not in sent


def test_undo_brings_back_what_was_summed_up(cli: Cli, server: MessagesServer) -> None:
    session_id = session(cli, "first", "second")
    server.say("THE SUMMARY", "Answer to third.")
    cli.ask("/compact", "--resume", session_id)
    undone = cli.ask("/uncompact", "--resume", session_id)
    assert undone.code == 0
    cli.ask("third", "--resume", session_id)
    sent = said(server.last["messages"])
    assert "Answer to first." in sent
    assert "THE SUMMARY" not in sent
    again = cli.ask("/uncompact", "--resume", session_id)
    assert again.code == 1
    assert "no compaction that could be undone" in again.err


def test_a_full_context_is_summed_up_before_the_next_call(cli: Cli, server: MessagesServer) -> None:
    server.queue(Reply((text("Nearly full."),), usage={"input_tokens": 900_000}))
    session_id = cli.ask("first", "--output-format", "json").json["session_id"]
    server.queue(Reply((text("THE SUMMARY"),), usage={"input_tokens": 900_100}))
    server.queue(Reply((text("Light again."),), usage={"input_tokens": 900}))
    done = cli.ask("second", "--resume", session_id, "--output-format", "stream-json", "--verbose")
    assert done.code == 0
    kinds = [(event["type"], event.get("subtype")) for event in done.events]
    assert kinds == [
        ("system", "init"),
        ("system", "compact_boundary"),
        ("assistant", None),
        ("post_turn_summary", None),
        ("result", "success"),
    ]
    told = done.events[1]["compact_metadata"]
    assert (told["trigger"], told["preTokens"] > 900_000) == ("auto", True)
    assert done.events[-1]["usage"]["input_tokens"] == 901_000, "both calls are counted"
    sent = said(server.last["messages"])
    assert "THE SUMMARY" in sent
    assert "second" in sent
    assert "Nearly full." not in sent


def test_a_failed_compaction_changes_nothing(cli: Cli, server: MessagesServer) -> None:
    session_id = session(cli, "first")
    old = cli.transcripts[0].read_bytes()
    server.queue(Status(400, "invalid_request_error", "no"))
    failed = cli.ask("/compact", "--resume", session_id)
    assert failed.code == 1
    assert len(failed.told) == 1
    server.queue(Reply((text("   "),)), Reply((text(" "),)))
    empty = cli.ask("/compact", "--resume", session_id)
    assert empty.code == 1
    assert "wrote no summary" in empty.err
    nothing = cli.ask("/compact")
    assert (nothing.code, "nothing to sum up" in nothing.err) == (1, True)
    assert cli.transcripts[0].read_bytes() == old


def test_a_summary_whose_past_is_gone_is_gone_on_with(cli: Cli, server: MessagesServer) -> None:
    """cases/B09."""
    place = cli.data / "projects" / "somewhere"
    place.mkdir(parents=True)
    file = place / f"{B09}.jsonl"
    shutil.copy(CASES / "B09-logical-parent-missing" / f"{B09}.jsonl", file)
    server.say("ok")
    done = cli.ask("go on", "--resume", B09)
    assert done.code == 0
    messages = server.last["messages"]
    assert history_fault(server.last) is None
    assert [m["role"] for m in messages] == ["user", "assistant", "user", "assistant", "user"]
    assert said(messages).count("continues from an earlier one") == 1
    assert cli.ask("/uncompact", "--resume", B09).code == 1
