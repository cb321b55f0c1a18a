from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from app.checkpoints.baseline import Baseline, Entry
from app.checkpoints.blobs import BlobStore
from tests.unit.checkpoints.watched import Project, project


@pytest.fixture
def here(tmp_path: Path) -> Project:
    return project(tmp_path)


def read_files(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of files that are read from now on."""
    read: list[str] = []
    capture = Baseline.capture

    def noted(self: Baseline, path: str) -> Entry:
        read.append(Path(path).name)
        return capture(self, path)

    monkeypatch.setattr(Baseline, "capture", noted)
    return read


def blobs(here: Project) -> set[str]:
    return {file.name for file in here.baseline.glob("*.zst")}


def test_a_later_session_reads_only_what_is_new(
    here: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.write("a.txt", "a")
    here.write("b.txt", "b")
    here.clock.tick()
    here.watch.prepare()
    here.write("b.txt", "new")
    here.clock.tick()
    read = read_files(monkeypatch)
    assert here.another().before() == ""
    assert read == ["b.txt"]


def test_bytes_that_no_file_has_any_more_leave(here: Project) -> None:
    file = here.write("a.txt", "one")
    here.write("b.txt", "b")
    here.watch.prepare()
    file.write_text("two")
    assert len(blobs(here)) == 2
    here.watch.prepare()
    assert len(blobs(here)) == 2
    here.during(file.unlink)
    assert len(blobs(here)) == 1


def test_what_a_killed_process_left_half_leaves(here: Project) -> None:
    here.write("a.txt")
    here.watch.prepare()
    for name in (".0123456789abcdef.tmp", ".tmp-abc"):
        (here.baseline / name).write_bytes(b"half")
    here.watch.prepare()
    assert [file.name for file in here.baseline.iterdir() if "tmp" in file.name] == []


def test_a_blob_that_is_gone_is_put_again(here: Project) -> None:
    file = here.write("a.txt", "a")
    here.clock.tick()
    here.watch.prepare()
    for blob in here.baseline.glob("*.zst"):
        blob.unlink()
    change = here.during(file.unlink)["a.txt"]
    assert here.store.read(change.before.sha256) == b"a"


def test_a_blob_that_a_power_cut_left_empty_is_put_again(here: Project) -> None:
    file = here.write("a.txt", "a")
    here.clock.tick()
    here.watch.prepare()
    for blob in here.baseline.glob("*.zst"):
        os.truncate(blob, 0)
    other = here.another()
    assert other.before() == ""
    file.unlink()
    digest = other.after()[0].before.sha256
    assert BlobStore(here.baseline.parent / "other").read(digest) == b"a"


@pytest.mark.parametrize("content", [b"", b"\x81\xa1a", b"not an index", b"\x81\xc4\x01a\x92\x01"])
def test_a_damaged_index_costs_a_second_reading(here: Project, content: bytes) -> None:
    file = here.write("a.txt", "a")
    here.watch.prepare()
    (here.baseline / "index").write_bytes(content)
    assert here.store.read(here.during(file.unlink)["a.txt"].before.sha256) == b"a"


def test_the_baseline_is_private(here: Project) -> None:
    here.write("a.txt")
    here.watch.prepare()
    assert stat.S_IMODE(here.baseline.stat().st_mode) == 0o700
    modes = {stat.S_IMODE(file.stat().st_mode) for file in here.baseline.iterdir()}
    assert modes == {0o600}


def test_a_file_written_while_it_is_read_is_not_trusted(
    here: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = here.write("a.txt", "0")
    baseline = Baseline(here.baseline, here.clock)
    put = BlobStore.put

    def meanwhile(self: BlobStore, data: bytes) -> str:
        with file.open("a") as out:
            out.write("+")
        return put(self, data)

    monkeypatch.setattr(BlobStore, "put", meanwhile)
    entry = baseline.capture(str(file))
    assert entry.stamp[2] == -1
    assert baseline._blobs.read(entry.state.sha256) == b"0++"
    assert entry.state.size == 3


def test_a_file_that_goes_between_list_and_reading_is_absent(here: Project) -> None:
    here.write("a.txt")
    here.watch._list_files = lambda _root: [b"a.txt", b"gone.txt"]
    assert here.during(lambda: None) == {}


def test_another_session_does_not_remove_what_a_command_may_need(here: Project) -> None:
    file = here.write("a.txt", "one")
    here.start()
    file.write_text("two")
    other = here.another()
    other.prepare()
    assert other.before() == ""
    file.write_text("three")
    (second,) = other.after()
    first = here.changes()["a.txt"]
    assert here.store.read(first.before.sha256) == b"one"
    assert BlobStore(here.baseline.parent / "other").read(second.before.sha256) == b"two"
    here.watch.prepare()
    assert len(blobs(here)) == 1


def test_a_session_notes_that_another_one_removed_bytes(here: Project) -> None:
    file = here.write("sub/a.txt", "a")
    here.start()
    here.changes()
    (here.root / "sub").rename(here.root.parent / "away")
    here.another().prepare()
    assert blobs(here) == set()
    (here.root.parent / "away").rename(here.root / "sub")
    change = here.during(file.unlink)["sub/a.txt"]
    assert here.store.read(change.before.sha256) == b"a"


def test_a_file_system_without_locks_keeps_old_bytes(
    here: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("fcntl.flock", refuse)
    file = here.write("a.txt", "one")
    change = here.during(lambda: file.write_text("two"))["a.txt"]
    assert here.store.read(change.before.sha256) == b"one"
    assert len(blobs(here)) == 2


def test_a_lock_that_cannot_be_made_is_said(here: Project) -> None:
    here.baseline.mkdir(parents=True)
    (here.baseline / "lock").symlink_to(here.root)
    assert here.watch.before().startswith("The shell's changes are not tracked now. ")


def test_a_session_may_be_used_from_any_thread(here: Project) -> None:
    file = here.write("a.txt")
    told: list[str] = []
    thread = threading.Thread(target=lambda: told.append(here.watch.before()))
    thread.start()
    thread.join()
    file.unlink()
    assert (told, list(here.changes())) == ([""], ["a.txt"])


WORKER = """
import os, signal, sys
from pathlib import Path
from app.checkpoints.blobs import BlobStore
from app.checkpoints.watch import FolderWatch
from tests.unit.checkpoints.watched import LISTED

root, baseline, name, deadly = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
store = BlobStore(baseline.parent / name)
steps = 0

def dying(function):
    def counted(*arguments, **options):
        global steps
        steps += 1
        if steps == deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **options)
    return counted

