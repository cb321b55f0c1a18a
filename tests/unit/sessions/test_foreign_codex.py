from __future__ import annotations

import json
from typing import Any

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
    OLD_CODEX,
    at,
    blocks,
    opened,
    said,
    saying,
    texts,
)


def test_parallel_calls_stay_one_turn_with_their_results() -> None:
    view = opened(CODEX)
    messages = request_view(view.graph, at(view, "The fence is blue.")).messages
    assert history_fault({"messages": messages}) is None
    calls, results = messages[1]["content"], messages[2]["content"]
    assert [block["type"] for block in calls] == ["text", "tool_use", "tool_use"]
    assert calls[1:] == [
        {
            "type": "tool_use",
            "id": "call_pears",
            "name": "exec_command",
            "input": {"cmd": "ls pears | wc -l"},
        },
        {
            "type": "tool_use",
            "id": "call_plums",
            "name": "exec_command",
            "input": {"cmd": "ls plums | wc -l"},
        },
    ]
    assert [result["tool_use_id"] for result in results] == ["call_pears", "call_plums"]
    assert [result.get("is_error", False) for result in results] == [False, True]
    assert results[0]["content"].endswith("Output:\n17")


def test_other_kinds_of_calls_keep_their_name_and_arguments() -> None:
    view = opened(CODEX)
    found = {
        block["id"]: (block["name"], block["input"])
        for record in view.graph.records
        if record.tool_uses
        for block in record.data["message"]["content"]
    }
    assert found["call_patch"][0] == "apply_patch"
    assert found["call_patch"][1]["input"].startswith("*** Begin Patch")
    assert found["call_paint"] == ("container.paint", {"arguments": "colour = green"})
    assert found["call_gate"] == ("local_shell", {"type": "exec", "command": ["ls", "gate"]})
    assert found["ws_7"] == ("web_search", {"type": "search", "query": "plum season"})


def test_a_result_keeps_its_pictures_and_its_caller() -> None:
    view = opened(CODEX)
    (record,) = [r for r in view.graph.records if r.tool_results == ("call_paint",)]
    (result,) = record.data["message"]["content"]
    assert [part["type"] for part in result["content"]] == ["text", "image"]
    (caller,) = [r for r in view.graph.records if r.tool_uses == ("call_paint",)]
    assert record.data["sourceToolAssistantUUID"] == caller.uuid
    assert caller.data["original"] == {"namespace": "tools"}


def test_only_the_person_s_words_are_prompts() -> None:
    view = opened(CODEX)
    tree = prompt_tree(view.graph)
    assert [said(view.graph.records[here]) for here in tree.prompts] == [
        "Count the pears and the plums",
        "Paint the fence blue",
        "Paint the fence green",
        "Now the gate",
    ]
    kinds = [user_kind(r, r.data) for r in view.graph.records if r.type == "user"]
    assert kinds.count("meta") == 2


def test_a_turn_that_was_rolled_back_is_a_branch() -> None:
    view = opened(CODEX)
    tree = prompt_tree(view.graph)
    first = tree.prompts[0]
    assert tree.forks == (first,)
    assert [said(view.graph.records[here]) for here in tree.following[first]] == [
        "Paint the fence blue",
        "Paint the fence green",
    ]
    assert "The fence is blue." in texts(view, at(view, "The fence is blue."))
    assert "The fence is blue." not in texts(view, at(view, "The fence is green."))


def test_a_compaction_keeps_what_codex_kept() -> None:
    view = opened(CODEX)
    assert texts(view) == [
        "17 pears were counted and the fence was painted green.",
        "Count the pears and the plums",
        "Paint the fence green",
        "Now the gate",
        "There is no gate.",
    ]
    shown = [said(view.graph.records[here]) for here in timeline(view.graph, view.leaf)]
    assert shown.count("Paint the fence green") == 1
    assert "17 pears; there is no folder of plums." in shown


def test_reasoning_is_shown_and_never_sent() -> None:
    view = opened(CODEX)
    thinking = [
        record
        for record in view.graph.records
        if record.type == "assistant" and record.data["message"]["content"][0]["type"] == "thinking"
    ]
    (record,) = thinking
    assert record.data["message"]["content"] == [
        {"type": "thinking", "thinking": "Both counts are independent."}
    ]
    assert record.data["original"]["encrypted_content"] == "gAAAAB-opaque"
    sent = blocks(view, at(view, "17 pears; there is no folder of plums."))
    assert "thinking" not in {block["type"] for block in sent}


def test_nothing_is_shown_twice() -> None:
    view = opened(CODEX)
    spoken = [said(r) for r in view.graph.records if r.in_chain and isinstance(said(r), str)]
    assert len(spoken) == len(set(spoken))


