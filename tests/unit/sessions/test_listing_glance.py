from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from app.config import Settings
from app.models.spending import tariff_of
from app.sessions import glance
from app.sessions.glance import END, SessionSummary, exact, newest_of, summarise
from tests.fakes.sessions import Made

LONG = 3 * END


def seen(made: Made, tmp_path: Path) -> SessionSummary:
    return summarise(made.write(tmp_path))


def test_a_small_session_is_known_exactly(tmp_path: Path) -> None:
    made = Made(cwd="/w/shop", branch="fix").talk("mend the clock").talk("and the test")
    made.user("another way", parent=None).says("Fine.")
    file = made.write(tmp_path, 1_700_000_000)
    found = summarise(file, tariff_of(Settings()))
    assert (found.title, found.first_prompt) == ("mend the clock", "mend the clock")
    assert (found.branches, found.cost_usd, found.is_exact) == (2, 3.0, True)
    assert (found.cwd, found.git_branch, found.status) == ("/w/shop", "fix", "complete")
    assert (found.size, found.updated_at) == (file.stat().st_size, 1_700_000_000)


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("Which one?", "waiting"),
        ("Both work.\n\n**哪一个？**", "waiting"),
        ("> Which one?", "complete"),
        ("Which one? The second.", "complete"),
    ],
)
def test_a_session_that_asks_its_person_waits(tmp_path: Path, reply: str, status: str) -> None:
    made = Made().user("mend the clock").says(reply)
    assert seen(made, tmp_path).status == status


def test_a_long_session_is_known_by_its_ends_alone(tmp_path: Path) -> None:
    made = Made(cwd="/w/a").talk("mend the clock").long(LONG)
    made.cwd, made.branch = "/w/b", "later"
    file = made.user("one more").titled("The clock").write(tmp_path)
    found = summarise(file, tariff_of(Settings()))
    assert (found.title, found.first_prompt) == ("The clock", "mend the clock")
    assert (found.branches, found.cost_usd, found.is_exact) == (None, None, False)
    assert (found.cwd, found.last_cwd, found.git_branch) == ("/w/a", "/w/b", "later")
    assert found.status == "interrupted"
    whole = exact(file, tariff_of(Settings()))
    assert whole.is_exact and whole.branches == 1 and (whole.cost_usd or 0) > 10
    ends = (found.title, found.first_prompt, found.status, found.cwd, found.last_cwd)
    assert (whole.title, whole.first_prompt, whole.status, whole.cwd, whole.last_cwd) == ends


def test_the_last_name_of_the_strongest_kind_is_the_title(tmp_path: Path) -> None:
    made = Made().talk("first words")
    made.raw(type="last-prompt", lastPrompt="last words", sessionId=made.id)
    assert seen(made, tmp_path).title == "last words"
    made.raw(type="ai-title", aiTitle="made up", sessionId=made.id)
    assert seen(made, tmp_path).title == "made up"
    made.titled("old").titled("  my\nown ").raw(type="ai-title", aiTitle="newer")
    assert seen(made, tmp_path).title == "my own"
    assert seen(made.titled("x" * 300), tmp_path).title == "x" * 200


def test_an_own_title_in_the_head_beats_a_made_one_in_the_tail(tmp_path: Path) -> None:
    made = Made().talk("hi").titled("Mine").long(LONG)
    made.raw(type="ai-title", aiTitle="Made up", sessionId=made.id)
    assert seen(made, tmp_path).title == "Mine"


@pytest.mark.parametrize("long", [0, LONG])
def test_a_summary_counts_only_for_a_message_of_its_own_session(tmp_path: Path, long: int) -> None:
    made = Made().raw(type="summary", summary="Another talk", leafUuid="elsewhere")
    made.user("the real one").long(long)
    assert seen(made, tmp_path).title == "the real one"
    made.raw(type="summary", summary="This talk", leafUuid=made.leaf)
    assert seen(made, tmp_path).title == "This talk"


def test_what_only_looks_like_a_prompt_is_no_title(tmp_path: Path) -> None:
    made = Made().user("<command-name>/init</command-name>")
    assert seen(made, tmp_path).title == "/init"
    made.user("a skill", isMeta=True).user("<tick>3</tick>").user("the question")
    assert seen(made, tmp_path).title == "the question"


def test_a_first_prompt_behind_big_lines_is_found(tmp_path: Path) -> None:
    made = Made()
    for _ in range(3):
        made.add("progress", data={"type": "hook_progress", "command": "x" * END})
    picture = {"type": "image", "source": {"data": "A" * 2 * END}}
    made.user([picture, {"type": "text", "text": "what is this"}]).says("A cat.")
    made.user([picture])
    found = seen(made, tmp_path)
    assert (found.first_prompt, found.status) == ("what is this", "interrupted")


@pytest.mark.parametrize("long", [0, LONG])
def test_a_line_that_is_not_as_it_should_be_hides_nothing(tmp_path: Path, long: int) -> None:
    made = Made().talk("hi").long(long)
    glued = json.dumps({"type": "custom-title", "customTitle": "Glued"})
    made.lines[-1] += glued
    made.raw(type="custom-title", customTitle=5)
    made.lines.append('{"type":"assistant","torn')
    found = seen(made, tmp_path)
    assert (found.title, found.status) == ("Glued", "complete")


