from __future__ import annotations

import stat
from pathlib import Path

import pytest

from app.errors import StorageError
from app.storage.local import FileLog


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_log_is_private_and_made_on_the_first_append(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b" / "log.jsonl"
    log = FileLog(file)
    assert log.read() == b""
    assert not file.parent.exists()
    log.append([b"one", b"two"])
    log.sync()
    assert log.read() == b"one\ntwo\n"
    assert mode(file) == 0o600
    assert mode(file.parent) == 0o700
    log.close()
    log.close()


def test_a_torn_tail_gets_a_line_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"whole\nto")
    log = FileLog(file)
    log.append([b"new"])
    log.append([b"next"])
    assert log.read() == b"whole\nto\nnew\nnext\n"


def test_two_writers_do_not_cut_each_other(tmp_path: Path) -> None:
    one, two = FileLog(tmp_path / "log"), FileLog(tmp_path / "log")
    for number in range(50):
        (one if number % 2 else two).append([b"%d" % number])
    assert one.read().split() == [b"%d" % number for number in range(50)]


def test_a_file_deleted_under_its_writer_is_made_again_whole(tmp_path: Path) -> None:
    log = FileLog(tmp_path / "log")
    log.append([b"one"])
    log.path.unlink()
    log.append([b"two"])
    assert log.path.read_bytes() == b"one\ntwo\n"
    assert log.path.stat().st_mode & 0o777 == 0o600


def test_a_file_put_in_the_place_of_a_deleted_one_is_kept(tmp_path: Path) -> None:
    log = FileLog(tmp_path / "log")
    log.append([b"one"])
    log.path.unlink()
    log.path.write_bytes(b"other\n")
    log.append([b"two"])
    assert log.path.read_bytes() == b"other\ntwo\n"


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"")
    (tmp_path / "log").symlink_to(target)
    with pytest.raises(StorageError):
        FileLog(tmp_path / "log").append([b"one"])
    assert target.read_bytes() == b""


def test_what_cannot_be_read_or_written_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(StorageError, match="cannot be read"):
        FileLog(folder).read()
    with pytest.raises(StorageError, match="could not be written"):
        FileLog(folder).append([b"one"])
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(StorageError, match="cannot be made"):
        FileLog(file / "log").append([b"one"])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_said() -> None:
    with pytest.raises(StorageError, match="No space left"):
        FileLog(Path("/dev/full")).append([b"one"])
