from __future__ import annotations

import json
import re
import uuid

from app.sessions.branches import prompt_tree
from app.sessions.foreign.read import read_any
from app.sessions.graph import open_view
from app.sessions.history import timeline
from app.sessions.prompts import user_kind
from app.sessions.summary import message_usages, title_from
from app.sessions.view import request_view
from tests.fakes.history_rules import history_fault
from tests.unit.sessions.foreign_files import (
    CODEX,
    LINEAR_PI,
    PI,
    at,
    blocks,
    opened,
    said,
    saying,
    texts,
)


def test_parallel_calls_stay_one_turn_with_their_results() -> None:
    view = opened(PI)
    messages = request_view(view.graph, view.leaf).messages
    assert history_fault({"messages": messages}) is None
    calls, results = messages[1]["content"], messages[2]["content"][:2]
    assert [block["type"] for block in calls] == ["text", "tool_use", "tool_use"]
    assert calls[1]["name"] == "read"
    assert [call["input"] for call in calls[1:]] == [{"path": "lamp.md"}, {"path": "lens.md"}]
    assert [result["tool_use_id"] for result in results] == [call["id"] for call in calls[1:]]
    assert [result["content"] for result in results] == ["the lamp is lit", "no such file"]
    assert [result.get("is_error", False) for result in results] == [False, True]


def test_calls_keep_the_ids_that_pi_gave_them() -> None:
    ids = [tool for record in opened(PI).graph.records for tool in record.tool_uses]
    assert ids == ["call_a|fc_a", "call_b|fc_b"]


def test_the_api_gets_ids_and_names_that_it_takes() -> None:
    sent = [*blocks(opened(PI)), *blocks(opened(CODEX), at(opened(CODEX), "The fence is green."))]
    calls = [block for block in sent if block["type"] == "tool_use"]
    results = [block["tool_use_id"] for block in sent if block["type"] == "tool_result"]
    assert len(calls) == 7
    for call in calls:
        assert re.fullmatch(r"[a-zA-Z0-9_-]+", call["id"])
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", call["name"])
    assert sorted(results) == sorted(call["id"] for call in calls)


def test_branches_stay_branches() -> None:
    view = opened(PI)
    tree = prompt_tree(view.graph)
    first, north, spring, south = tree.prompts
    assert [said(view.graph.records[here]) for here in tree.prompts] == [
        "Look at this lamp",
        "Order a lens from the north",
        "When does it come?",
        "Order a lens from the south",
    ]
    assert dict(tree.following) == {None: (first,), first: (north, south), north: (spring,)}


def test_a_branch_is_not_compacted_by_another_one() -> None:
    view = opened(PI)
    spoken = texts(view)
    assert spoken[0] == "Look at this lamp"
    assert spoken[-1] == "Ordered from the south."
    assert "The lamp is lit and a lens was ordered." not in spoken
    assert any("north would deliver in spring" in text for text in spoken)


def test_a_compaction_keeps_what_pi_kept() -> None:
    view = opened(PI)
    assert texts(view, at(view, "In spring.")) == [
        "The lamp is lit and a lens was ordered.",
        "Order a lens from the north",
        "Ordered from the north.",
        "When does it come?",
        "In spring.",
    ]
    shown = [said(view.graph.records[n]) for n in timeline(view.graph, at(view, "In spring."))]
    assert shown[0] == "Look at this lamp"
    assert shown.count("Ordered from the north.") == 1
    (boundary,) = [record for record in view.graph.records if record.is_boundary]
    assert boundary.data["compactMetadata"]["preTokens"] == 5200


def test_commands_of_the_person_are_no_prompts_and_some_are_not_sent() -> None:
    view = opened(PI)
    kinds = [user_kind(r, r.data) for r in view.graph.records if r.type == "user"]
    assert kinds.count("echo") == 2
    spoken = "\n".join(texts(view))
    assert "<bash-input>ls lens*</bash-input>" in spoken
    assert "exit code 1" in spoken
    assert "noon" not in spoken
    assert any("noon" in str(r.data.get("content")) for r in view.graph.records)