@pytest.mark.parametrize("long", [0, LONG])
def test_sub_agents_are_told_apart(tmp_path: Path, long: int) -> None:
    made = Made()
    for _ in range(3 + long // 4_000):
        made.user("look " * 800, isSidechain=True)
    assert seen(made, tmp_path).is_sidechain
    assert not seen(made.talk("a person"), tmp_path).is_sidechain


def test_how_the_last_turn_ended(tmp_path: Path) -> None:
    made = Made()
    assert seen(made, tmp_path).status == "empty"
    assert seen(made.user("go"), tmp_path).status == "interrupted"
    assert seen(made.calls("t1", "Bash", command="ls"), tmp_path).status == "interrupted"
    assert seen(made.result("t1", "a b"), tmp_path).status == "interrupted"
    made.assistant({"type": "thinking", "thinking": "", "signature": "s"})
    assert seen(made, tmp_path).status == "interrupted"
    assert seen(made.says("Two files."), tmp_path).status == "complete"
    assert seen(made.user("<command-name>/exit</command-name>"), tmp_path).status == "complete"
    assert seen(made.user("[Request interrupted by user]"), tmp_path).status == "interrupted"


def test_what_is_no_transcript_is_unreadable(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    assert summarise(file).status == "unreadable"
    for text in ("some notes\n", '{"a": 1}\n' * 20_000):
        file.write_text(text)
        assert (summarise(file).status, summarise(file).title) == ("unreadable", "")
    assert summarise(tmp_path).status == "unreadable"


@pytest.mark.parametrize("long", [0, LONG])
def test_what_no_file_can_hold_is_replaced(tmp_path: Path, long: int) -> None:
    made = Made(cwd="/w/\\ud800", branch="\\udc00").talk("\\ud800 lone", "Yes.").long(long)
    made.titled("\\ud800 lone").says("Fork.", forkedFrom={"sessionId": "\\ud800"})
    made.lines = [line.replace("\\\\", "\\") for line in made.lines]
    found = seen(made, tmp_path)
    texts = (found.title, found.first_prompt, found.cwd, found.last_cwd, found.git_branch)
    assert found.forked_from == "\ufffd"
    assert [text.encode().decode() for text in texts] == [
        "\ufffd lone", "\ufffd lone", "/w/\ufffd", "/w/\ufffd", "\ufffd",
    ]  # fmt: skip
    assert found.status == "complete"


@pytest.mark.parametrize("long", [0, LONG])
@pytest.mark.parametrize("depth", [980, 5_000])
def test_what_is_nested_deeply_hides_nothing_else(tmp_path: Path, long: int, depth: int) -> None:
    made = Made().talk("hi").long(long)
    nest = "[" * depth + "]" * depth
    made.lines.append(f'{{"type":"user","uuid":"deep","x":{nest},"message":{{"content":"x"}}}}')
    found = seen(made.talk("more"), tmp_path)
    assert (found.title, found.status) == ("hi", "complete")


def test_a_file_that_defeats_its_reader_is_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = Made().talk("hi").write(tmp_path)
    for fault in (ValueError("x"), RecursionError(), OSError(5, "x")):

        def fail(*_: object, fault: Exception = fault) -> None:
            raise fault

        monkeypatch.setattr(glance, "parse_transcript", fail)
        found = summarise(file)
        assert (found.status, found.size) == ("unreadable", file.stat().st_size)


def snapshots(made: Made, count: int) -> Made:
    for _ in range(count):
        made.raw(type="file-history-snapshot", messageId="m", snapshot={"x": "y" * 4_000})
    return made


@pytest.mark.parametrize("count", [50, 400])
def test_an_answer_before_many_snapshots_is_an_answer(tmp_path: Path, count: int) -> None:
    found = seen(snapshots(Made().talk("hi"), count), tmp_path)
    assert found.status == "complete"


def test_progress_behind_the_answer_hides_it_not(tmp_path: Path) -> None:
    made = Made().talk("hi")
    for _ in range(50):
        made.add("progress", data={"type": "hook_progress", "command": "x" * 4_000})
    assert seen(made, tmp_path).status == "complete"


@pytest.mark.parametrize("size", [END, 600_000, 1_500_000])
def test_two_huge_lines_are_a_session(tmp_path: Path, size: int) -> None:
    found = seen(Made().user("go " + "x" * size).says("y" * size), tmp_path)
    assert (found.status, found.first_prompt[:4]) == ("complete", "go x")


@pytest.mark.parametrize("long", [0, 30_000, LONG])
def test_the_last_record_tells_when_something_was_said_last(tmp_path: Path, long: int) -> None:
    made = Made().talk("hi").long(long).talk("bye")
    made.lines[-1] = made.lines[-1].replace("2026-11-02T09", "2026-11-02T10")
    said = 1_793_613_600 + made._count % 60
    made.titled("Renamed later")
    assert summarise(made.write(tmp_path, said + 900_000)).updated_at == said
    assert exact(made.write(tmp_path, said + 900_000)).updated_at == said
    assert summarise(made.write(tmp_path, said - 900)).updated_at == said - 900, "not later"


def test_the_last_write_counts_where_no_record_has_a_time(tmp_path: Path) -> None:
    made = Made().talk("hi")
    made.lines = [line.replace('"timestamp":"2026', '"timestamp":"x') for line in made.lines]
    assert summarise(made.write(tmp_path, 5_000)).updated_at == 5_000


def test_the_newest_is_the_one_in_which_something_was_said_last(tmp_path: Path) -> None:
    later = Made(1).talk("hi")
    later.lines = [line.replace("2026-11-02", "2026-11-03") for line in later.lines]
    files = [later.write(tmp_path), Made(2).talk("hi").titled("Renamed").write(tmp_path)]
    aside = Made(3).user("look", isSidechain=True).write(tmp_path)
    written = [(2e9, files[1]), (2e9 - 1, aside), (2e9 - 2, files[0])]
    for when, file in written:
        os.utime(file, (when, when))
    assert newest_of(written) == files[0]
    assert newest_of([]) is None
