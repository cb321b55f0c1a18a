from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.errors import StorageError
from app.paths import find_places, make_private_folder, project_slug, working_folder, write_private


def test_b11_no_two_folders_share_a_slug(tmp_path: Path) -> None:
    names = ["a-b", "a_b", "a.b", "a b", "ab", "プロジェクト", "данные", "a/b", "a/-b", "x" * 200]
    slugs = {project_slug(tmp_path / name) for name in names}
    assert len(slugs) == len(names)
    for slug in slugs:
        assert re.fullmatch(r"[A-Za-z0-9-]{1,100}-[0-9a-f]{8}", slug)


def test_a_link_and_its_target_are_one_project(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert project_slug(tmp_path / "link") == project_slug(tmp_path / "real")


def test_the_environment_moves_the_folders(tmp_path: Path) -> None:
    places = find_places({"REVERIE_CONFIG_DIR": "/c", "REVERIE_DATA_DIR": "/d"})
    assert (places.settings, places.credentials) == (
        Path("/c/settings.toml"),
        Path("/c/credentials"),
    )
    assert places.logs == Path("/d/logs")
    assert places.transcript(tmp_path, "x") == places.projects / project_slug(tmp_path) / "x.jsonl"
    assert find_places({}).config.name == "reverie"


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "new" / "file"
    write_private(file, b"one")
    write_private(file, b"two")
    assert file.read_bytes() == b"two"
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert list(file.parent.iterdir()) == [file]


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = tmp_path / "file"
    folder.mkdir()
    with pytest.raises(StorageError):
        write_private(folder, b"x")
    assert list(tmp_path.iterdir()) == [folder]


def test_a_deleted_working_folder_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert working_folder() == folder
    folder.rmdir()
    assert working_folder() is None
    monkeypatch.chdir(tmp_path)


def test_every_folder_that_is_made_is_private(tmp_path: Path) -> None:
    make_private_folder(tmp_path / "a" / "b" / "c")
    for name in ("a", "a/b", "a/b/c"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o700
