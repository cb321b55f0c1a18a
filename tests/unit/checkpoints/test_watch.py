from __future__ import annotations

import os
import socket
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.checkpoints import look
from app.checkpoints.blobs import BlobStore
from app.checkpoints.states import FileState
from app.checkpoints.watch import FolderWatch
from app.errors import StorageError
from tests.unit.checkpoints.watched import LISTED, Project, project


@pytest.fixture
def here(tmp_path: Path) -> Project:
    return project(tmp_path)


def test_a_command_that_changes_nothing_is_said_to_change_nothing(here: Project) -> None:
    here.write("a.txt")
    assert here.during(lambda: None) == {}


def test_a_file_made_is_told_with_its_bytes(here: Project) -> None:
    change = here.during(lambda: here.write("sub/new.txt", "made"))["sub/new.txt"]
    assert change.path == str(here.root / "sub/new.txt")
    assert (change.before.kind, change.left.size) == ("absent", 4)
    assert here.store.read(change.left.sha256) == b"made"


def test_a_file_removed_can_be_read_from_the_store(here: Project) -> None:
    file = here.write("a.txt", "precious")
    change = here.during(file.unlink)["a.txt"]
    assert change.left.kind == "absent"
    assert here.store.read(change.before.sha256) == b"precious"


@pytest.mark.parametrize("new", [b"old\nmore\n", b"", b"new\n", b"\xff\x00"])
def test_a_file_written_in_place_is_told_with_both_states(here: Project, new: bytes) -> None:
    file = here.write("a.txt", "old\n")
    change = here.during(lambda: file.write_bytes(new))["a.txt"]
    assert here.store.read(change.before.sha256) == b"old\n"
    assert here.store.read(change.left.sha256) == new


def test_a_file_of_several_megabytes_is_kept_whole(here: Project) -> None:
    old = os.urandom(3_000_000)
    file = here.write("big.bin", old)
    change = here.during(lambda: file.write_bytes(old[::-1]))["big.bin"]
    assert here.store.read(change.before.sha256) == old
    assert here.store.read(change.left.sha256) == old[::-1]


def test_a_file_replaced_by_one_of_the_same_size_and_time_is_told(here: Project) -> None:
    file = here.write("a.txt", "one")
    times = file.stat()

    def replace() -> None:
        new = here.write("b.txt", "two")
        os.utime(new, ns=(times.st_atime_ns, times.st_mtime_ns))
        new.rename(file)

    assert list(here.during(replace)) == ["a.txt"]


def test_same_size_and_time_in_place_is_told(here: Project) -> None:
    file = here.write("a.txt", "one")
    times = file.stat()

    def overwrite() -> None:
        file.write_text("two")
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))

    assert list(here.during(overwrite)) == ["a.txt"]


def test_a_file_written_right_before_the_look_is_read_again(here: Project) -> None:
    file = here.write("a.txt", "one")
    here.clock.now = file.stat().st_ctime_ns + 1
    assert here.watch.before() == ""
    stat = os.lstat
    state = file.stat()
    file.write_text("two")

    def blind(path: bytes) -> os.stat_result:
        return state if path.endswith(b"a.txt") else stat(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "lstat", blind)
        assert list(here.changes()) == ["a.txt"]


def test_touching_a_file_is_no_change(here: Project) -> None:
    file = here.write("a.txt")
    assert here.during(file.touch) == {}
    assert not here.store.folder.exists()


def test_permission_bits_alone_are_a_change(here: Project) -> None:
    file = here.write("run.sh")
    file.chmod(0o644)
    change = here.during(lambda: file.chmod(0o755))["run.sh"]
    assert (change.before.mode, change.left.mode) == (0o644, 0o755)
    assert change.before.sha256 == change.left.sha256


def test_a_rename_is_a_removal_and_a_creation(here: Project) -> None:
    file = here.write("a.txt")
    kinds = here.kinds(lambda: file.rename(here.root / "A.txt"))
    assert kinds == {"a.txt": ("file", "absent"), "A.txt": ("absent", "file")}


def test_a_renamed_folder_takes_its_old_files_along(here: Project) -> None:
    here.write("old/a.txt")
    here.write("old/sub/b.txt")
    kinds = here.kinds(lambda: (here.root / "old").rename(here.root / "new"))
    assert kinds == {
        "old/a.txt": ("file", "absent"),
        "old/sub/b.txt": ("file", "absent"),
        "new/a.txt": ("absent", "file"),
        "new/sub/b.txt": ("absent", "file"),
    }


