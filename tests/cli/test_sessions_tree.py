from __future__ import annotations

import json
from pathlib import Path
from typing import TypeAlias

import pytest

from app.cli.sessions.tree import tree
from app.cli.transcript import read_transcript
from app.installation import Installation
from app.paths import Places
from tests.cli.runner import TRANSCRIPTS, Cli
from tests.fakes.sessions import Made, session_id
from tests.pilot.trees import edit
from tests.unit.sessions.real_files import EXPECTED, NO_TRANSCRIPTS

Capture: TypeAlias = pytest.CaptureFixture[str]


@pytest.fixture
def here(tmp_path: Path) -> Installation:
    places = Places(tmp_path / "config", tmp_path / "data", tmp_path / "logs")
    return Installation(places, tmp_path, {"HOME": str(tmp_path)})


def keep(cli: Cli, made: Made) -> Path:
    return made.keep(Places(cli.config, cli.data, cli.data / "logs"), cli.project)


def branched(cli: Cli) -> Made:
    made = Made(1, str(cli.project)).talk("one")
    fork = made.leaf
    made.talk("two").user("three").calls("t1", "Bash", command="ls").result("t1", "a")
    made.leaf = fork
    made.talk("another two").calls("t2", "Bash", command="ls").calls("t3", "Bash", command="pwd")
    made.result("t2", "a").result("t3", "b").talk("last " * 30)
    return made


def drawn(cli: Cli, *words: str) -> list[str]:
    lines = cli.run("sessions", "tree", *words).out.splitlines()
    return [line.split("  2026")[0].rstrip() for line in lines]


def test_the_branch_in_use_goes_straight_on(offline: Cli) -> None:
    keep(offline, branched(offline))
    offline.environment["PYTHONUTF8"] = "1"
    assert drawn(offline) == [
        "● one",
        "├─○ two",
        "│ ○ three",
        "● another two",
        "● " + ("last " * 30)[:59] + "…",
    ]
    text = offline.run("sessions", "tree").out
    assert "  1 tool  $1.00\n" in text and "  2 tools  $3.00" in text
    assert text.rstrip().endswith("← here")


