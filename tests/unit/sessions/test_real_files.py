from __future__ import annotations

import time
from collections import Counter
from itertools import groupby
from typing import Any

import pytest

from app.cli.transcript import read_transcript
from app.errors import ReverieError
from app.models.provider import Usage
from app.models.usage import usage_from
from app.sessions.branches import prompt_tree
from app.sessions.codec import Parsed, parse_transcript
from app.sessions.graph import MessageGraph, open_view
from app.sessions.prompts import CUT_OFF_RESULT
from app.sessions.summary import kinds_of_users, message_usages, warnings_of
from app.sessions.view import request_view
from tests.fakes.history_rules import history_fault
from tests.unit.sessions.real_files import EXPECTED, NO_TRANSCRIPTS, TRANSCRIPTS

pytestmark = pytest.mark.parametrize("name", EXPECTED)


def parsed(name: str) -> Parsed:
    return parse_transcript((TRANSCRIPTS / name).read_bytes())


def graph_of(name: str) -> MessageGraph:
    return MessageGraph(parsed(name).records)


def test_every_record_is_read(name: str) -> None:
    wanted, found = EXPECTED[name], parsed(name)
    assert len(found.records) == wanted["records"]
    assert Counter(record.type for record in found.records) == wanted["types"]
    assert found.count("corrupt_line") == wanted["bad_lines"]
    assert found.count("torn_line") == wanted["torn_tail"]
    assert found.count("glued_line") == wanted["glued_lines"]


def test_records_keep_their_bytes(name: str) -> None:
    content = (TRANSCRIPTS / name).read_bytes()
    for record in parsed(name).records:
        assert record.raw in content


def test_links_are_told_apart(name: str) -> None:
    wanted, graph = EXPECTED[name], graph_of(name)
    defects = graph.defects()
    assert defects.orphan_parents == wanted["orphan_parents"]
    assert defects.duplicate_uuids == wanted["duplicate_uuids"]
    assert defects.cycles == wanted["cycles"]
    assert defects.dangling_logical_parents == wanted["dangling_logical_parents"]
    boundaries = sum(1 for here in graph.position.values() if graph.records[here].is_boundary)
    assert boundaries == wanted["compact_boundaries"]


def test_prompts_are_the_person_s(name: str) -> None:
    wanted, graph = EXPECTED[name], graph_of(name)
    kinds = kinds_of_users(graph)
    assert kinds.pop("prompt", 0) == wanted["user_prompts"]
    assert kinds == wanted["user_other"]


def test_branches_are_forks_of_prompts(name: str) -> None:
    wanted, graph = EXPECTED[name], graph_of(name)
    tree = prompt_tree(graph)
    forks = [
        {
            "prompt": graph.records[here].uuid,
            "next_prompts": [graph.records[each].uuid for each in tree.following[here]],
        }
        for here in tree.forks
    ]
    assert len(tree.prompts) == wanted["user_prompts"]
    assert len(tree.following.get(None, ())) == wanted["first_prompts"]
    assert len(tree.tips) == wanted["branch_tips"]
    assert forks == wanted["fork_points"]


def test_the_newest_leaf_is_found(name: str) -> None:
    wanted, view = EXPECTED[name], open_view(parsed(name).records)
    assert view.leaf_uuid == wanted["newest_leaf"]


def test_the_request_is_as_it_should_be(name: str) -> None:
    wanted, view = EXPECTED[name], open_view(parsed(name).records)
    began = time.perf_counter()
    request = request_view(view.graph, view.leaf)
    assert time.perf_counter() - began < 1
    messages = request.messages
    if wanted.get("request_first_role") == "assistant":
        messages = messages[1:]
    assert [shape(message) for message in messages] == wanted["request_view"]
    assert request.results_made == wanted.get("results_made", 0)
    if messages:
        assert history_fault({"messages": request.messages}) is None


def shape(message: dict[str, Any]) -> str:
    kinds = [
        "tool_result(made)" if block.get("content") == CUT_OFF_RESULT else block["type"]
        for block in message["content"]
    ]
    runs = [(kind, len(list(group))) for kind, group in groupby(kinds)]
    shown = ",".join(kind if count == 1 else f"{kind}*{count}" for kind, count in runs)
    return f"{'U' if message['role'] == 'user' else 'A'} {shown}"


def test_usage_counts_each_message_once(name: str) -> None:
    wanted, graph = EXPECTED[name]["usage"], graph_of(name)
    total = Usage()
    for record, fields in message_usages(graph):
        if graph.is_sidechain_file or not record.sidechain:
            total += usage_from(fields)
    assert total.output == wanted["output_tokens"]
    assert total.input == wanted["input_tokens"]
    assert total.cache_read == wanted["cache_read_input_tokens"]
    assert total.cache_write == wanted["cache_creation_input_tokens"]


def test_what_is_no_transcript_is_refused(name: str) -> None:
    if name in NO_TRANSCRIPTS:
        with pytest.raises(ReverieError, match="is not a transcript"):
            read_transcript(TRANSCRIPTS / name)
        return
    transcript = read_transcript(TRANSCRIPTS / name)
    ids = EXPECTED[name]["session_ids"]
    assert transcript.session_id == (ids[0] if ids else (TRANSCRIPTS / name).stem)
    wanted = {
        kind: EXPECTED[name][key] for kind, key in WARNING_KEYS.items() if EXPECTED[name][key]
    }
    warnings = warnings_of(transcript.parsed, transcript.view.graph)
    assert {warning.kind: warning.count for warning in warnings} == wanted


WARNING_KEYS = {
    "torn_line": "torn_tail",
    "corrupt_line": "bad_lines",
    "glued_line": "glued_lines",
    "duplicate_uuid": "duplicate_uuids",
    "cycle": "cycles",
    "orphan_parent": "orphan_parents",
}
