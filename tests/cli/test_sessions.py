from __future__ import annotations

import json
import os
import resource
import signal
from pathlib import Path

import pytest

from app.paths import Places
from app.sessions.ownership import Ownership, own
from tests.cli.runner import TRANSCRIPTS, Cli
from tests.fakes.sessions import Made, session_id

KEYS = {
    "session_id", "title", "first_prompt", "updated_at", "branches", "size", "cost_usd", "status",
    "path",
}  # fmt: skip


def keep(cli: Cli, made: Made, when: float | None = None, folder: Path | None = None) -> Path:
    places = Places(cli.config, cli.data, cli.data / "logs")
    return made.keep(places, folder or cli.project, when)


def here(cli: Cli, number: int = 1) -> Made:
    return Made(number, str(cli.project))


def test_the_list_knows_branches_and_costs_of_big_sessions_too(offline: Cli) -> None:
    keep(offline, here(offline, 1).talk("small").user("other", parent=None).says("ok"), 2_000)
    keep(offline, here(offline, 2).titled("Big").talk("first").long(300_000), 1_000)
    keep(offline, Made(3, "/elsewhere").talk("not ours"), 3_000)
    keep(offline, Made(4, "/elsewhere").talk("other project"), 500, Path("/elsewhere"))
    small, big = offline.run("sessions", "list", "--json").json["sessions"]
    assert small.keys() >= KEYS
    assert (small["first_prompt"], small["branches"], small["cost_usd"]) == ("small", 2, 2)
    assert (big["title"], big["branches"], big["cost_usd"]) == ("Big", 1, 76)
    assert big["updated_at"] == "1970-01-01T00:16:40+00:00"
    everything = offline.run("sessions", "list", "--json", "--scope", "all").json["sessions"]
    assert [each["first_prompt"] for each in everything] == [
        "not ours", "small", "first", "other project",
    ]  # fmt: skip
    text = offline.run("sessions", "list").out.splitlines()
    assert [line.split()[0] for line in text] == [session_id(1), session_id(2)]
    assert "/elsewhere" in offline.run("sessions", "list", "--scope", "all").out


def test_the_list_obeys_no_title(offline: Cli) -> None:
    keep(offline, here(offline).talk("hi").titled("a\x1b[2J\nb[red]"))
    assert "\x1b" not in offline.run("sessions", "list").out
    assert "b[red]" in offline.run("sessions", "list").out


def test_hits_are_found_in_titles_and_texts(offline: Cli) -> None:
    keep(offline, here(offline, 1).talk("the clock", "It ticks \x1b[31m loudly."), 2_000)
    keep(offline, here(offline, 2).talk("hello").titled("Clocks"), 1_000)
    keep(offline, here(offline, 3).talk("nothing"), 3_000)
    found = offline.run("sessions", "search", "clock", "--json").json["sessions"]
    assert [(s["session_id"], [h["role"] for h in s["hits"]]) for s in found] == [
        (session_id(1), ["title", "user"]),
        (session_id(2), ["title"]),
    ]
    assert found[0]["hits"][1] == {"uuid": "00000001-u1", "role": "user", "snippet": "the clock"}
    assert found[0].keys() >= KEYS
    text = offline.run("sessions", "search", "loudly", "ticks")
    assert (text.code, len(text.out.splitlines())) == (0, 1)
    assert "assistant: It ticks" in text.out and "\x1b" not in text.out
    assert "No session here holds" in offline.run("sessions", "search", "unheard").out
    assert offline.run("sessions", "search", " ").code == 2


def test_a_closed_stdout_ends_quietly(offline: Cli) -> None:
    made = here(offline)
    for _ in range(20):
        made.talk("needle " * 50)
    keep(offline, made)
    for words in (["list"], ["search", "needle"], ["tree"], ["export"]):
        process = offline.start("sessions", *words)
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert (process.wait(60), process.stderr.read()) == (0, b"")
        process.stderr.close()


