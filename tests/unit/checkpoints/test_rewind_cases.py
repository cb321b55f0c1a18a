"""Files go back byte for byte: the cases of group rewind, and what their kinds have in common."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from app.checkpoints.history import MOST_CHECKPOINTS
from app.checkpoints.plan import NOT_FOUND, RewindError
from tests.cli.runner import CASES
from tests.fakes.going_back import GoingBack


def set_up(case: str, root: Path) -> None:
    subprocess.run(["bash", str(CASES / case / "setup.sh"), str(root)], check=True)


def actions(session: GoingBack, message: str) -> dict[str, str]:
    return {
        str(Path(step.path).relative_to(session.root)): step.action
        for step in session.plan(message).steps
    }


def test_b18_created_deleted_and_moved_files(session: GoingBack) -> None:
    set_up("B18-rewind-create-delete-untracked", session.root)
    first = session.prompt()
    session.write("new.txt", b"v1")
    second = session.prompt()
    session.write("new.txt", b"v2")
    session.shell((session.root / "old.txt").unlink, "rm old.txt")
    session.write("sub/made.txt", b"made\n")
    session.prompt()
    session.write("moved.txt", b"keep\n")
    session.shell((session.root / "keep.txt").unlink, "rm keep.txt")

    assert actions(session, second) == {
        "keep.txt": "create",
        "moved.txt": "delete",
        "new.txt": "restore",
        "old.txt": "create",
        "sub/made.txt": "delete",
    }
    named = {Path(step.path).name: step.command for step in session.plan(second).by_shell}
    assert named == {"old.txt": "rm old.txt", "keep.txt": "rm keep.txt"}
    session.files(second, with_shell=True)
    assert {name: data for name, (_, data) in session.tree().items()} == {
        "new.txt": b"v1",
        "old.txt": b"old\n",
        "keep.txt": b"keep\n",
        "mine.txt": b"user file, never touched\n",
    }
    assert not (session.root / "sub").exists()
    session.files(first, with_shell=True)
    assert sorted(session.tree()) == ["keep.txt", "mine.txt", "old.txt"]


def test_b18_what_a_command_deleted_comes_back_only_when_chosen(session: GoingBack) -> None:
    set_up("B18-rewind-create-delete-untracked", session.root)
    first = session.prompt()
    session.write("new.txt", b"v1")
    session.shell((session.root / "old.txt").unlink, "rm old.txt")
    session.files(first)
    assert sorted(session.tree()) == ["keep.txt", "mine.txt"]


def test_b19_every_byte_comes_back(session: GoingBack) -> None:
    set_up("B19-rewind-binary-bytes", session.root)
    sums = (session.root / "SUMS").read_text()
    names = [line.split()[1] for line in sums.splitlines()]
    first = session.prompt()
    for name in names:
        session.write(name, b"overwritten\n")
    session.files(first)
    for line in sums.splitlines():
        digest, name = line.split()
        assert hashlib.sha256((session.root / name).read_bytes()).hexdigest() == digest, name


def test_b21_only_what_we_wrote_is_touched_and_a_hand_edit_asks(session: GoingBack) -> None:
    set_up("B21-rewind-ignored-and-user-files", session.root)
    root = session.root
    first = session.prompt()
    session.write("app.txt", b"app v2\n")
    (root / "notes.txt").write_text("notes of mine\n")
    (root / "app.txt").write_text("app v2 and mine\n")
    (root / "secrets.local").write_text("secret\n")
    git = ["git", "-C", str(root)]
    subprocess.run([*git, "commit", "-qam", "by hand"], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True).stdout
    before = session.tree()

    (step,) = session.plan(first).steps
    assert (Path(step.path).name, step.problem) == ("app.txt", "changed")
    assert step.writers == ("tool", "someone")
    with pytest.raises(RewindError, match=r"Failed to rewind: .*app\.txt"):
        session.files(first)
    assert session.tree() == before

    session.files(first, force=True)
    after = session.tree()
    assert after.pop("app.txt")[1] == b"app v1\n"
    assert after == {name: what for name, what in before.items() if name != "app.txt"}
    assert (
        subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True).stdout == head
    )
    session.undo()
    assert session.tree() == before


def test_the_undo_of_a_forced_rewind_gives_the_hand_edit_back(session: GoingBack) -> None:
    first = session.prompt()
    session.write("a", b"ours")
    (session.root / "a").write_bytes(b"theirs")
    session.files(first, force=True)
    assert session.tree() == {}
    session.undo()
    assert session.tree()["a"][1] == b"theirs"


def test_undo_goes_back_rewind_by_rewind(session: GoingBack) -> None:
    first = session.prompt()
    session.write("a", b"one")
    second = session.prompt()
    session.write("a", b"two")
    session.files(second)
    session.files(first)
    assert session.tree() == {}
    session.undo()
    assert session.tree()["a"][1] == b"one"
    session.undo()
    assert session.tree()["a"][1] == b"two"
    with pytest.raises(RewindError):
        session.undo()


def test_an_undo_can_itself_be_gone_back_to(session: GoingBack) -> None:
    first = session.prompt()
    session.write("a", b"one")
    session.files(first)
    undone = session.undo()
    assert session.tree()["a"][1] == b"one"
    session.files(undone.uuid)
    assert session.tree() == {}


def test_permission_bits_come_back(session: GoingBack) -> None:
    (session.root / "tool").write_bytes(b"#!/bin/sh\n")
    (session.root / "tool").chmod(0o755)
    first = session.prompt()
    session.write("tool", b"#!/bin/bash\n")
    assert (session.root / "tool").stat().st_mode & 0o777 == 0o755
    session.shell(lambda: (session.root / "tool").chmod(0o600), "chmod 600 tool")
    session.files(first)
    assert session.tree()["tool"] == (0o755, b"#!/bin/sh\n")
    session.undo()
    assert session.tree()["tool"] == (0o600, b"#!/bin/bash\n")


def test_a_command_that_only_changes_bits_is_taken_back_when_chosen(session: GoingBack) -> None:
    (session.root / "tool").write_bytes(b"x")
    (session.root / "tool").chmod(0o644)
    first = session.prompt()
    session.shell(lambda: (session.root / "tool").chmod(0o755), "chmod +x tool")
    assert actions(session, first) == {"tool": "permissions"}
    session.files(first, with_shell=True)
    assert session.tree()["tool"][0] == 0o644


def test_a_link_is_never_written_through(session: GoingBack, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"theirs")
    first = session.prompt()
    session.write("a", b"ours")
    session.write("d/b", b"ours")
    (session.root / "a").unlink()
    (session.root / "a").symlink_to(outside)
    shutil.move(str(session.root / "d"), str(tmp_path / "moved"))
    (session.root / "d").symlink_to(tmp_path / "moved")

    plan = session.plan(first)
    assert [Path(link).name for link in plan.links] == ["a", "b"]
    assert plan.steps == ()
    session.files(first, force=True)
    assert outside.read_bytes() == b"theirs"
    assert (tmp_path / "moved" / "b").read_bytes() == b"ours"
    assert (session.root / "a").is_symlink()


def test_another_name_of_a_file_keeps_its_bytes(session: GoingBack) -> None:
    (session.root / "a").write_bytes(b"before")
    first = session.prompt()
    session.write("a", b"after")
    os.link(session.root / "a", session.root / "other")
    session.files(first)
    assert (session.root / "a").read_bytes() == b"before"
    assert (session.root / "other").read_bytes() == b"after"
    session.undo()
    assert (session.root / "a").read_bytes() == b"after"


def test_a_name_that_is_no_utf8_and_has_a_line_end(session: GoingBack) -> None:
    name = os.fsencode(session.root) + b"/caf\xe9\n.txt"
    Path(os.fsdecode(name)).write_bytes(b"one")
    first = session.prompt()
    session.shell(lambda: Path(os.fsdecode(name)).write_bytes(b"two"))
    session.files(first, with_shell=True)
    assert Path(os.fsdecode(name)).read_bytes() == b"one"
    session.undo()
    assert Path(os.fsdecode(name)).read_bytes() == b"two"


def test_a_case_only_rename_is_taken_back(session: GoingBack) -> None:
    (session.root / "readme.md").write_bytes(b"text")
    first = session.prompt()
    session.shell(lambda: (session.root / "readme.md").rename(session.root / "README.md"), "git mv")
    session.files(first, with_shell=True)
    assert sorted(session.tree()) == ["readme.md"]


def test_a_file_that_became_a_folder_comes_back(session: GoingBack) -> None:
    (session.root / "a").write_bytes(b"a file")
    first = session.prompt()

    def replace() -> None:
        (session.root / "a").unlink()
        (session.root / "a" / "deep").mkdir(parents=True)
        (session.root / "a" / "deep" / "x").write_bytes(b"x")

    session.shell(replace, "mkdir a")
    before = session.tree()
    session.files(first, with_shell=True)
    assert session.tree() == {"a": (0o644, b"a file")}
    session.undo()
    assert session.tree() == before


def test_a_folder_with_somebodys_file_is_never_removed(session: GoingBack) -> None:
    first = session.prompt()
    session.write("a", b"ours")
    (session.root / "a").unlink()
    (session.root / "a").mkdir()
    (session.root / "a" / "theirs").write_bytes(b"theirs")
    session.prompt()
    assert session.plan(first).steps == ()
    session.files(first, force=True)
    assert session.tree() == {"a/theirs": (0o644, b"theirs")}


def test_a_folder_where_a_file_should_be_is_said_and_stays(session: GoingBack) -> None:
    (session.root / "a").write_bytes(b"before")
    first = session.prompt()
    session.write("a", b"after")
    (session.root / "a").unlink()
    (session.root / "a").mkdir()
    (session.root / "a" / "theirs").write_bytes(b"theirs")
    with pytest.raises(RewindError):
        session.files(first, force=True)
    assert session.tree() == {"a/theirs": (0o644, b"theirs")}


def test_a_folder_that_we_made_goes_when_it_is_empty(session: GoingBack) -> None:
    first = session.prompt()
    session.write("made/deep/a", b"a")
    session.write("made/b", b"b")
    (session.root / "made" / "theirs").write_bytes(b"theirs")
    session.files(first)
    assert sorted(session.tree()) == ["made/theirs"]
    assert not (session.root / "made" / "deep").exists()
    session.undo()
    assert sorted(session.tree()) == ["made/b", "made/deep/a", "made/theirs"]


def test_files_have_one_past_whatever_the_branch(session: GoingBack) -> None:
    first = session.prompt()
    session.write("a", b"one")
    second = session.prompt()
    session.write("a", b"two")
    session.run(session.rewinder.rewind(second, "conversation"))
    third = session.prompt()
    session.write("a", b"three")
    session.files(third)
    assert session.tree()["a"][1] == b"two"
    session.files(second)
    assert session.tree()["a"][1] == b"one"
    session.files(first)
    assert session.tree() == {}


def test_a_message_without_a_checkpoint_is_told(session: GoingBack) -> None:
    session.prompt()
    with pytest.raises(RewindError) as told:
        session.plan("11111111-2222-4333-8444-555555555555")
    assert told.value.happened == NOT_FOUND


def test_the_oldest_checkpoints_leave_with_their_bytes(session: GoingBack) -> None:
    first = session.prompt()
    session.write("a", b"0")
    last = first
    for number in range(1, MOST_CHECKPOINTS + 2):
        last = session.prompt()
        session.write("a", str(number).encode())
    assert not session.tracker.history.knows(first)
    kept = session.tracker.history.restorable()
    assert last in kept
    session.prompt()
    assert len(list(session.store.folder.glob("*.zst"))) == MOST_CHECKPOINTS
    with pytest.raises(RewindError):
        session.files(first)
    oldest = next(uuid for uuid, _ in session.tracker.history.points())
    session.files(oldest)
    assert session.tree()["a"][1] == b"1"


def test_a_prompt_without_changes_needs_no_place(session: GoingBack) -> None:
    first = session.prompt()
    session.write("a", b"0")
    for _ in range(MOST_CHECKPOINTS + 20):
        session.prompt()
    session.files(first)
    assert session.tree() == {}


def test_bytes_that_are_gone_are_said_and_nothing_is_half_done(session: GoingBack) -> None:
    (session.root / "a").write_bytes(b"a before")
    (session.root / "b").write_bytes(b"b before")
    first = session.prompt()
    session.write("a", b"a after")
    session.write("b", b"b after")
    gone = hashlib.sha256(b"a before").hexdigest()
    (session.store.folder / f"{gone}.zst").unlink()
    with pytest.raises(RewindError, match="Failed to rewind"):
        session.files(first)
    assert session.tree()["b"][1] == b"b after"


def test_damaged_bytes_are_never_put_in_place(session: GoingBack) -> None:
    (session.root / "a").write_bytes(b"before")
    first = session.prompt()
    session.write("a", b"after")
    blob = session.store.folder / f"{hashlib.sha256(b'before').hexdigest()}.zst"
    blob.write_bytes(blob.read_bytes()[:-1] + b"\0")
    with pytest.raises(RewindError):
        session.files(first)
    assert session.tree()["a"][1] == b"after"
    assert not session.note.exists()