def test_usage_is_counted_once_a_reply() -> None:
    view = opened(CODEX)
    found = [usage for _, usage in message_usages(view.graph)]
    assert found == [
        {
            "input_tokens": 300,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 600,
            "output_tokens": 40,
        },
        {
            "input_tokens": 200,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 900,
            "output_tokens": 30,
        },
    ]


def test_the_envelope_says_where_and_when() -> None:
    view = opened(CODEX)
    record = saying(view, "There is no gate.")
    assert record.session_id == "019d4b11-7c20-7a31-9d10-5a0c6f1b2e44"
    assert record.timestamp == "2026-04-02T08:00:40.000Z"
    assert record.model == "gpt-6-codex"
    wanted = {"cwd": "/srv/orchard", "version": "0.98.0", "gitBranch": "main"}
    assert wanted.items() <= record.data.items()
    assert title_from(view.graph.records) == "Orchard and fence"


def test_the_older_layout_reads_alike() -> None:
    view = opened(OLD_CODEX)
    messages = request_view(view.graph, view.leaf).messages
    assert history_fault({"messages": messages}) is None
    tree = prompt_tree(view.graph)
    assert [said(view.graph.records[here]) for here in tree.prompts] == [
        "Does the mill turn?",
        "Then turn it",
    ]
    results = [block for block in blocks(view) if block["type"] == "tool_result"]
    assert [result["is_error"] for result in results] == [True, True]
    assert results[1]["content"] == "the wheel is stuck"
    record = saying(view, "It is stuck.")
    assert record.session_id == "5e2f9a4c-1d3b-4c6e-8f70-2b9d8c7a6e51"
    assert (record.data["gitBranch"], record.data["cwd"]) == ("trunk", "/srv/mill")


def line(kind: str, **payload: Any) -> bytes:
    data = {"timestamp": "2026-01-01T00:00:00.000Z", "type": kind, "payload": payload}
    return json.dumps(data).encode() + b"\n"


def test_a_rollout_of_events_alone_is_shown_by_its_events() -> None:
    content = line("session_meta", id="mill", cli_version="0.60.0") + b"".join(
        [
            line("event_msg", type="user_message", message="Turn"),
            line("event_msg", type="agent_message", message="It turns."),
        ]
    )
    view = open_view(read_any(content).records)
    assert texts(view) == ["Turn", "It turns."]


def test_a_compaction_without_a_readable_summary_says_so() -> None:
    said_before = {"type": "message", "role": "user", "content": [{"text": "Turn"}]}
    content = line("session_meta", id="mill", cli_version="0.60.0") + b"".join(
        [
            line("response_item", **said_before),
            line("compacted", message="", replacement_history=[said_before]),
        ]
    )
    summary, kept = texts(open_view(read_any(content).records))
    assert "encrypted" in summary
    assert kept == "Turn"


def prompt(text: str) -> bytes:
    content = [{"type": "input_text", "text": text}]
    return line("response_item", type="message", role="user", content=content)


def reply(text: str) -> bytes:
    content = [{"type": "output_text", "text": text}]
    return line("response_item", type="message", role="assistant", content=content)


def rolled_back(turns: int) -> bytes:
    return line("event_msg", type="thread_rolled_back", num_turns=turns)


def test_turns_are_rolled_back_again_and_again() -> None:
    content = line("session_meta", id="mill", cli_version="0.60.0") + b"".join(
        [
            *(prompt("one"), prompt("two"), rolled_back(1)),
            *(prompt("three"), rolled_back(2)),
            *(prompt("four"), rolled_back(9), prompt("five"), rolled_back(0), prompt("six")),
        ]
    )
    view = open_view(read_any(content).records)
    assert texts(view, at(view, "three")) == ["one", "three"]
    assert texts(view, at(view, "four")) == ["four"]
    assert texts(view, at(view, "six")) == ["five", "six"]


def test_what_was_rolled_back_is_not_kept_by_a_compaction() -> None:
    kept = [{"type": "message", "role": "user", "content": [{"text": "two"}]}]
    content = line("session_meta", id="mill", cli_version="0.60.0") + b"".join(
        [
            *(prompt("one"), prompt("two"), rolled_back(1), prompt("three")),
            line("compacted", message="All of it.", replacement_history=kept),
        ]
    )
    assert texts(open_view(read_any(content).records)) == ["All of it."]


def test_a_count_that_comes_again_is_not_the_next_reply_s() -> None:
    tokens = {"input_tokens": 5, "output_tokens": 2}
    info = {"total_token_usage": tokens, "last_token_usage": tokens}
    counted = line("event_msg", type="token_count", info=info)
    content = line("session_meta", id="mill", cli_version="0.60.0") + b"".join(
        [prompt("one"), reply("first"), counted, prompt("two"), reply("second"), counted]
    )
    view = open_view(read_any(content).records)
    assert [usage["output_tokens"] for _, usage in message_usages(view.graph)] == [2]