@pytest.mark.parametrize("words", [["sessions", "list"], ["feedback", "list", "--json"]])
def test_a_stdout_that_was_closed_before_the_start_is_nobody_to_tell(
    offline: Cli, words: list[str]
) -> None:
    for closed in ((1,), (1, 2)):
        process = offline.start(
            *words, stdout=None, preexec_fn=lambda closed=closed: [os.close(n) for n in closed]
        )
        assert process.stderr is not None
        assert (process.stderr.read(), process.wait(60)) == (b"", 0)
        process.stderr.close()


def test_a_session_goes_to_the_trash_and_comes_back(offline: Cli) -> None:
    file = keep(offline, here(offline).talk("hi"))
    before = file.read_bytes()
    gone = offline.run("sessions", "rm", file.stem)
    assert (gone.code, gone.err, file.exists()) == (0, "", False)
    assert f"reverie sessions restore {file.stem}" in gone.out
    assert offline.run("sessions", "list", "--json").json == {"sessions": []}
    again = offline.run("sessions", "rm", file.stem)
    assert (again.code, again.out, len(again.told)) == (1, "", 1)
    back = offline.run("sessions", "restore", file.stem, "--json")
    assert back.json == {"session_id": file.stem, "path": str(file)}
    assert file.read_bytes() == before
    twice = offline.run("sessions", "restore", file.stem)
    assert (twice.code, len(twice.told)) == (1, 1)


def test_only_sessions_of_ours_that_nobody_has_open_are_thrown_away(offline: Cli) -> None:
    outside = here(offline, 1).talk("hi").write(offline.project)
    held = keep(offline, here(offline, 2).talk("hi"))
    free = keep(offline, here(offline, 3).talk("hi"))
    owner = own(held)
    assert isinstance(owner, Ownership)
    done = offline.run("sessions", "rm", str(outside), held.stem, str(free), "--json")
    owner.release()
    assert (done.code, len(done.told)) == (1, 2)
    assert [each["session_id"] for each in done.json["removed"]] == [free.stem]
    assert [each["argument"] for each in done.json["failed"]] == [str(outside), held.stem]
    assert f"open in another process ({os.getpid()})" in done.err
    assert outside.exists() and held.exists() and not free.exists()


def test_a_session_is_exported(offline: Cli) -> None:
    file = keep(offline, here(offline).talk("mend\tit", "Mended — 終.").titled("The fix"))
    text = offline.run("sessions", "export", file.stem)
    assert text.out == "# The fix\n\n## Prompt\n\nmend\tit\n\nMended — 終.\n"
    lines = offline.run("sessions", "export", file.stem, "--format", "jsonl")
    assert lines.out.encode() == file.read_bytes()
    document = offline.run("sessions", "export", "--format", "json").json
    assert (document["title"], len(document["records"])) == ("The fix", 3)
    facts = offline.run("sessions", "export", "--json").json
    assert (facts["session_id"], facts["content"]) == (file.stem, text.out)


def test_an_export_overwrites_nothing_unasked(offline: Cli) -> None:
    file = keep(offline, here(offline).talk("hi"))
    target = offline.project / "talk.md"
    words = ("sessions", "export", file.stem, "--output", "talk.md")
    assert offline.run(*words).code == 0
    assert target.stat().st_mode & 0o777 == 0o600
    target.write_text("mine")
    refused = offline.run(*words)
    assert (refused.code, len(refused.told), target.read_text()) == (1, 1, "mine")
    assert "--force" in refused.err
    facts = offline.run(*words, "--force", "--json").json
    assert facts["output"] == str(target) and "## Prompt" in target.read_text()
    target.unlink()
    target.symlink_to(offline.project / "elsewhere.md")
    assert offline.run(*words).code == 1
    assert offline.run("sessions", "export", file.stem, "--output", "no/such/x.md").code == 1


