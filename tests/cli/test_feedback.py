"""`reverie feedback`: drafts that are written, looked at, edited and exported."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from app.cli.feedback_command import run_feedback
from tests.cli.feedback_kit import LEAKY, Inside, Piped, inside_of
from tests.cli.runner import Cli


@pytest.fixture
def inside(
    offline: Cli, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Inside:
    return inside_of(offline, monkeypatch, capfdbinary)


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))


def kept_in(inside: Inside) -> Path:
    found = re.search(r"What you wrote is in (\S+)\.", inside.err)
    assert found
    return Path(found[1])


# the outbox


def test_an_empty_outbox_says_so_and_makes_nothing(inside: Inside) -> None:
    assert inside.code("list") == (0, b"There are no drafts.\n")
    assert inside.json("list") == {
        "drafts": [], "damaged": [], "expired": [], "sent": [], "trouble": None
    }  # fmt: skip
    assert not inside.folder.exists()


def test_a_draft_of_ones_own_is_listed_shown_and_discarded(inside: Inside) -> None:
    text = "# The list\x1b[31m was empty\nand stayed so.\n"
    made = inside.json("new", "--category", "bug", "--evidence", "log line 3", stdin=text.encode())
    assert (made["title"], made["status"], made["evicted"]) == ("The list was empty", "queued", [])
    (listed,) = inside.drafts()
    expected = {
        "id": made["id"],
        "title": made["title"],
        "status": "queued",
        "reason": "",
        "created_at": "2026-11-02T09:00:00.000Z",
        "bytes": len(text) + len(made["title"]) + len("buglog line 3"),
    }
    assert expected.items() <= listed.items()
    assert inside.body(made["id"]) == text
    shown = inside.json("show", made["id"])
    assert (shown["body"], shown["evidence"], shown["findings"]) == (text, "log line 3", [])
    code, out = inside.code("show", made["id"])
    assert (code, b"\x1b" in out, b"and stayed so." in out) == (0, False, True)
    code, out = inside.code("list")
    assert (code, out.count(b"\n"), b"The list was empty" in out) == (0, 1, True)
    assert inside.json("discard", made["id"])["status"] == "discarded"
    assert inside.drafts() == []


def test_what_is_stored_is_private(inside: Inside) -> None:
    draft_id = inside.draft()
    inside.code("export", draft_id)
    files = [*inside.folder.iterdir(), inside.cli.project / f"{draft_id}.json"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE(inside.folder.stat().st_mode) == 0o700


def test_the_oldest_draft_that_leaves_is_named(inside: Inside) -> None:
    first = inside.draft("one\n", "First")
    for number in range(9):
        inside.clock.advance(1)
        inside.draft(f"{number}\n")
    inside.clock.advance(1)
    made = inside.json("new", stdin=b"the eleventh\n")
    assert made["evicted"] == [{"id": first, "title": "First"}]
    assert f"{first} (First) was removed" in inside.err
    assert len(inside.drafts()) == 10


def test_damaged_files_and_old_drafts_are_told(inside: Inside) -> None:
    draft_id = inside.draft()
    (inside.folder / "fb-x.json").write_text("{")
    listed = inside.json("list")
    assert [draft["id"] for draft in listed["drafts"]] == [draft_id]
    assert listed["damaged"] == ["fb-x.json.damaged"]
    assert "fb-x.json.damaged is no draft" in inside.err
    old = inside.clock.now().timestamp() - 40 * 86_400
    os.utime(inside.folder / f"{draft_id}.json", (old, old))
    inside.clock.advance(40 * 86_400)
    listed = inside.json("list")
    assert (listed["drafts"], listed["expired"][0]["id"]) == ([], draft_id)
    assert f"{draft_id} (It broke.) was removed" in inside.err


def test_an_outbox_that_cannot_be_used_is_told(inside: Inside) -> None:
    inside.cli.data.mkdir()
    inside.folder.write_text("in the way")
    assert "cannot" in inside.fails("list")
    assert "cannot be made" in inside.fails("new", stdin=b"It broke.\n")


@pytest.mark.parametrize(
    ("stdin", "words"),
    [
        (b"x" * 32_769, "more than 32768 bytes"),
        (b"good\xffbad", "not UTF-8 (byte 5)"),
        (b" \n", "nothing to report"),
        (b"", "nothing to report"),
    ],
    ids=["too long", "not UTF-8", "blank", "empty"],
)
def test_a_text_that_cannot_be_taken_is_refused_whole(
    inside: Inside, stdin: bytes, words: str
) -> None:
    said = inside.fails("new", stdin=stdin)
    assert words in said
    assert "Nothing was stored." in said
    assert not inside.folder.exists()


def test_a_text_of_the_limit_is_taken_with_as_much_title_as_fits(inside: Inside) -> None:
    made = inside.json("new", stdin=b"x" * 32_768)
    assert (made["bytes"], made["title"]) == (32_768, "")
    made = inside.json("new", stdin="é".encode() + b"x" * 32_761)
    assert (made["bytes"], made["title"]) == (32_768, "éxxx")
    long = inside.fails("new", "Title", stdin=b"x" * 32_764)
    assert "32769 bytes; the limit is 32768" in long


def test_unknown_drafts_and_bad_usage_have_their_exit_codes(inside: Inside) -> None:
    for words in (["show"], ["edit"], ["preview"], ["send"], ["discard"], ["export"]):
        assert "There is no draft fb-0" in inside.fails(*words, "fb-0", stdin=b"x")
        assert "ID" in inside.fails(*words, code=2)
    for words in (
        [],
        ["nothing"],
        ["preview", "fb-0", "--up-to", "3"],
        ["send", "fb-0", "--without", "3"],
        ["send", "fb-0", "--attach-transcript", "x", "--without", "0,1"],
        ["preview", "fb-0", "--text", "--raw"],
        ["serve", "--token", "t"],
    ):
        inside.fails(*words, code=2)


def test_the_models_switch_leaves_the_commands_alone(inside: Inside) -> None:
    inside.cli.config.mkdir()
    (inside.cli.config / "settings.toml").write_text('[feedback]\ndrafts = "off"\n')
    assert [each["id"] for each in inside.drafts()] == []
    inside.draft()
    assert len(inside.drafts()) == 1


# editing


def test_a_draft_is_edited_from_stdin_and_by_flags(inside: Inside) -> None:
    draft_id = inside.draft("one\n", "First")
    assert inside.json("edit", draft_id, stdin=b"two\n")["title"] == "First"
    assert inside.body(draft_id) == "two\n"
    changed = inside.json("edit", draft_id, "--title", "Second", "--category", "idea")
    assert (changed["title"], changed["category"]) == ("Second", "idea")
    assert inside.body(draft_id) == "two\n"
    for stdin, words in ((b"x" * 32_769, "limit"), (b"\xff", "UTF-8"), (b"", "empty")):
        assert words in inside.fails("edit", draft_id, stdin=stdin)
    assert inside.body(draft_id) == "two\n"


def test_a_terminal_gets_the_persons_editor(inside: Inside) -> None:
    assert inside.typing("printf 'By hand.\\nMore.\\n' > $1", "new")[0] == 0
    (made,) = inside.drafts()
    assert (made["title"], inside.body(made["id"])) == ("By hand.", "By hand.\nMore.")
    assert inside.typing("echo And >> $1", "edit", made["id"])[0] == 0
    assert inside.body(made["id"]) == "By hand.\nMore.And"
    assert inside.typing("exit 9", "edit", made["id"], "--title", "No editor")[0] == 0
    assert inside.typing("true", "new")[0] == 1
    assert len(inside.drafts()) == 1


def test_the_editor_needs_a_terminal_on_both_sides(inside: Inside) -> None:
    inside.patch.setattr(sys, "stdin", Piped(b"", is_terminal=True))
    assert inside._run(("new",)) == (2, b"")
    assert "terminal on stdout" in inside.err


@pytest.mark.parametrize("action", ["new", "edit"])
def test_what_was_typed_and_is_too_long_is_kept_in_a_file(inside: Inside, action: str) -> None:
    words = [action] if action == "new" else [action, inside.draft()]
    typed = "word " * 7000
    assert inside.typing(f"printf '{typed}' > $1", *words) == (1, b"")
    assert "the limit is 32768" in inside.err
    assert kept_in(inside).read_text() == typed
    assert stat.S_IMODE(kept_in(inside).stat().st_mode) == 0o600
    assert [inside.body(draft["id"]) for draft in inside.drafts()] == (
        [] if action == "new" else ["It broke.\n"]
    )


def test_what_was_typed_is_kept_when_the_outbox_cannot_be_written(inside: Inside) -> None:
    inside.cli.data.mkdir()
    inside.folder.write_text("in the way")
    assert inside.typing("echo Words > $1", "new") == (1, b"")
    assert kept_in(inside).read_text() == "Words\n"


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP", "KILL"])
def test_what_was_typed_outlives_a_signal_while_it_is_stored(offline: Cli, name: str) -> None:
    offline.data.mkdir()
    (offline.data / "feedback").mkdir()
    editor, places = offline.project / "editor", offline.data.parent / "tmp"
    editor.write_text('#!/bin/sh\necho "two hours of words" > "$1"; touch "$1.done"\n')
    editor.chmod(0o700)
    held = os.open(offline.data / "feedback" / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(held, fcntl.LOCK_EX)
    parent, child = pty.openpty()
    more = {"EDITOR": str(editor), "TMPDIR": str(places), "TERM": "xterm"}
    environment = {**offline.environment, **more}
    process = offline.start(
        "feedback", "new", env=environment, stdin=child, stdout=child, stderr=child
    )
    until = time.monotonic() + 60
    while not list(places.glob("*.done")):
        assert time.monotonic() < until
    while process.poll() is None:  # an interrupt belongs to the editor as long as it runs
        assert time.monotonic() < until
        process.send_signal(getattr(signal, f"SIG{name}"))
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.3)
    assert process.returncode != 0
    for each in (held, parent, child):
        os.close(each)
    (kept,) = places.glob("*.md")
    assert kept.read_text() == "two hours of words\n"


def test_flags_change_their_texts_and_leave_stdin_alone(inside: Inside) -> None:
    draft_id = inside.draft("words\n")
    words = ["edit", draft_id, "--category", "bug", "--title", "T"]
    changed = inside.json(*words, stdin=b"the next line of a loop\n")
    assert (changed["category"], changed["title"]) == ("bug", "T")
    assert inside.body(draft_id) == "words\n"


def test_a_draft_that_changed_under_the_editor_is_not_overwritten(inside: Inside) -> None:
    draft_id = inside.draft("one\n")
    file = inside.folder / f"{draft_id}.json"
    other = file.read_text().replace("one\\n", "theirs\\n")
    (inside.cli.project / "other").write_text(other)
    script = f"cp {inside.cli.project}/other {file}; echo mine > $1"
    assert inside.typing(script, "edit", draft_id) == (1, b"")
    assert "changed meanwhile" in inside.err
    assert inside.body(draft_id) == "theirs\n"
    assert kept_in(inside).read_text() == "mine\n"


# what would leave


def test_secrets_are_named_and_never_shown_whole(inside: Inside) -> None:
    text = "Write to somebody@example.com; password=hunter22hunter22\n"
    draft_id = inside.draft(text, "Help")
    for words in (["show"], ["preview", "--text"], ["preview", "--raw"]):
        code, out = inside.code(words[0], draft_id, *words[1:])
        shown = out.decode() + inside.err
        assert (code, "hunter22" in shown, "somebody@" in shown) == (0, False, False)
    shown = inside.json("show", draft_id)
    kinds = [(each["kind"], each["place"], each["begins"]) for each in shown["findings"]]
    assert kinds == [("e-mail address", "body", "some…"), ("password", "body", "hunt…")]
    key = shown["findings"][0]["key"]
    restored = inside.json("preview", draft_id, "--restore", f"{key},{'0' * 16}")
    assert "somebody@example.com" in restored["data"]
    assert "hunter22" not in restored["data"]
    assert [each["restored"] for each in restored["findings"]] == [True, False]
    assert "e-mail address in body" in inside.err
    assert restored["notes"] == [f"No secret in this report has the key {'0' * 16}."]


def test_the_readable_form_leaves_nothing_out(inside: Inside) -> None:
    draft_id = inside.draft("one\ntwo \u202e\n", "--session", str(LEAKY))
    words = ["preview", draft_id, "--attach-transcript", str(LEAKY)]
    text = inside.code(*words, "--text")[1].decode()
    assert "\u202e" not in text
    report = inside.json(*words)["data"]

    def leaves(value: Any) -> list[str]:
        if isinstance(value, dict):
            return list(value) + [t for each in value.values() for t in leaves(each)]
        if isinstance(value, list):
            return [t for each in value for t in leaves(each)]
        return str(value).replace("\u202e", "").split("\n")

    for leaf in leaves(json.loads(report)):
        assert leaf.strip() in text or leaf in {"True", "False", "None"}


def test_an_export_is_the_preview_and_never_over_another_file(inside: Inside) -> None:
    draft_id = inside.draft()
    raw = inside.code("preview", draft_id, "--raw")[1]
    assert "what an export would hold" in inside.err
    file = inside.cli.project / f"{draft_id}.json"
    assert inside.json("export", draft_id)["path"] == str(file)
    assert file.read_bytes() == raw
    file.write_text("mine")
    assert "exists already" in inside.fails("export", draft_id)
    assert file.read_text() == "mine"
    assert inside.code("export", draft_id, "sub/r.json")[0] == 0
    assert (inside.cli.project / "sub" / "r.json").read_bytes() == raw
    assert [draft["status"] for draft in inside.drafts()] == ["queued"]


# the rest


def test_a_closed_stdout_ends_quietly(inside: Inside) -> None:
    inside.draft()
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = inside.cli.run("feedback", "list", "--json", stdout=closed)
    assert (done.code, done.err) == (0, "")


def test_a_real_terminal_gets_the_editor(offline: Cli) -> None:
    editor = offline.data.parent / "editor"
    editor.write_text("#!/bin/sh\n[ -t 0 ] && [ -t 1 ] && echo Typed. > $1\n")
    editor.chmod(0o700)
    offline.environment["EDITOR"] = str(editor)
    master, slave = os.openpty()
    process = offline.start("feedback", "new", stdin=slave, stdout=slave)
    assert process.wait(30) == 0
    os.close(slave)
    os.close(master)
    (file,) = (offline.data / "feedback").glob("*.json")
    assert json.loads(file.read_text())["body"] == "Typed."


def test_help_is_there_for_each_action(inside: Inside) -> None:
    with pytest.raises(SystemExit, match="0"):
        run_feedback(["--help"])
    actions = re.findall(rb"^    (\w+) ", inside.capture.readouterr().out, re.MULTILINE)
    assert len(actions) == 9
    for action in actions:
        with pytest.raises(SystemExit, match="0"):
            run_feedback([action.decode(), "--help"])
