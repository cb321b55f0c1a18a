from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.errors import StorageError
from app.paths import create_private


def test_a_new_file_has_everything_and_is_private(tmp_path: Path) -> None:
    create_private(tmp_path / "a", b"all")
    assert (tmp_path / "a").read_bytes() == b"all"
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("links", [True, False])
def test_nothing_that_is_there_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, links: bool
) -> None:
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    (tmp_path / "a").write_bytes(b"mine")
    (tmp_path / "b").symlink_to(tmp_path / "nowhere")
    for name in ("a", "b"):
        with pytest.raises(FileExistsError):
            create_private(tmp_path / name, b"other")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a", "b"]
    assert (tmp_path / "a").read_bytes() == b"mine"
    create_private(tmp_path / "c", b"new")
    assert (tmp_path / "c").read_bytes() == b"new"


def no_links(*_: object, **__: object) -> None:
    raise PermissionError(1, "Operation not permitted")


def test_on_a_full_disk_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match=r"No space left on device\. Nothing was left"):
        create_private(tmp_path / "a", b"all")
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_too_long_is_told(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="could not be written"):
        create_private(tmp_path / ("x" * 300), b"all")
    assert list(tmp_path.iterdir()) == []