if deadly:
    for each in ("replace", "unlink", "open", "link", "fsync"):
        setattr(os, each, dying(getattr(os, each)))
    Path.replace, Path.unlink = dying(Path.replace), dying(Path.unlink)
watch = FolderWatch(root, baseline, store, LISTED)
for number in range(3 if deadly else 12):
    assert watch.before() == ""
    file = root / f"{name}.txt"
    old = file.read_bytes()
    file.write_text(f"{name} {number}")
    mine = [each for each in watch.after() if each.path == str(file)]
    assert [store.read(each.before.sha256) for each in mine] == [old]
    assert [store.read(each.left.sha256) for each in mine] == [file.read_bytes()]
"""


def worker(here: Project, name: str, deadly: int = 0) -> subprocess.Popen[bytes]:
    words = (str(here.root), str(here.baseline), name, str(deadly))
    return subprocess.Popen([sys.executable, "-c", WORKER, *words], stderr=subprocess.PIPE)


def test_two_processes_share_a_baseline(here: Project) -> None:
    for name in ("one", "two"):
        here.write(f"{name}.txt", "first")
    running = [worker(here, name) for name in ("one", "two")]
    for process in running:
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, b"")


def test_a_process_killed_anywhere_leaves_a_baseline_that_serves(here: Project) -> None:
    killed = 0
    for deadly in (*range(1, 30, 3), *range(30, 150, 17)):
        file = here.write("one.txt", "first")
        other = here.write(f"{deadly}.txt", f"other {deadly}")
        process = worker(here, "one", deadly)
        _, errors = process.communicate(timeout=60)
        killed += process.returncode == -signal.SIGKILL
        assert process.returncode in {0, -signal.SIGKILL}, errors
        content = file.read_bytes()
        here.start()
        file.unlink()
        other.write_text("new")
        changes = here.changes()
        assert here.store.read(changes["one.txt"].before.sha256) == content
        assert here.store.read(changes[other.name].before.sha256) == b"other %d" % deadly
    assert killed > 8
    here.watch.prepare()
    assert [file.name for file in here.baseline.iterdir() if "tmp" in file.name] == []