def test_a_folder_moved_and_made_again_is_told_in_both_places(here: Project) -> None:
    here.write("old/a.txt", "moved")

    def move() -> None:
        (here.root / "old").rename(here.root / "new")
        here.write("old/a.txt", "made")

    kinds = here.kinds(move)
    assert kinds == {"old/a.txt": ("file", "file"), "new/a.txt": ("absent", "file")}


def test_a_rename_of_case_only_is_told_where_case_does_not_count(here: Project) -> None:
    file = here.write("Name.txt")
    here.start()
    os.link(file, here.root / "name.txt")  # both names find the file, as on such a file system
    here.watch._list_files = lambda _root: [b"name.txt"]
    changes = here.changes()
    assert changes["Name.txt"].left.kind == "absent"
    assert changes["name.txt"].before.kind == "absent"


def test_a_folder_in_a_files_place_and_back(here: Project) -> None:
    file = here.write("a", "text")

    def to_folder() -> None:
        file.unlink()
        here.write("a/b", "inner")

    def to_file() -> None:
        (here.root / "a/b").unlink()
        file.rmdir()
        here.write("a", "text")

    assert here.kinds(to_folder) == {"a": ("file", "folder"), "a/b": ("absent", "file")}
    assert here.kinds(to_file) == {"a": ("folder", "file"), "a/b": ("file", "beneath")}


def test_a_link_in_a_files_place_and_back_is_told_and_not_followed(here: Project) -> None:
    file = here.write("a.txt", "text")
    secret = here.root.parent / "secret"
    secret.write_text("secret")

    def to_link() -> None:
        file.unlink()
        file.symlink_to(secret)

    def to_file() -> None:
        file.unlink()
        file.write_text("text")

    first = here.during(to_link)["a.txt"]
    assert (first.before.kind, first.left) == ("file", FileState("link"))
    assert here.kinds(lambda: None) == {}
    assert here.kinds(to_file) == {"a.txt": ("link", "file")}


def test_a_file_behind_a_link_in_its_folders_place_is_not_read(here: Project) -> None:
    here.write("sub/a.txt")
    folder = here.root / "sub"

    def move_away() -> None:
        folder.rename(here.root.parent / "away")
        folder.symlink_to(here.root.parent / "away")

    assert here.kinds(move_away) == {"sub/a.txt": ("file", "link")}


def test_a_hard_link_is_one_more_file(here: Project) -> None:
    file = here.write("a.txt")
    assert here.kinds(lambda: os.link(file, here.root / "b.txt")) == {"b.txt": ("absent", "file")}


def test_writing_through_one_hard_link_changes_the_other(here: Project) -> None:
    file = here.write("a.txt")
    os.link(file, here.root / "b.txt")
    assert set(here.during(lambda: file.write_text("new"))) == {"a.txt", "b.txt"}


def test_a_pipe_or_socket_in_a_files_place_is_not_opened(here: Project) -> None:
    file, other = here.write("a.txt"), here.write("b.txt")

    def replace() -> None:
        file.unlink()
        os.mkfifo(file)
        os.mkfifo(here.root / "new-pipe")
        other.unlink()
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(os.path.relpath(other))

    assert here.kinds(replace) == {"a.txt": ("file", "other"), "b.txt": ("file", "other")}


