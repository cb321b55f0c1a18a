"""Nothing of the hostile table gets through, and what a dream needs works."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.agent.shell_readers import FIND_TEXT
from app.background.dream.inspect_rules import RULES, inspect_verdict, parsed_call
from app.background.dream.roots import NotAllowed, readable
from tests.unit.background.dream.dream_kit import SECRET, Ground
from tests.unit.background.dream.hostile_table import HARMLESS, HOSTILE, lines
from tests.unit.background.dream.path_table import DOCUMENTS, READS


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


def test_table_is_as_long_as_it_should_be() -> None:
    assert len(HOSTILE) >= 150
    assert len(set(HOSTILE)) == len(HOSTILE)
    assert len(lines(HARMLESS)) >= 40


async def test_hostile_command_is_refused_before_and_at_execution(ground: Ground) -> None:
    before = ground.everything()
    for command in HOSTILE:
        assert ground.boundary.verdict("Inspect", {"command": command}), command
        said = await ground.inspect(command)
        assert said.startswith("REFUSED "), (command, said)
        assert SECRET not in said
    assert ground.everything() == before


async def test_harmless_command_runs(ground: Ground) -> None:
    for line in lines(HARMLESS):
        command = ground.put_in(line)
        assert ground.boundary.verdict("Inspect", {"command": command}) == "", command
        said = await ground.inspect(command)
        assert not said.startswith("REFUSED "), (command, said)
        assert "/proc/self" not in said.replace("-> /proc/self", ""), (command, said)
        assert SECRET not in said
        assert not said.startswith(f"{command.split()[0]}: "), (command, said)


@pytest.mark.parametrize("text", DOCUMENTS)
async def test_no_path_leads_a_change_out_of_the_stage(text: str, ground: Ground) -> None:
    path = ground.put_in(text)
    before = ground.everything()
    for tool, arguments in (
        ("Write", {"content": "x"}),
        ("Edit", {"old_string": "a", "new_string": "b"}),
        ("Delete", {}),
    ):
        assert ground.boundary.verdict(tool, {"file_path": path, **arguments}), tool
        assert (await ground.call(tool, file_path=path, **arguments)).startswith("REFUSED ")
    assert ground.everything() == before


@pytest.mark.parametrize("text", READS)
async def test_no_reading_tool_takes_the_path(text: str, ground: Ground) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("Read", {"file_path": text}),
        ("Grep", {"pattern": "x", "path": text}),
        ("Glob", {"pattern": "*", "path": text}),
        ("LS", {"path": text}),
    ]
    for tool, arguments in calls:
        assert ground.boundary.verdict(tool, arguments), tool
        assert (await ground.call(tool, **arguments)).startswith("REFUSED ")


@pytest.mark.parametrize("pattern", ["/etc/*", "/etc/passwd", "~/x", "/proc/self/*", "/*"])
async def test_pattern_that_names_its_own_folder_is_held_to_the_roots(
    pattern: str, ground: Ground
) -> None:
    assert ground.boundary.verdict("Glob", {"pattern": pattern})
    assert (await ground.call("Glob", pattern=pattern)).startswith("REFUSED ")


async def test_no_search_over_a_folder_shows_a_secret(ground: Ground) -> None:
    for said in (
        await ground.call("Grep", pattern=SECRET, output_mode="content"),
        await ground.call("Grep", pattern=SECRET),
        await ground.call("Grep", pattern=SECRET, glob=".env*", output_mode="count"),
        await ground.call("Grep", pattern=SECRET, glob=".git/**"),
        await ground.call("Grep", pattern=SECRET, path="keys"),
    ):
        assert said in {"No files found.", "No matches found."}
    for command in (
        f"grep -r {SECRET} .",
        f"grep -rl {SECRET}",
        f"grep -rL nothing-like-it . --include={'*'}",
        "grep -r . .",
        "grep -rc '' .",
        f"grep -r --include=.env {SECRET} . keys",
    ):
        said = await ground.inspect(command)
        assert SECRET not in said, command
        assert not any(line.startswith("./.env:") for line in said.split("\n")), command


async def test_what_the_reading_tools_are_for_works(ground: Ground) -> None:
    assert "hello" in await ground.call("Read", file_path="a.txt")
    assert "a fact" in await ground.call("Read", file_path=str(ground.stage / "topic.md"))
    assert "user" in await ground.call("Read", file_path=str(ground.sessions / "s.jsonl"))
    assert await ground.call("Grep", pattern="hello") == "a.txt"
    assert "c.py" in await ground.call("Glob", pattern="**/*.py")
    assert "topic.md" in await ground.call("LS", path=str(ground.stage))
    named = str(ground.sessions / "s.jsonl")
    assert ":3" in await ground.call("Grep", pattern="user", path=named, output_mode="count")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Bash", {"command": "ls"}),
        ("memory", {"command": "view", "path": "/memories"}),
        ("", {}),
        ("Inspect", {}),
        ("Inspect", {"command": 5}),
        ("Inspect", {"command": ["ls"]}),
        ("Inspect", {"command": "ls", "shell": True}),
        ("Read", {}),
        ("Read", {"file_path": None}),
        ("Glob", {"pattern": 1}),
        ("Glob", {"path": "."}),
        ("Grep", {"pattern": "x", "path": 7}),
        ("LS", {"path": {}}),
        ("Write", {"file_path": "a.md"}),
        ("Write", {"file_path": 5, "content": "x"}),
        ("Write", {"file_path": "a.md", "content": None}),
        ("Write", {"file_path": "a.md", "content": "\ud800"}),
        ("Write", {"file_path": "a.md", "content": "x" * 102_401}),
        ("Write", {"file_path": "a.md", "content": "ü" * 51_201}),
        ("Edit", {"file_path": "topic.md", "old_string": "", "new_string": "x"}),
        ("Edit", {"file_path": "topic.md"}),
        ("Delete", {"file_path": "topic.md", "recursive": True}),
    ],
)
def test_verdict_on_a_call_of_the_wrong_shape_is_a_reason(
    tool: str, arguments: dict[str, Any], ground: Ground
) -> None:
    reason = ground.boundary.verdict(tool, arguments)
    assert reason
    assert not reason.endswith(".")


def test_sub_agent_has_eight_tools_and_no_other(ground: Ground) -> None:
    names = {"Read", "Glob", "Grep", "LS", "Inspect", "Write", "Edit", "Delete"}
    assert set(ground.tools) == names


def test_document_of_a_call(ground: Ground) -> None:
    document = ground.boundary.document
    assert document({"file_path": "a/../topic.md"}) == "topic.md"
    assert document({"file_path": str(ground.stage / "topics" / "x.md")}) == "topics/x.md"
    assert document({"file_path": "../x.md"}) == ""
    assert document({"file_path": 5}) == document({}) == ""


@pytest.mark.parametrize("tool", ["Read", "LS", "Grep", "Glob"])
async def test_folder_swapped_for_a_link_after_the_check_shows_nothing(
    tool: str, ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments: dict[str, Any] = {
        "Read": {"file_path": "sub/o.txt"},
        "LS": {"path": "sub"},
        "Grep": {"pattern": SECRET, "path": "sub", "output_mode": "content"},
        "Glob": {"pattern": "o*", "path": "sub"},
    }[tool]
    (ground.project / "sub" / "o.txt").write_text("plain")
    bounded: Any = ground.tools[tool]
    place = bounded.place

    def swap(call: dict[str, Any]) -> Path:
        found = place(call)
        (ground.project / "sub").rename(ground.project / "gone")
        (ground.project / "sub").symlink_to(ground.outside)
        return found

    monkeypatch.setattr(bounded, "place", swap)
    said = await ground.call(tool, **arguments)
    assert said.startswith("REFUSED ")
    assert SECRET not in said


@pytest.mark.parametrize("root", ["stage", "sessions", "project"])
async def test_root_turned_elsewhere_takes_no_other_folder_along(root: str, ground: Ground) -> None:
    folder = ground.turn_to_outside(root)
    named = str(folder / "o.txt")
    for said in (
        await ground.call("Read", file_path=named),
        await ground.call("LS", path=str(folder)),
        await ground.call("Grep", pattern="hush", path=str(folder)),
        await ground.inspect(f"cat {named}"),
        await ground.inspect(f"grep -r hush {folder}"),
        await ground.inspect(f"ls {folder}"),
    ):
        assert said.startswith("REFUSED "), said


_PIECES = st.sampled_from(
    ["..", ".", "sub", "a.txt", "out", "link-out", "~", "/", "//", "etc", "passwd", ".env", "\\"]
)
_TEXTS = st.one_of(
    st.lists(_PIECES, max_size=8).map("/".join),
    st.text(max_size=40),
    st.lists(_PIECES, max_size=6).map(lambda parts: "/" + "/".join(parts)),
)


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=_TEXTS)
def test_no_string_gets_a_path_outside_of_the_roots(text: str, tmp_path: Path) -> None:
    ground = _shared(tmp_path)
    try:
        path = readable(text, ground.roots)
    except NotAllowed:
        return
    assert Path(os.path.realpath(path)) == path
    assert any(path.is_relative_to(root) for root in ground.roots.folders)
    assert path.name != ".env"


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=_TEXTS)
def test_no_string_names_a_document_outside_of_the_stage(text: str, tmp_path: Path) -> None:
    ground = _shared(tmp_path)
    name = ground.boundary.document({"file_path": text})
    if name:
        place = ground.stage / name
        assert Path(os.path.normpath(place)) == place
        assert place.suffix == ".md"
        assert not any(part.startswith(".") for part in Path(name).parts)


_LETTERS = st.text(st.sampled_from(list(" '\"\\|&;<>()$`{}*?[]~#!-=\n\tabcfrexdl./")), max_size=40)


@settings(max_examples=600, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(sorted(RULES)), rest=_LETTERS)
def test_whatever_follows_a_command_stays_within_its_table(
    name: str, rest: str, tmp_path: Path
) -> None:
    ground = _shared(tmp_path)
    command = f"{name} {rest}"
    if inspect_verdict(command, ground.roots):
        return
    call = parsed_call(command)
    assert not any(_forbidden(call.name, option) for option in call.options)
    actions = ("-exec", "-ok", "-delete", "-fprint", "-fls", "-files0", "-L", "-H", "-newer")
    for before, word in itertools.pairwise(["", *call.expression]):
        assert before in FIND_TEXT or not word.startswith(actions)
    for operand in call.operands:
        readable(operand, ground.roots)


def _forbidden(name: str, option: str) -> bool:
    if option.startswith(("--regexp=", "--files-with", "--fixed", "--format", "--full")):
        return False
    starts = {
        "grep": ("-f", "--f", "-R", "-d", "-D", "-z"),
        "tail": ("-f", "-F", "--f", "--retry", "--pid", "-s"),
        "ls": ("-L", "-H", "-D", "-Z", "--deref"),
        "wc": ("--files0",),
    }
    return option.startswith(starts.get(name, ("--files0",)))


_grounds: dict[Path, Ground] = {}


def _shared(folder: Path) -> Ground:
    """Hypothesis calls a test often; the ground is only looked at."""
    if folder not in _grounds:
        _grounds[folder] = Ground(folder / "ground")
    return _grounds[folder]


async def test_many_calls_leave_no_descriptor_open(ground: Ground) -> None:
    await ground.inspect("ls")
    before = _open_descriptors()
    for command in ("grep -r hello .", "cat a.txt", "cat a.txt nope", "cat .env", "find ."):
        for _ in range(3):
            await ground.inspect(command)
            await ground.call("Read", file_path="a.txt")
            await ground.call("Write", file_path="inner/x.md", content="x")
    assert _open_descriptors() <= before


def _open_descriptors() -> int:
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0