def test_an_export_that_finds_no_room_says_so(offline: Cli) -> None:
    file = keep(offline, here(offline).talk("hi", "x" * 100_000))
    target = offline.project / "talk.md"
    words = ("sessions", "export", file.stem, "--output", "talk.md")

    def small_files() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

    done = offline.run(*words, preexec_fn=small_files)
    assert (done.code, len(done.told), list(offline.project.iterdir())) == (1, 1, [])
    assert f"{target} could not be written: File too large." in done.err


def test_one_strange_file_hides_no_other(offline: Cli) -> None:
    keep(offline, here(offline, 1).talk("hi", "needle"))
    lone = here(offline, 2).talk("hi")
    lone.lines.append('{"type":"custom-title","customTitle":"\\ud800 lone"}')
    keep(offline, lone)
    deep = here(offline, 3).talk("hi", "needle")
    for depth in (600, 980, 5_000):
        nest = "[" * depth + "]" * depth
        deep.lines.append(
            f'{{"type":"user","uuid":"d{depth}","x":{nest},"message":{{"content":"needle"}}}}'
        )
    file = keep(offline, deep.says("more"))
    listed = offline.run("sessions", "list", "--json").json["sessions"]
    assert sorted(each["title"] for each in listed) == ["hi", "hi", "\ufffd lone"]
    assert offline.run("sessions", "list").code == 0
    found = offline.run("sessions", "search", "needle", "--json")
    assert (found.code, len(found.json["sessions"])) == (0, 2)
    for action in ("show", "tree", "export"):
        done = offline.run("sessions", action, file.stem)
        assert (done.code, done.err) == (0, ""), action
    assert "fault" not in offline.run("sessions", "export", file.stem, "--format", "json").err


def test_one_id_of_two_projects_is_thrown_away_twice_and_lost_never(offline: Cli) -> None:
    ours = keep(offline, here(offline, 1).talk("ours"))
    theirs = keep(offline, Made(1, "/elsewhere").talk("theirs"), folder=Path("/elsewhere"))
    before = {file: file.read_bytes() for file in (ours, theirs)}
    assert offline.run("sessions", "rm", str(ours), str(theirs), str(ours)).code == 1
    assert not ours.exists() and not theirs.exists()
    for _ in before:
        assert offline.run("sessions", "restore", ours.stem).code == 0
    assert {file: file.read_bytes() for file in before} == before


def message(role: str, block: dict[str, str]) -> dict[str, object]:
    return {"type": "message", "role": role, "content": [block]}


def test_sessions_of_other_tools_are_looked_at(offline: Cli) -> None:
    head = {"id": "0199a213-81c0-7800-8aa1-bbab2a035a53", "cwd": "/w"}
    asked = {"type": "input_text", "text": "mend it"}
    said = {"type": "output_text", "text": "Done."}
    lines = [
        {"type": "session_meta", "payload": head},
        {"type": "response_item", "payload": message("user", asked)},
        {"type": "response_item", "payload": message("assistant", said)},
    ]
    for line in lines:
        line["timestamp"] = "2026-11-02T09:00:00Z"
    file = offline.project / "rollout.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert offline.run("sessions", "show", str(file), "--json").json["messages"] == 2
    nodes = offline.run("sessions", "tree", str(file), "--json").json["nodes"]
    assert [node["text"] for node in nodes] == ["mend it"]
    assert "mend it" in offline.run("sessions", "export", str(file)).out


@pytest.mark.parametrize("action", ["tree", "export"])
def test_what_is_no_transcript_is_refused(offline: Cli, action: str) -> None:
    for name in (str(TRANSCRIPTS / "56-made-stream-json.jsonl"), session_id(9), "nonsense"):
        done = offline.run("sessions", action, name)
        assert (done.code, done.out, len(done.told)) == (1, "", 1)
    assert offline.run("sessions", "rm").code == 2


def test_help_is_there_for_every_action(offline: Cli) -> None:
    for action in ("list", "search", "tree", "export", "import", "rm", "restore"):
        done = offline.run("sessions", action, "--help")
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith(f"usage: reverie sessions {action}")