def test_an_unreadable_file_is_no_change_as_long_as_it_stays_so(
    here: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.write("a.txt")
    really, shut = os.open, {"a.txt"}

    def guarded(path: str, flags: int, *rest: int, dir_fd: int | None = None) -> int:
        if path in shut:
            raise PermissionError(13, "Permission denied")
        return really(path, flags, *rest, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", guarded)
    assert here.during(lambda: None) == {}
    assert here.kinds(shut.clear) == {"a.txt": ("other", "file")}


def test_names_may_hold_any_bytes(here: Project) -> None:
    names = [b"\xff\xfe.txt", b"two\nlines", "\u00fc \U0001f600".encode(), b"-rf", b" "]

    def make() -> None:
        for name in names:
            Path(os.fsdecode(os.fsencode(here.root) + b"/" + name)).write_bytes(name)

    changes = here.during(make)
    assert {os.fsencode(name) for name in changes} == set(names)
    assert all(here.store.read(c.left.sha256) == os.fsencode(n) for n, c in changes.items())


def test_a_file_that_becomes_ignored_is_not_taken_for_removed(here: Project) -> None:
    here.write("out.log")
    assert here.kinds(lambda: here.write(".gitignore", "*.log\n")) == {
        ".gitignore": ("absent", "file")
    }


def test_a_file_ignored_and_changed_by_one_command_is_told(here: Project) -> None:
    file = here.write("out.log")

    def both() -> None:
        here.write(".gitignore", "*.log\n")
        file.write_text("new")

    assert here.kinds(both)["out.log"] == ("file", "file")


def test_ignored_files_are_not_watched(here: Project) -> None:
    here.write(".gitignore", "*.log\n")
    file = here.write("out.log")
    assert here.during(lambda: file.write_text("new")) == {}


def test_a_file_that_is_ignored_no_longer_is_not_taken_for_created(here: Project) -> None:
    rules = here.write(".gitignore", "*.log\nbuilt\n")
    here.write("out.log")
    here.write("built/a")
    assert here.kinds(lambda: rules.write_text("")) == {".gitignore": ("file", "file")}


def test_what_was_at_a_path_that_was_ignored_is_not_claimed(here: Project) -> None:
    rules = here.write(".gitignore", "*.log\n")
    file = here.write("out.log")

    def both() -> None:
        rules.write_text("")
        file.write_text("new")
        here.write("new.txt")

    kinds = here.kinds(both)
    assert kinds["out.log"] == kinds["new.txt"] == ("other", "file")


def test_ignored_files_in_a_folder_that_was_written_to_are_not_claimed(here: Project) -> None:
    rules = here.write(".gitignore", "built/*\n")
    here.write("built/old")

    def both() -> None:
        rules.unlink()
        here.write("built/new")

    kinds = here.kinds(both)
    assert kinds["built/old"] == kinds["built/new"] == ("other", "file")


def test_what_a_removed_repository_ignored_is_not_claimed(here: Project) -> None:
    here.write(".gitignore", "*.log\n")
    file = here.write("out.log")

    def both() -> None:
        (here.root / ".git").rmdir()
        file.write_text("new")

    assert here.kinds(both) == {"out.log": ("other", "file")}


def test_rules_that_changed_elsewhere_show_by_an_old_file_that_appears(here: Project) -> None:
    rules = here.write(".git/info/exclude", "*.log\n")
    here.write("untouched.log")
    file = here.write("out.log")

    def both() -> None:
        rules.unlink()
        file.write_text("new")

    assert here.kinds(both) == {"out.log": ("other", "file")}


def test_nested_repositories_are_watched_and_their_git_folders_are_not(here: Project) -> None:
    here.write("nested/.git/HEAD", "ref: refs/heads/main\n")
    here.write("module/.git", "gitdir: ../.git/modules/module\n")

    def write() -> None:
        here.write("nested/a.txt")
        here.write("nested/.git/HEAD", "ref: refs/heads/other\n")
        here.write("module/a.txt")
        here.write("module/.git", "gitdir: elsewhere\n")
        here.write(".git/index", "x")

    assert set(here.during(write)) == {"nested/a.txt", "module/a.txt"}


def test_a_removed_project_is_told_file_by_file(here: Project) -> None:
    here.write("sub/a.txt", "precious")

    def remove() -> None:
        (here.root / "sub/a.txt").unlink()
        (here.root / "sub").rmdir()
        (here.root / ".git").rmdir()
        here.root.rmdir()

    change = here.during(remove)["sub/a.txt"]
    assert change.left.kind == "absent"
    assert here.store.read(change.before.sha256) == b"precious"
    assert here.watch.gap
    assert here.watch.before() == (
        "The shell's changes are not tracked here: its files cannot be listed."
    )
    assert here.watch.after() == ()


def test_our_own_data_in_the_project_is_not_watched(tmp_path: Path) -> None:
    own = tmp_path / ".reverie"
    session = own / "projects/slug/session.jsonl"
    baseline = own / "projects/slug/baseline"
    store = BlobStore(own / "projects/slug/session")
    watch = FolderWatch(tmp_path, baseline, store, LISTED)
    (tmp_path / "a.txt").write_text("a")
    assert watch.before() == ""
    session.write_text("{}\n")
    (own / "log").write_text("x")
    (tmp_path / "b.txt").write_text("b")
    assert [each.path for each in watch.after()] == [str(tmp_path / "b.txt")]


def test_the_root_is_told_by_its_real_path(here: Project, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(here.root)
    watch = FolderWatch(link, here.baseline, here.store, LISTED)
    assert watch.before() == ""
    here.write("a.txt")
    assert [each.path for each in watch.after()] == [str(here.root.resolve() / "a.txt")]


def blobs(here: Project) -> int:
    return len(list(here.baseline.glob("*.zst")))


def test_too_many_files_are_said_and_nothing_is_kept(
    here: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert look.MOST_FILES == 20_000
    monkeypatch.setattr(look, "MOST_FILES", 2)
    for number in range(3):
        here.write(f"{number}.txt")
    assert here.watch.before() == "The shell's changes are not tracked here: more than 2 files."
    assert here.watch.after() == ()
    assert blobs(here) == 0


def test_the_bound_of_files_is_written_for_people(here: Project) -> None:
    here.watch._list_files = lambda _root: [b"%d" % number for number in range(20_001)]
    assert here.watch.before() == (
        "The shell's changes are not tracked here: more than 20 000 files."
    )


def test_too_many_bytes_are_said_and_nothing_is_kept(here: Project) -> None:
    for name in "ab":
        with here.write(name).open("r+b") as file:
            file.truncate(100_000_001)
    assert here.watch.before() == (
        "The shell's changes are not tracked here: more than 200 MB of files."
    )
    assert blobs(here) == 0


def test_a_command_that_makes_too_many_files_still_has_its_other_changes_told(
    here: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look, "MOST_FILES", 2)
    file, other = here.write("a.txt"), here.write("b.txt")

    def many() -> None:
        file.write_text("new")
        other.unlink()
        for number in range(5):
            here.write(f"{number}.txt")

    assert here.kinds(many) == {"a.txt": ("file", "file"), "b.txt": ("file", "absent")}
    assert (
        here.watch.gap == "Files that the command made are not tracked: they cannot all be listed."
    )


def test_what_is_too_large_to_keep_is_told_as_not_kept(here: Project) -> None:
    file = here.write("a.txt", "old")

    def grow() -> None:
        with file.open("r+b") as grown:
            grown.truncate(200_000_001)

    change = here.during(grow)["a.txt"]
    assert here.store.read(change.before.sha256) == b"old"
    assert change.left == FileState("other")
    assert here.watch.gap == "Not all that the command wrote is kept: more than 200 MB."


def test_a_full_disk_is_said_and_the_command_can_run(
    here: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.write("a.txt")
    monkeypatch.setattr("shutil.disk_usage", lambda _path: SimpleNamespace(free=3))
    assert here.watch.before() == (
        "The shell's changes are not tracked here: the disk is too full for a copy of its files."
    )
    assert here.watch.after() == ()


def fails(*_arguments: object) -> str:
    raise StorageError("A file's bytes could not be kept: no space left.")


def test_a_disk_that_fills_up_meanwhile_is_said_and_left_as_it_was(
    here: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.write("a.txt", "a")
    here.start()
    here.changes()
    here.write("b.txt", "b")
    here.write("c.txt", "c")
    put = BlobStore.put
    monkeypatch.setattr(BlobStore, "put", lambda s, d: fails() if d == b"c" else put(s, d))
    assert here.watch.before() == (
        "The shell's changes are not tracked now. A file's bytes could not be kept: no space left."
    )
    assert blobs(here) == 1
    monkeypatch.undo()
    assert here.during(lambda: here.write("b.txt", "new"))["b.txt"].before.kind == "file"


def test_what_cannot_be_kept_after_a_command_is_told_as_such(
    here: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = here.write("a.txt", "old")
    here.start()
    file.write_text("new")
    monkeypatch.setattr(BlobStore, "put", fails)
    change = here.changes()["a.txt"]
    assert here.store.read(change.before.sha256) == b"old"
    assert change.left.kind == "other"
    assert "no space left" in here.watch.gap


def test_a_session_store_that_cannot_be_written_is_said(here: Project) -> None:
    file = here.write("a.txt", "old")
    here.store.folder.parent.mkdir(parents=True)
    here.store.folder.write_text("in the way")
    assert here.kinds(file.unlink) == {"a.txt": ("file", "absent")}
    assert here.watch.gap.startswith("What the command changed is not all kept. ")


def test_a_second_before_starts_anew(here: Project) -> None:
    file = here.write("a.txt", "one")
    here.start()
    file.write_text("two")
    change = here.during(lambda: file.write_text("three"))["a.txt"]
    assert here.store.read(change.before.sha256) == b"two"
    assert here.watch.after() == ()


def test_preparing_does_not_disturb_a_command(here: Project) -> None:
    file = here.write("a.txt", "one")
    here.start()
    file.write_text("two")
    here.watch.prepare()
    assert here.store.read(here.changes()["a.txt"].before.sha256) == b"one"