def test_pictures_thinking_and_failures_are_kept() -> None:
    view = opened(PI)
    assert [block["type"] for block in blocks(view)][:2] == ["text", "image"]
    (thinking,) = [
        r
        for r in view.graph.records
        if r.type == "assistant" and r.data["message"]["content"][0]["type"] == "thinking"
    ]
    assert "signature" not in thinking.data["message"]["content"][0]
    assert thinking.data["original"]["parts"] == [{"thinkingSignature": "sig-1"}]
    failed = saying(view, "the line is dead")
    assert failed.api_error
    assert "the line is dead" not in texts(view)


def test_usage_and_title_come_along() -> None:
    view = opened(PI)
    usages = [usage for _, usage in message_usages(view.graph)]
    assert len(usages) == 5
    assert usages[0] == {
        "input_tokens": 120,
        "cache_creation_input_tokens": 12,
        "cache_read_input_tokens": 80,
        "output_tokens": 30,
    }
    assert title_from(view.graph.records) == "The missing lens"
    assert saying(view, "In spring.").data["cwd"] == "/srv/lighthouse"


def test_the_linear_format_reads_alike() -> None:
    view = opened(LINEAR_PI)
    tree = prompt_tree(view.graph)
    assert len(tree.prompts) == 3
    assert tree.forks == ()
    assert texts(view) == [
        "Heron and Tern are in.",
        "And tomorrow?",
        "Nobody knows.",
        "The bell rings.",
        "Close the harbour",
    ]
    (session_id,) = {r.session_id for r in view.graph.records}
    assert str(uuid.UUID(session_id)) == session_id


def entry(name: str, parent: str | None, text: str) -> bytes:
    message = {"role": "user", "content": text}
    data = {"type": "message", "id": name, "parentId": parent, "message": message}
    return json.dumps(data).encode() + b"\n"


def test_parents_may_come_later_be_missing_or_run_in_a_circle() -> None:
    header = b'{"type":"session","version":3,"id":"x","cwd":"/x"}\n'
    content = header + b"".join(
        [
            entry("b", "a", "second"),
            entry("a", None, "first"),
            entry("d", "gone", "orphan"),
            entry("e", "f", "circle"),
            entry("f", "e", "round"),
            b'{"type":"custom","id":"g","parentId":"g","customType":"c"}\n',
            entry("h", "g", "after a circle"),
        ]
    )
    view = open_view(read_any(content).records)
    assert texts(view, at(view, "second")) == ["first", "second"]
    assert view.graph.defects().orphan_parents == 1
    assert view.graph.defects().cycles == 1
    assert texts(view, at(view, "after a circle")) == ["after a circle"]


def test_a_later_compaction_may_keep_what_an_earlier_one_kept() -> None:
    def compaction(name: str, parent: str, summary: str) -> bytes:
        data = {"type": "compaction", "id": name, "parentId": parent, "summary": summary}
        return json.dumps(data | {"firstKeptEntryId": "b"}).encode() + b"\n"

    header = b'{"type":"session","version":3,"id":"x","cwd":"/x"}\n'
    content = header + b"".join(
        [
            *(entry("a", None, "first"), entry("b", "a", "second")),
            *(compaction("c", "b", "one"), entry("d", "c", "third")),
            *(compaction("e", "d", "two"), entry("f", "e", "fourth")),
        ]
    )
    view = open_view(read_any(content).records)
    assert texts(view, at(view, "third")) == ["one", "second", "third"]
    assert texts(view) == ["two", "second", "third", "fourth"]


def test_a_reply_that_was_broken_off_is_marked() -> None:
    message = {
        "role": "assistant",
        "content": [{"type": "text", "text": "I am"}],
        "model": "m",
        "stopReason": "aborted",
        "errorMessage": "stopped",
    }
    data = {"type": "message", "id": "b", "parentId": "a", "message": message}
    content = entry("a", None, "Who?") + json.dumps(data).encode() + b"\n"
    view = open_view(read_any(content).records)
    assert saying(view, "I am").data["isAbortedMidStream"] is True
    assert saying(view, "stopped").parent == saying(view, "I am").uuid
    assert texts(view) == ["Who?", "I am"]