def test_a_terminal_without_unicode_gets_ascii(offline: Cli) -> None:
    keep(offline, branched(offline))
    offline.environment |= {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    text = offline.run("sessions", "tree").out
    assert "* one" in text and "|-o two" in text and "| o three" in text and "< here" in text


def test_the_nodes_as_json(offline: Cli) -> None:
    made = branched(offline)
    keep(offline, made)
    document = offline.run("sessions", "tree", made.id, "--json").json
    assert document["session_id"] == made.id
    nodes = document["nodes"]
    assert nodes[0].keys() >= {"uuid", "parent", "text", "timestamp", "tools", "current", "kind"}
    by_uuid = {node["uuid"]: node for node in nodes}
    above = [(n["text"].split()[0], by_uuid[n["parent"]]["text"]) for n in nodes if n["parent"]]
    assert above == [("two", "one"), ("three", "two"), ("another", "one"), ("last", "another two")]
    assert [node["tools"] for node in nodes] == [0, 0, 1, 2, 0]
    assert [node["current"] for node in nodes] == [False, False, False, False, True]
    assert {node["kind"] for node in nodes} == {"prompt"}


def test_what_each_turn_came_to_is_told(offline: Cli) -> None:
    made = Made(1, str(offline.project)).user("one")
    edit(made, "t1", "/w/a.py", "-old", "+new", "+more").says("Changed it.").talk("two")
    keep(offline, made)
    offline.environment["PYTHONUTF8"] = "1"
    one, two = offline.run("sessions", "tree").out.splitlines()
    assert one.endswith("1 tool  +2 −1  $2.00") and two.endswith("$1.00  ← here")
    nodes = offline.run("sessions", "tree", "--json").json["nodes"]
    told = [(node["cost_usd"], node["added"], node["removed"]) for node in nodes]
    assert told == [(2.0, 2, 1), (1.0, 0, 0)]


def test_before_the_first_prompt_it_is_said_where_one_is(offline: Cli) -> None:
    made = Made(1, str(offline.project)).talk("one").talk("two")
    made.raw(type="last-prompt", leafUuid=None, explicit=True)
    keep(offline, made)
    offline.environment["PYTHONUTF8"] = "1"
    assert drawn(offline) == ["← here: before the first prompt", "○ one", "○ two"]


def test_compactions_stand_in_the_tree(offline: Cli) -> None:
    made = Made(1, str(offline.project)).talk("early")
    before = made.leaf
    sizes = {"preTokens": 182_000, "postTokens": 9_000}
    made.add(
        "system", None, subtype="compact_boundary", logicalParentUuid=before, compactMetadata=sizes
    )
    made.user("It was early.", isCompactSummary=True).talk("late")
    keep(offline, made)
    nodes = offline.run("sessions", "tree", "--json").json["nodes"]
    assert [node["kind"] for node in nodes] == ["prompt", "compact", "prompt"]
    assert [node["parent"] for node in nodes[1:]] == [nodes[0]["uuid"], nodes[1]["uuid"]]
    assert "compact 182000 tokens to 9000" in offline.run("sessions", "tree").out


def test_b09_history_that_is_gone_is_said(offline: Cli) -> None:
    made = Made(1, str(offline.project))
    made.add("system", None, subtype="compact_boundary", logicalParentUuid="never-written")
    made.user("It was early.", isCompactSummary=True).talk("late")
    keep(offline, made)
    nodes = offline.run("sessions", "tree", "--json").json["nodes"]
    assert [(node["kind"], node["parent"]) for node in nodes] == [
        ("unavailable", None),
        ("prompt", nodes[0]["uuid"]),
    ]
    assert "earlier history not available" in offline.run("sessions", "tree").out


def test_forks_in_other_sessions_are_joined(offline: Cli) -> None:
    made = branched(offline)
    keep(offline, made)
    fork = Made(2, str(offline.project))
    for number in (1, 2):
        source = {"sessionId": made.id, "messageUuid": f"{made.id[:8]}-u{number}"}
        fork.user("one", forkedFrom=source) if number == 1 else fork.says(
            "Done.", forkedFrom=source
        )
    fork.talk("elsewhere").titled("Elsewhere")
    keep(offline, fork)
    nodes = offline.run("sessions", "tree", made.id, "--json").json["nodes"]
    *_, joined, own = nodes
    assert (joined["kind"], joined["session_id"], joined["text"]) == (
        "fork", session_id(2), "Elsewhere",
    )  # fmt: skip
    assert joined["parent"] == nodes[0]["uuid"]
    assert (own["kind"], own["text"]) == ("prompt", "elsewhere")
    assert (own["parent"], own["session_id"]) == (joined["uuid"], session_id(2))
    offline.environment["PYTHONUTF8"] = "1"
    assert drawn(offline, made.id) == [
        "● one",
        "├─○ two",
        "│ ○ three",
        "╰┄○ fork 00000002  Elsewhere",
        "│ ○ elsewhere",
        "● another two",
        "● " + ("last " * 30)[:59] + "…",
    ]
    assert drawn(offline, fork.id) == [
        "● one",
        "╰┄○ fork 00000001  one",
        "│ ├─○ two",
        "│ │ ○ three",
        "│ ○ another two",
        "│ ○ " + ("last " * 30)[:59] + "…",
        "● elsewhere",
    ]


def test_a_real_session_has_a_tree(offline: Cli) -> None:
    done = offline.run("sessions", "tree", str(TRANSCRIPTS / "54-made-odd-lines.jsonl"))
    assert (done.code, done.err) == (0, "") and done.out


@pytest.mark.parametrize("name", [name for name in EXPECTED if name not in NO_TRANSCRIPTS])
def test_every_real_session_has_a_tree(name: str, capsys: Capture, here: Installation) -> None:
    transcript = read_transcript(TRANSCRIPTS / name)
    assert tree(here, transcript, as_json=True) == 0
    nodes = json.loads(capsys.readouterr().out)["nodes"]
    prompts = sum(1 for node in nodes if node["kind"] == "prompt")
    assert prompts >= EXPECTED[name]["user_prompts"]
    assert tree(here, transcript, as_json=False) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) - (not any(node["current"] for node in nodes)) == len(nodes)
